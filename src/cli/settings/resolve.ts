import { join } from 'node:path';
import { parseUsdc } from '../../kernel/money.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { settingsOfMoniker } from '../../solana/index.ts';
import { clusterFrom } from './cluster.ts';
import {
  OUTSIDE,
  type ProjectSettings,
  readProjectSettings,
  readUserSettings,
  type SettingValues,
  type UserSettings,
} from './file.ts';
import type { Environment, GlobalOptions, Profile } from './profile.ts';
import { givenTo, readSetting } from './read.ts';
import { SOLANA_CONFIG } from './readers.ts';
import { CLUSTER_OUTSIDE, KEPT_NAMES, type KeptName, SETTINGS } from './table.ts';

/** The sources of a value; the first one that has it wins, in this order. */
type Origin = 'flag' | 'environment' | 'project' | 'user' | 'solana' | 'default';

interface Resolved {
  readonly value: string;
  readonly origin: Origin;
  /** The flag, the variable, or the file and the key in it. */
  readonly source: string;
}

export interface Settings {
  readonly profile: Resolved;
  /** True if the flight service is the embedded one. */
  readonly isEmbedded: boolean;
  readonly values: ReadonlyMap<KeptName, Resolved>;
  readonly commitment: 'confirmed' | 'finalized';
  /** Notes to show, such as the project file that chose the profile. */
  readonly notes: readonly string[];
}

interface SettingsGiven {
  readonly environment: Environment;
  readonly globals: GlobalOptions;
  readonly home: string;
  /** The settings files that exist. */
  readonly userFile: string | null;
  readonly projectFile: string | null;
}

/** A key goes only to the address that was set with it. */
const KEYS_OF = { flights_url: ['operator_key_file'], partner_url: ['api_key_file', 'customer_token_file'] } as const;

/**
 * Combines flags, environment, project file and user file, in that order.
 * @throws Problem `usage`, `settings_invalid` naming the file and the key
 */
export async function resolveSettings(given: SettingsGiven): Promise<Settings> {
  const { environment } = given;
  const user = given.userFile === null ? null : readUserSettings(given.userFile);
  const project = given.projectFile === null ? null : readProjectSettings(given.projectFile);
  const profile = profileIn(given, user, project);
  const own = ownSettings(profile, given.home, user);
  const isLocal = profile.value === 'local';
  const notes = profile.origin === 'project' ? [`Profile ${profile.value}, chosen by ${project?.path ?? ''}.`] : [];
  const values = new Map<KeptName, Resolved>();

  const set = (name: KeptName, value: string | undefined, origin: Origin, source: string) => {
    if (value !== undefined && !values.has(name)) values.set(name, { value, origin, source });
  };
  const { keypair } = given.globals;
  if (keypair !== undefined) set('keypair', readSetting('keypair', keypair, '--keypair'), 'flag', '--keypair');
  for (const name of KEPT_NAMES) {
    const found = isLocal && isOutside(name, profile) ? undefined : givenTo(name, environment);
    if (found) set(name, readSetting(name, found.text, found.source), 'environment', found.source);
  }
  for (const name of KEPT_NAMES) {
    const at = `profiles.${profile.value}.${name}`;
    if (user) set(name, own[name], 'user', `${user.path}: ${at}`);
    if (user) set(name, user.limits[name], 'user', `${user.path}: ${name}`);
  }
  // An RPC address in the environment replaces a cluster that a file names.
  if (values.get('rpc_url')?.origin === 'environment') values.delete('cluster');
  lowerLimits(values, project);
  for (const [address, keys] of Object.entries(KEYS_OF)) {
    if (values.get(address as KeptName)?.origin !== 'environment') continue;
    for (const key of keys) {
      if (!values.delete(key)) continue;
      notes.push(`${key} of profile ${profile.value} is not used: its ${address} comes from the environment.`);
    }
  }
  const commitment = await fromCluster(values, environment);
  const said = values.get('commitment')?.value;
  return {
    profile,
    isEmbedded: isLocal,
    values,
    commitment: said === 'confirmed' || said === 'finalized' ? said : commitment,
    notes,
  };
}

/** `local` stays embedded whatever addresses the environment has; chosen by name, it ignores FARELOCK_PARTNER_URL. */
const isOutside = (name: KeptName, { origin }: Resolved): boolean =>
  name === 'partner_url' ? origin === 'flag' || origin === 'environment' : OUTSIDE.includes(name);

/** --profile, FARELOCK_PROFILE, an address in the environment, the project's profile, the user's, `local`. */
function profileIn(
  { environment, globals, home }: SettingsGiven,
  user: UserSettings | null,
  project: ProjectSettings | null,
): Resolved {
  if (globals.profile !== undefined) return { value: globals.profile, origin: 'flag', source: '--profile' };
  const { FARELOCK_PROFILE: named, FARELOCK_FLIGHTS_URL: address } = environment;
  if (named) return { value: named, origin: 'environment', source: 'FARELOCK_PROFILE' };
  if (address) return { value: 'environment', origin: 'environment', source: 'FARELOCK_FLIGHTS_URL' };
  if (project?.profile) return { value: project.profile, origin: 'project', source: `${project.path}: profile` };
  if (user?.profile) return { value: user.profile, origin: 'user', source: `${user.path}: profile` };
  return { value: 'local', origin: 'default', source: join(home, 'config.json') };
}

