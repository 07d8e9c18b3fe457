import { existsSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type Limits, NO_LIMITS } from '../../client/base/index.ts';
import { type ClusterSettings, EMBEDDED_CLUSTER } from '../../solana/index.ts';
import type { Environment } from '../../terminal/index.ts';

export type { Environment };

/** Options that every command takes (CONTRACT, section 14). */
export interface GlobalOptions {
  readonly profile?: string;
  readonly keypair?: string;
  /** true: the whole document; text: the chosen fields. */
  readonly json?: true | string;
  readonly yes?: true;
  readonly input: boolean;
  readonly dryRun?: true;
  /** Atomic USDC. */
  readonly maxPayment?: bigint;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
  /** false: long results are printed as they are. */
  readonly pager?: boolean;
  /** For a screen reader; FARELOCK_PLAIN too. */
  readonly plain?: true;
}

/** 0 done, 8 ended and not as asked, 130 interrupted with a result; every other code comes from a problem. */
export type ExitCode = 0 | 8 | 130;

/**
 * The place where a command runs: the embedded stack, or a service by address, with the settings of the paying cluster.
 * Without RPC addresses nothing can be signed there, or read from it.
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

const PROJECT_FILE = '.farelock.json';

/**
 * The nearest project file from `folder` upward, or null. `FARELOCK_PROJECT_FILE=off` looks for none. Only one of
 * the user's own (or root's) counts: in a shared folder another user could have put it there.
 */
function projectFileFrom(folder: string, environment: Environment): string | null {
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

/** The settings files that are there; `folder` is where the search for a project's begins. */
export function settingsFiles(home: string, environment: Environment, folder: string) {
  const userFile = userFileOf(home);
  return { userFile: existsSync(userFile) ? userFile : null, projectFile: projectFileFrom(folder, environment) };
}
