import { dirname } from 'node:path';
import { readBounded } from '../../kernel/bounded-file.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { quoted, shell } from '../../kernel/shell-word.ts';
import { rowOf } from './read.ts';
import { CLUSTER_OUTSIDE, isKept, KEPT_NAMES, type KeptName } from './table.ts';

/** Settings by name, each in its canonical form. */
export type SettingValues = Partial<Record<KeptName, string>>;

/** The user's settings: the profile in use, limits for every profile, and the profiles. */
export interface UserSettings {
  readonly path: string;
  readonly profile: string | null;
  readonly limits: SettingValues;
  readonly profiles: Readonly<Record<string, SettingValues>>;
}

export const wrongSetting = (path: string, key: string, why: string): Problem =>
  problem('settings_invalid', { message: `${path}: ${key} ${why}.`, detail: { file: path, key } });

/** A name is typed, and used in file names. `environment` is the profile of addresses in the environment. */
export const isProfileName = (name: string): boolean =>
  /^[a-z0-9][a-z0-9_-]{0,39}$/i.test(name) && name !== 'environment';

/** The keys of a profile, beside its limits. */
const PROFILE_NAMES = KEPT_NAMES.filter((name) => !name.includes('.'));

/** Settings that `local` can't have. */
export const OUTSIDE: readonly KeptName[] = ['flights_url', 'cluster', ...CLUSTER_OUTSIDE];

/**
 * Reads an existing settings file.
 * @throws Problem `settings_invalid` naming a file that is not JSON, or that others can write to point the tool
 *   elsewhere
 */
export function readJsonFile(path: string, private_: boolean): Record<string, unknown> {
  const bytes = readBounded(path, {
    mostBytes: MOST_BYTES,
    isRegular: true,
    check(stat) {
      if (private_ && process.platform !== 'win32' && (Number(stat.mode) & 0o022) !== 0) {
        throw problem('settings_invalid', {
          message: `Others can write ${path}.`,
          fix: `Run: chmod 600 ${quoted(path)}`,
          next: [shell`chmod 600 ${path}`],
          detail: { file: path },
        });
      }
    },
  });
  if (!bytes) throw wrongSetting(path, 'the file', 'is too large, or no regular file');
  return object(path, 'the file', parsed(path, bytes.toString('utf8')));
}

const MOST_BYTES = 262_144;

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not the parser's message, which quotes the file.
    throw wrongSetting(path, 'the file', 'is not JSON');
  }
}

/** @throws Problem `settings_invalid` naming file and key */
export function readUserSettings(path: string): UserSettings {
  const file = readJsonFile(path, true);
  known(path, '', file, ['profile', 'limits', 'profiles']);
  const profiles = object(path, 'profiles', file.profiles ?? {});
  return {
    path,
    profile: profileName(path, 'profile', file.profile),
    limits: readLimits(path, 'limits', file.limits),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, value]) => {
        // `environment` keeps what a person agreed to while the addresses came from the environment.
        if (!isProfileName(name) && name !== 'environment')
          throw wrongSetting(path, `profiles.${name}`, 'is not a profile name');
        const settings = readProfileSettings(path, `profiles.${name}`, value);
        const outside = OUTSIDE.find((key) => name === 'local' && settings[key] !== undefined);
        if (outside) throw wrongSetting(path, `profiles.local.${outside}`, 'cannot be set: local is embedded');
        return [name, settings];
      }),
    ),
  };
}

/** Reads the settings of one profile, or of a cluster with a file of its own. */
export function readProfileSettings(path: string, at: string, value: unknown): SettingValues {
  const { limits, ...rest } = object(path, at, value);
  known(path, `${at}.`, rest, [...PROFILE_NAMES, 'limits']);
  const settings: SettingValues = readLimits(path, `${at}.limits`, limits);
  for (const [name, text] of Object.entries(rest)) {
    if (isKept(name) && text !== null) settings[name] = readValue(path, `${at}.${name}`, name, text);
  }
  if (settings.rpc_url !== undefined && settings.cluster !== undefined) {
    throw wrongSetting(path, `${at}.cluster`, 'cannot be combined with rpc_url');
  }
  return settings;
}

/** Reads `limits`: amounts as decimal text, hosts as a list. */
function readLimits(path: string, at: string, value: unknown): SettingValues {
  if (value === undefined || value === null) return {};
  const limits = object(path, at, value);
  known(path, `${at}.`, limits, ['per_call', 'per_day', 'booking', 'hosts']);
  const settings: SettingValues = {};
  for (const [key, given] of Object.entries(limits)) {
    const name = `limits.${key}`;
    if (isKept(name) && given !== null) settings[name] = readValue(path, `${at}.${key}`, name, given);
  }
  return settings;
}

function readValue(path: string, at: string, name: KeptName, value: unknown): string {
  const { read } = rowOf(name);
  const text = Array.isArray(value) && read.isList ? value.join(',') : value;
  if (typeof text !== 'string') throw wrongSetting(path, at, 'must be a string');
  const found = read(text, dirname(path));
  if (found === undefined) throw wrongSetting(path, at, `is not ${read.wanted}`);
  return String(found);
}

function profileName(path: string, key: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && isProfileName(value)) return value;
  throw wrongSetting(path, key, 'is not the name of a profile');
}

function known(path: string, at: string, given: object, names: readonly string[]): void {
  const strange = Object.keys(given).find((name) => !names.includes(name));
  if (strange !== undefined) {
    throw problem('settings_invalid', {
      message: `${path}: ${at}${strange} is not a setting.`,
      fix: `The settings are ${names.join(', ')}.`,
      detail: { file: path, key: `${at}${strange}` },
    });
  }
}

function object(path: string, at: string, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw wrongSetting(path, at, 'is not an object');
}

/** Settings of a project: which of the user's profiles to use, and limits lower than the user's. */
export interface ProjectSettings {
  readonly path: string;
  readonly profile: string | null;
  readonly limits: SettingValues;
}

/**
 * Reads a project file. It comes with a repository, so its author is not trusted: a keypair, an address or a key file
 * in it is refused rather than ignored, and its limits can only lower those of the user (resolve.ts).
 * @throws Problem `settings_invalid` naming file and key
 */
export function readProjectSettings(path: string): ProjectSettings {
  const file = readJsonFile(path, false);
  const forbidden = Object.keys(file).find((key) => FORBIDDEN.includes(key));
  if (forbidden !== undefined) {
    throw problem('settings_invalid', {
      message: `${path} sets ${forbidden}, which a project file is not allowed to set.`,
      fix: 'It may choose a profile and lower limits. Set FARELOCK_PROJECT_FILE=off to ignore it.',
      detail: { file: path, key: forbidden },
    });
  }
  known(path, '', file, ['profile', 'limits']);
  return { path, profile: profileName(path, 'profile', file.profile), limits: readLimits(path, 'limits', file.limits) };
}

const FORBIDDEN: readonly string[] = ['profiles', ...PROFILE_NAMES, 'api_key', 'customer_token', 'operator_key'];
