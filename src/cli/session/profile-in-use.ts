import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
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
import { encrypted } from './encrypted.ts';

/**
 * The profile of a command: flags over environment over project file over user file (docs/settings.md). Without a
 * settings file and without addresses in the environment it is the embedded one, and nothing is loaded for it.
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

/** The address of the flight service of a profile that is not embedded. @throws Problem `usage`, `address_unencrypted` */
export function flightsUrlOf(profile: Profile, home: string): string {
  if (profile.flightsUrl !== null) return encrypted(profile.flightsUrl, 'flights_url', profile);
  throw problem('usage', {
    message: `Profile ${profile.name} has no flights_url.`,
    fix: `Add it in ${userFileOf(home)}.`,
    next: [farelock`config set flights_url https://flights.example --profile ${profile.name}`],
  });
}
