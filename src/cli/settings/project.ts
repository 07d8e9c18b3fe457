import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { problem } from '../../kernel/problems.ts';
import { known, profileName, readJsonFile, readLimits, type SettingValues } from './file.ts';
import type { Environment } from './globals.ts';

const PROJECT_FILE = '.farelock.json';

/**
 * The nearest project file from `folder` upward, or null. `FARELOCK_PROJECT_FILE=off` looks for none. Only one of
 * the user's own (or root's) counts: in a shared folder anybody could have put it there.
 */
export function projectFileFrom(folder: string, environment: Environment): string | null {
  if (environment.FARELOCK_PROJECT_FILE === 'off') return null;
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, PROJECT_FILE);
    if (existsSync(path) && isOurs(path)) return path;
    if (dirname(at) === at) return null;
  }
}

function isOurs(path: string): boolean {
  const owner = statSync(path).uid;
  return process.getuid === undefined || owner === process.getuid() || owner === 0;
}

/** Settings that a project may have: which of the user's profiles, and limits that are lower than the user's. */
export interface ProjectSettings {
  readonly path: string;
  readonly profile: string | null;
  readonly limits: SettingValues;
}

/**
 * A project file comes with a repository: whoever wrote it is not trusted. It can't name a keypair, an address, a
 * key file or a host, and it can't raise a limit; it is refused rather than ignored when it tries.
 * @throws Problem `settings_invalid` naming file and key
 */
export function readProjectSettings(path: string): ProjectSettings {
  const file = readJsonFile(path, false);
  const forbidden = Object.keys(file).find((key) => FORBIDDEN.has(key));
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

const FORBIDDEN = new Set([
  'profiles',
  'flights_url',
  'partner_url',
  'http_hosts',
  'rpc_url',
  'cluster',
  'keypair',
  'api_key',
  'api_key_file',
  'customer_token',
  'customer_token_file',
  'operator_key',
  'operator_key_file',
]);
