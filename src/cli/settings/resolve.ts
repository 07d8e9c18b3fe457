import { join } from 'node:path';
import { parseUsdc } from '../../kernel/money.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { settingsOfMoniker } from '../../solana/index.ts';
import { OUTSIDE, readUserSettings, type SettingValues, type UserSettings } from './file.ts';
import type { Environment, GlobalOptions } from './globals.ts';
import { kindOf, NotASetting, SETTING_NAMES, type SettingName, SOLANA_CONFIG } from './keys-table.ts';
import { keypairPath } from './profile.ts';
import { type ProjectSettings, readProjectSettings } from './project.ts';
import { secret } from './secret-variable.ts';

/** Where a value came from; the first that names it wins, in this order. */
type Origin = 'flag' | 'environment' | 'project' | 'user' | 'solana' | 'default';

interface Resolved {
  readonly value: string;
  readonly origin: Origin;
  /** The flag, the variable, or the file and the key in it. */
  readonly source: string;
}

export interface Settings {
  readonly profile: Resolved;
  /** True when the flight service is the embedded one. */
  readonly isEmbedded: boolean;
  readonly values: ReadonlyMap<SettingName, Resolved>;
  readonly commitment: 'confirmed' | 'finalized';
  /** Notes for the person on how the settings came together. */
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

/** A key goes only to the address that stands beside it: never to one that came from somewhere else. */
const KEYS_OF = { flights_url: ['operator_key_file'], partner_url: ['api_key_file', 'customer_token_file'] } as const;

/**
 * Brings flags, environment, project file and user file together, in that order.
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
  const values = new Map<SettingName, Resolved>();

  const set = (name: SettingName, value: string | undefined, origin: Origin, source: string) => {
    if (value !== undefined && !values.has(name)) values.set(name, { value, origin, source });
  };
  const { keypair } = given.globals;
  set('keypair', keypair === undefined ? undefined : keypairPath(keypair), 'flag', '--keypair');
  for (const name of SETTING_NAMES) {
    const { environment: variable } = kindOf(name);
    if (variable === undefined || (isLocal && isOutside(name, profile))) continue;
    set(name, fromVariable(environment, variable, name), 'environment', variable);
  }
  for (const name of SETTING_NAMES) {
    const at = `profiles.${profile.value}.${name}`;
    if (user) set(name, own[name], 'user', `${user.path}: ${at}`);
    if (user) set(name, user.limits[name], 'user', `${user.path}: ${name}`);
  }
  // An address from the environment takes the place of both ways of naming a cluster.
  if (values.get('rpc_url')?.origin === 'environment') values.delete('cluster');
  lowerLimits(values, project);
  for (const [address, keys] of Object.entries(KEYS_OF)) {
    if (values.get(address as SettingName)?.origin !== 'environment') continue;
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

/** `local` is the embedded stack, whatever addresses the environment has; only an unnamed one may have a partner. */
const isOutside = (name: SettingName, { origin }: Resolved): boolean =>
  name === 'partner_url' ? origin === 'flag' || origin === 'environment' : OUTSIDE.includes(name);

/** --profile, FARELOCK_PROFILE, an address in the environment, the project's choice, the user's, local. */
function profileIn(
  { environment, globals, home }: SettingsGiven,
  user: UserSettings | null,
  project: ProjectSettings | null,
): Resolved {
  if (globals.profile !== undefined) {
    return { value: globals.profile, origin: 'flag', source: '--profile' };
  }
  if (environment.FARELOCK_PROFILE) {
    return { value: environment.FARELOCK_PROFILE, origin: 'environment', source: 'FARELOCK_PROFILE' };
  }
  if (environment.FARELOCK_FLIGHTS_URL) {
    return { value: 'environment', origin: 'environment', source: 'FARELOCK_FLIGHTS_URL' };
  }
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

/** @throws Problem `usage` */
export function fromVariable(environment: Environment, variable: string, name: SettingName): string | undefined {
  // The addresses that providers put keys into.
  const text =
    name === 'rpc_url'
      ? secret(environment, 'FARELOCK_RPC_URL')
      : name === 'ws_url'
        ? secret(environment, 'FARELOCK_WS_URL')
        : environment[variable];
  if (!text) return undefined;
  try {
    return kindOf(name).read(text, process.cwd());
  } catch (error) {
    if (!(error instanceof NotASetting)) throw error;
    throw problem('usage', { message: `${variable} is not ${error.what}.`, fix: `Set it to ${error.message}.` });
  }
}

/** A project's limit counts where it is the lower one; its hosts are those that the user's list has too. */
function lowerLimits(values: Map<SettingName, Resolved>, project: ProjectSettings | null): void {
  if (project === null) return;
  const resolved = (name: SettingName, value: string): Resolved => ({
    value,
    origin: 'project',
    source: `${project.path}: ${name}`,
  });
  for (const name of ['limits.per_call', 'limits.per_day', 'limits.booking'] as const) {
    const wanted = project.limits[name];
    const before = values.get(name)?.value ?? (name === 'limits.per_call' ? USUAL_PER_CALL : null);
    if (wanted === undefined || (before !== null && parseUsdc(before) <= parseUsdc(wanted))) continue;
    values.set(name, resolved(name, wanted));
  }
  const hosts = project.limits['limits.hosts'];
  if (hosts === undefined) return;
  const before = values.get('limits.hosts')?.value.split(',');
  const kept = hosts.split(',').filter((host) => before === undefined || before.includes(host));
  values.set('limits.hosts', resolved('limits.hosts', kept.join(',')));
}

/** CONTRACT, section 14: a call of up to 1 USDC is paid without a question. */
export const USUAL_PER_CALL = '1.00';

async function fromCluster(
  values: Map<SettingName, Resolved>,
  environment: Environment,
): Promise<Settings['commitment']> {
  const cluster = values.get('cluster');
  if (cluster === undefined) return 'confirmed';
  if (cluster.value !== SOLANA_CONFIG) {
    values.set('rpc_url', { ...cluster, value: kindOf('rpc_url').read(cluster.value, '') });
    // A public cluster is known by its first block: an address that has come to mean another one is refused.
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
