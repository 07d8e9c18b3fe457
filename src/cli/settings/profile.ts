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
  /** True for the whole document, or the text of the chosen fields. */
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
  /** False prints long results without a pager. */
  readonly pager?: boolean;
  /** For a screen reader; also set by FARELOCK_PLAIN. */
  readonly plain?: true;
}

/** 0: done; 8: ended, but not as asked; 130: interrupted with a result. Every other code comes from a problem. */
export type ExitCode = 0 | 8 | 130;

/**
 * The place where a command runs: the embedded stack, or a service at an address, with the settings of the paying
 * cluster. Without RPC addresses nothing can be signed for that cluster, or read from it.
 */
export interface Profile extends ClusterSettings {
  readonly name: string;
  /** True if the flight service is the embedded one. */
  readonly isEmbedded: boolean;
  /** Null if embedded, or for a profile of the partner service alone. */
  readonly flightsUrl: string | null;
  /** Null for the embedded partner service, or none. */
  readonly partnerUrl: string | null;
  /** Hosts that may be called over http, as a URL writes them. */
  readonly httpHosts: readonly string[];
  /** From --keypair, FARELOCK_KEYPAIR or the profile; null for the home's wallet. `-` is standard input. */
  readonly keypair: string | null;
  /** Key files, or null. Each key is sent only to this profile's own address. */
  readonly apiKeyFile: string | null;
  readonly customerTokenFile: string | null;
  readonly operatorKeyFile: string | null;
  readonly limits: Limits;
  /** True if a project file has chosen the profile, not the person at the keyboard: it never pays on mainnet. */
  readonly isProjectsChoice: boolean;
  /** Notes to show, such as the project file that chose the profile. */
  readonly notes: readonly string[];
}

/**
 * FARELOCK_HOME, else the platform's folder for application data. A relative folder in the platform's variables is
 * ignored (XDG Base Directory Specification): keys would land in the working folder.
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
 * Finds the nearest project file from `folder` upward, or null. `FARELOCK_PROJECT_FILE=off` turns it off. Only a file
 * of the user or of root counts: in a shared folder another user could have put it there.
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

/** Finds the settings files that exist; the search for a project file begins in `folder`. */
export function settingsFiles(home: string, environment: Environment, folder: string) {
  const userFile = userFileOf(home);
  return { userFile: existsSync(userFile) ? userFile : null, projectFile: projectFileFrom(folder, environment) };
}
