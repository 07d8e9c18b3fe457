import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { type Limits, NO_LIMITS } from '../../client/base/index.ts';
import { problem } from '../../kernel/problems.ts';
import { isPastedKey } from '../../kernel/shown-url.ts';
import { type ClusterSettings, EMBEDDED_CLUSTER } from '../../solana/index.ts';
import type { Environment } from './globals.ts';
import { projectFileFrom } from './project.ts';

/**
 * Where a command runs: on the embedded stack, or against a service by address, with the settings of the cluster that
 * is paid on. Without RPC addresses nothing can be signed there, or read from it.
 */
export interface Profile extends ClusterSettings {
  readonly name: string;
  /** True when the flight service is the embedded one. */
  readonly isEmbedded: boolean;
  /** null: embedded, or a profile of the partner service alone. */
  readonly flightsUrl: string | null;
  /** null: the embedded partner service, or none. */
  readonly partnerUrl: string | null;
  /** Hosts that may be called over http, as a URL writes them. */
  readonly httpHosts: readonly string[];
  /** --keypair, FARELOCK_KEYPAIR or the profile's own; null: the home's wallet. `-` is standard input. */
  readonly keypair: string | null;
  /** Files of keys; each is sent to this profile's own address only. null: none is named. */
  readonly apiKeyFile: string | null;
  readonly customerTokenFile: string | null;
  readonly operatorKeyFile: string | null;
  readonly limits: Limits;
  /** A project file has chosen it, rather than the person at the keyboard: it never pays on mainnet. */
  readonly isProjectsChoice: boolean;
  /** Notes for the person on how the settings came together. */
  readonly notes: readonly string[];
}

/**
 * FARELOCK_HOME, else the platform's folder for an application's data. A folder that the platform's variables name
 * counts where it is absolute (XDG Base Directory Specification): else keys would land in the working folder.
 */
export function homeOf(environment: Environment): string {
  if (environment.FARELOCK_HOME) return environment.FARELOCK_HOME;
  const absolute = (path: string | undefined) => (path && isAbsolute(path) ? path : undefined);
  const user = absolute(homedir()) ?? userInfo().homedir;
  if (process.platform === 'darwin') return join(user, 'Library', 'Application Support', 'farelock');
  if (process.platform === 'win32') {
    return join(absolute(environment.LOCALAPPDATA) ?? join(user, 'AppData', 'Local'), 'farelock');
  }
  return join(absolute(environment.XDG_DATA_HOME) ?? join(user, '.local', 'share'), 'farelock');
}

/** The user's settings file of a home. */
export const userFileOf = (home: string): string => join(home, 'config.json');

/** The embedded profile, as it is without any settings. */
export const EMBEDDED: Profile = {
  ...EMBEDDED_CLUSTER,
  name: 'local',
  isEmbedded: true,
  flightsUrl: null,
  partnerUrl: null,
  httpHosts: [],
  keypair: null,
  apiKeyFile: null,
  customerTokenFile: null,
  operatorKeyFile: null,
  limits: NO_LIMITS,
  isProjectsChoice: false,
  notes: [],
};

/** The settings files that are there; `folder` is where the search for a project's begins. */
export function settingsFiles(home: string, environment: Environment, folder: string) {
  const userFile = userFileOf(home);
  return { userFile: existsSync(userFile) ? userFile : null, projectFile: projectFileFrom(folder, environment) };
}

/**
 * A path of the command line made whole; `-`, and what only the Solana CLI can use, stay as they are.
 * @throws Problem `keypair_unreadable` for a key in place of its file's path
 */
export const keypairPath = (given: string): string => {
  if (isPastedKey(given)) {
    throw problem('keypair_unreadable', {
      message: 'A key was given instead of the path of its file.',
      fix: 'Write it to a file that only you can read (chmod 600), and give the path of that file.',
    });
  }
  if (given === '-' || given === 'stdin:') return '-';
  return /^(usb|prompt):|^ASK$/.test(given) ? given : resolve(given.replace(/^file:(\/\/)?/, ''));
};
