import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import {
  CLUSTER_OUTSIDE,
  EMBEDDED,
  type Environment,
  type GlobalOptions,
  KEPT_NAMES,
  loadResolve,
  type Profile,
  rowOf,
  settingsFiles,
  settingsIn,
  userFileOf,
} from '../settings/index.ts';

/**
 * Finds the profile of a command: flags over environment over project file over user file (docs/settings.md). Without
 * settings files, and without addresses in the environment, it is the embedded one, and nothing is loaded for it.
 * @throws Problem `usage`, `settings_invalid`
 */
export async function profileOf(
  environment: Environment,
  globals: GlobalOptions,
  home: string,
  folder: string = process.cwd(),
): Promise<Profile> {
  const files = settingsFiles(home, environment, folder);
  const named = globals.profile ?? (environment.FARELOCK_PROFILE || 'local');
  const isPlain = !VARIABLES.some((name) => environment[name]);
  if (files.userFile === null && files.projectFile === null && named === 'local' && isPlain) {
    const keypair = settingsIn(environment, globals)('keypair');
    return keypair === undefined ? EMBEDDED : { ...EMBEDDED, keypair };
  }
  const { resolveSettings, profileFrom } = await loadResolve();
  return profileFrom(await resolveSettings({ environment, globals, home, ...files }));
}

/** The variables that change the embedded profile, or take its place. */
const VARIABLES = KEPT_NAMES.flatMap((name) =>
  CLUSTER_OUTSIDE.some((one) => one === name) || name === 'keypair' ? [] : (rowOf(name).env ?? []),
);

/** The address of the flight service, if not embedded. @throws Problem `usage`, `address_unencrypted` */
export function flightsUrlOf(profile: Profile, home: string): string {
  if (profile.flightsUrl !== null) return encrypted(profile.flightsUrl, 'flights_url', profile);
  throw problem('usage', {
    message: `Profile ${profile.name} has no flights_url.`,
    fix: `Add it in ${userFileOf(home)}.`,
    next: [farelock`config set flights_url https://flights.example --profile ${profile.name}`],
  });
}

/** Hosts of this machine: what is sent to them crosses no network. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/**
 * Returns the address of a service if it is https, on this machine, or of a host named in `http_hosts`: keys, tokens,
 * support codes, payments and passengers are sent to it.
 * @throws Problem `address_unencrypted`
 */
export function encrypted(address: string, setting: 'flights_url' | 'partner_url', profile: Profile): string {
  const { protocol, hostname, host } = new URL(address);
  if (protocol === 'https:' || isLoopback(hostname) || profile.httpHosts.includes(host)) return address;
  const { name } = profile;
  const isFromEnvironment = name === 'local' || name === 'environment';
  throw problem('address_unencrypted', {
    message: `${setting} of profile ${name} is ${shownUrl(address)}: keys, support codes and passengers would be sent unencrypted.`,
    next: isFromEnvironment
      ? []
      : [
          farelock`config set ${setting} ${`https://${hostname}`} --profile ${name}`,
          farelock`config set http_hosts ${host} --profile ${name}`,
        ],
  });
}