function ownSettings(profile: Resolved, home: string, user: UserSettings | null): SettingValues {
  const { value: name, origin, source } = profile;
  const profiles = user?.profiles ?? {};
  if (Object.hasOwn(profiles, name)) return profiles[name] ?? {};
  if (name === 'local' || (name === 'environment' && source === 'FARELOCK_FLIGHTS_URL')) return {};
  const others = Object.keys(profiles).filter((one) => one !== 'local');
  throw problem(origin === 'flag' || origin === 'environment' ? 'usage' : 'settings_invalid', {
    message:
      `There is no profile "${name}"${origin === 'flag' ? '' : ` (${source})`}. ${didYouMean(name, ['local', ...others])}`.trim(),
    fix: `Known: ${['local', ...others].join(', ')}. Profiles are in ${join(home, 'config.json')}.`,
    next: [farelock`--profile local config profile list`],
  });
}

/** Applies a project's limits that are lower than the user's; its hosts count if the user's list, if any, has them. */
function lowerLimits(values: Map<KeptName, Resolved>, project: ProjectSettings | null): void {
  if (project === null) return;
  const set = (name: KeptName, value: string) =>
    values.set(name, { value, origin: 'project', source: `${project.path}: ${name}` });
  for (const name of ['limits.per_call', 'limits.per_day', 'limits.booking'] as const) {
    const wanted = project.limits[name];
    const before = values.get(name)?.value ?? (name === 'limits.per_call' ? USUAL_PER_CALL : null);
    if (wanted === undefined || (before !== null && parseUsdc(before) <= parseUsdc(wanted))) continue;
    set(name, wanted);
  }
  const hosts = project.limits['limits.hosts'];
  if (hosts === undefined) return;
  const before = values.get('limits.hosts')?.value.split(',');
  const kept = hosts.split(',').filter((host) => before === undefined || before.includes(host));
  set('limits.hosts', kept.join(','));
}

/** CONTRACT, section 14: a call of up to 1 USDC is paid without a question. */
export const USUAL_PER_CALL = SETTINGS['limits.per_call'].usual;

async function fromCluster(values: Map<KeptName, Resolved>, environment: Environment): Promise<Settings['commitment']> {
  const cluster = values.get('cluster');
  if (cluster === undefined) return 'confirmed';
  if (cluster.value !== SOLANA_CONFIG) {
    values.set('rpc_url', { ...cluster, value: readSetting('rpc_url', cluster.value, cluster.source) });
    // A public cluster is known by its first block: an address that now leads to another cluster is refused.
    const { network, genesis } = settingsOfMoniker(cluster.value) ?? {};
    for (const [name, value] of [['network', network] as const, ['genesis', genesis] as const]) {
      if (value && !values.has(name)) values.set(name, { ...cluster, value });
    }
    return 'confirmed';
  }
  const { readSolanaCliConfig } = await import('./solana-cli.ts');
  const config = await readSolanaCliConfig(environment);
  const from = (value: string, key: string): Resolved => ({
    value,
    origin: 'solana',
    source: `${config.path}: ${key}`,
  });
  if (config.rpcUrl !== null) values.set('rpc_url', from(config.rpcUrl, 'json_rpc_url'));
  if (!values.has('keypair')) values.set('keypair', from(config.keypair, 'keypair_path'));
  return config.commitment;
}

/** Builds the profile from resolved settings. */
export function profileFrom(settings: Settings): Profile {
  const text = (name: KeptName): string | null => settings.values.get(name)?.value ?? null;
  const amount = (name: KeptName): bigint | null => {
    const value = text(name);
    return value === null ? null : parseUsdc(value);
  };
  const hosts = text('limits.hosts');
  const isOutside = (name: KeptName) => settings.isEmbedded && (CLUSTER_OUTSIDE as readonly string[]).includes(name);
  return {
    ...clusterFrom((name) => (isOutside(name) ? null : text(name))),
    commitment: settings.commitment,
    name: settings.profile.value,
    isEmbedded: settings.isEmbedded,
    flightsUrl: settings.isEmbedded ? null : text('flights_url'),
    partnerUrl: text('partner_url'),
    httpHosts: text('http_hosts')?.split(',') ?? [],
    keypair: text('keypair'),
    apiKeyFile: text('api_key_file'),
    customerTokenFile: text('customer_token_file'),
    operatorKeyFile: text('operator_key_file'),
    limits: {
      perCall: amount('limits.per_call'),
      perDay: amount('limits.per_day'),
      booking: amount('limits.booking'),
      // An empty list allows no host.
      hosts: hosts === null ? null : hosts.split(',').filter(Boolean),
    },
    isProjectsChoice: settings.profile.origin === 'project' && settings.profile.value !== 'local',
    notes: settings.notes,
  };
}
