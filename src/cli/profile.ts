import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { problem } from '../kernel/problems.ts';
import type { Environment, GlobalOptions } from './context.ts';

/** Where a command runs: on the embedded stack, or against a service by address. */
export interface Profile {
  readonly name: string;
  /** null: embedded. */
  readonly flightsUrl: string | null;
  /** null: none is named; needed where something is signed or read from the cluster. */
  readonly rpcUrl: string | null;
  /** Of the profile itself; --keypair and FARELOCK_KEYPAIR come first. */
  readonly keypair: string | null;
}

/** FARELOCK_HOME, else the platform's folder for an application's data. */
export function homeOf(environment: Environment): string {
  if (environment.FARELOCK_HOME) return environment.FARELOCK_HOME;
  const user = homedir();
  if (process.platform === 'darwin') return join(user, 'Library', 'Application Support', 'farelock');
  if (process.platform === 'win32') {
    return join(environment.LOCALAPPDATA ?? join(user, 'AppData', 'Local'), 'farelock');
  }
  return join(environment.XDG_DATA_HOME ?? join(user, '.local', 'share'), 'farelock');
}

const EMBEDDED: Profile = { name: 'local', flightsUrl: null, rpcUrl: null, keypair: null };

/**
 * The profile of a command: --profile, then FARELOCK_PROFILE, then an address in FARELOCK_FLIGHTS_URL, else local.
 * The settings file is read only for a name other than local.
 * @throws Problem `usage`
 */
export async function profileOf(
  environment: Environment,
  globals: GlobalOptions,
  home: string,
): Promise<Profile> {
  const name = globals.profile ?? (environment.FARELOCK_PROFILE || undefined);
  const rpcUrl = webAddress('FARELOCK_RPC_URL', environment.FARELOCK_RPC_URL);
  if (name === undefined) {
    const flightsUrl = webAddress('FARELOCK_FLIGHTS_URL', environment.FARELOCK_FLIGHTS_URL);
    return flightsUrl === null ? EMBEDDED : { name: 'environment', flightsUrl, rpcUrl, keypair: null };
  }
  return name === 'local' ? EMBEDDED : readProfile(name, home, rpcUrl);
}

async function readProfile(name: string, home: string, rpcUrl: string | null): Promise<Profile> {
  const unknown = (known: readonly string[]) =>
    problem('usage', {
      message: `There is no profile "${name}".`,
      fix: `Known: ${['local', ...known].join(', ')}. Profiles stand in ${join(home, 'config.json')}.`,
    });
  if (!existsSync(join(home, 'config.json'))) throw unknown([]);
  const { default: Conf } = await import('conf');
  const conf = new Conf<Record<string, unknown>>({
    cwd: home,
    configName: 'config',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  });
  const profiles = recordOf(conf.get('profiles'));
  if (!Object.hasOwn(profiles, name)) throw unknown(Object.keys(profiles));
  const settings = recordOf(profiles[name]);
  const flightsUrl = webAddress(`flights_url of profile ${name}`, settings.flights_url);
  if (flightsUrl === null) {
    throw problem('usage', {
      message: `Profile ${name} has no flights_url.`,
      fix: `Add it in ${join(home, 'config.json')}.`,
    });
  }
  return {
    name,
    flightsUrl,
    rpcUrl: rpcUrl ?? webAddress(`rpc_url of profile ${name}`, settings.rpc_url),
    keypair: typeof settings.keypair === 'string' ? settings.keypair : null,
  };
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** An http(s) address without a slash at its end; null when there is none. */
function webAddress(name: string, value: unknown): string | null {
  if (value === undefined || value === '') return null;
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw problem('usage', {
      message: `${name} is not an http address.`,
      fix: 'Write it as https://flights.example.',
    });
  }
  return url.href.replace(/\/+$/, '');
}
