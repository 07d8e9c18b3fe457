import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { smallText } from '../../kernel/bounded-file.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { overNetwork } from '../../kernel/network.ts';
import { writeWhole } from '../../kernel/storage.ts';
import type { Environment } from '../settings/index.ts';

/** The newest version in npm's registry, as noted in the home. */
interface Looked {
  /** Epoch ms. */
  readonly looked_at: number;
  /** Null if the registry did not say. */
  readonly latest: string | null;
}

const PUBLIC = 'https://registry.npmjs.org/';
const LONGEST_MS = 5_000;
const noteOf = (home: string): string => join(home, 'update.json');

/** The last look; null before the first one. */
function lastLook(home: string): Looked | null {
  try {
    const { looked_at, latest } = JSON.parse(smallText(noteOf(home)) ?? '') as Partial<Looked>;
    return typeof looked_at === 'number' ? { looked_at, latest: isVersion(latest) ? latest : null } : null;
  } catch {
    // Missing or damaged: the next look writes it again.
    return null;
  }
}

export const noteLook = (home: string, look: Looked): void => writeWhole(noteOf(home), JSON.stringify(look));

/** Asks the registry that npm uses. @returns null without an answer in time */
export async function latestVersion(environment: Environment, signal: AbortSignal): Promise<string | null> {
  const url = `${registryOf(environment).replace(/\/*$/, '/')}-/package/farelock/dist-tags`;
  try {
    const answer = await overNetwork('follow')({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      body: '',
      signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]),
    });
    const { latest } = JSON.parse(answer.body ?? '{}') as { latest?: unknown };
    return isVersion(latest) ? latest : null;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

/** Finds the registry as npm does: its variable, the user's .npmrc, the public registry. */
export function registryOf(environment: Environment): string {
  const named = environment.npm_config_registry ?? environment.NPM_CONFIG_REGISTRY ?? fromNpmrc(environment);
  return named !== undefined && /^https?:/.test(named) && URL.canParse(named) ? named : PUBLIC;
}

function fromNpmrc(environment: Environment): string | undefined {
  const file = environment.NPM_CONFIG_USERCONFIG ?? join(environment.HOME ?? homedir(), '.npmrc');
  return /^\s*registry\s*=\s*"?([^\s"]+)/m.exec(smallText(file) ?? '')?.[1];
}

const isVersion = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(value);

/** True when the version is newer than the other; both are `1.2.3`. */
export function isNewer(version: string, than: string): boolean {
  const [one = [], other = []] = [version, than].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  const at = one.findIndex((part, index) => part !== other[index]);
  return at >= 0 && (one[at] ?? 0) > (other[at] ?? 0);
}

interface NoticeGiven {
  readonly home: string;
  readonly version: string;
  readonly nowMs: number;
  /** Starts a look without waiting for it. */
  readonly look: () => void;
}

/**
 * The line about a newer version, as of the last look. At most once a day it starts another look, for the next command.
 * The look is noted before it begins: a registry that never answers is asked once a day too.
 */
export function updateNotice({ home, version, nowMs, look }: NoticeGiven): string | null {
  if (!existsSync(home)) return null;
  const last = lastLook(home);
  if (last === null || Math.abs(nowMs - last.looked_at) > DAY_MS) {
    noteLook(home, { looked_at: nowMs, latest: last?.latest ?? null });
    look();
  }
  if (!last?.latest || !isNewer(last.latest, version)) return null;
  return `farelock ${last.latest} is out; this is ${version}. Next: farelock upgrade`;
}

/** Runs `farelock upgrade` in a process of its own, which notes what it finds. */
export function lookInBackground(script: string, environment: Environment): void {
  const child = spawn(process.execPath, [script, 'upgrade', '--json', '--quiet'], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env: { ...environment },
  });
  // If the process cannot start, the next look is tomorrow.
  child.once('error', () => undefined);
  child.unref();
}
