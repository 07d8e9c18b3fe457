import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { DAY_MS } from '../../kernel/clock.ts';
import type { Environment } from '../spec/globals.ts';
import { isNewer, lastLook, noteLook } from './latest.ts';

interface NoticeGiven {
  readonly home: string;
  readonly version: string;
  readonly nowMs: number;
  /** Starts a look that nobody waits for. */
  readonly look: () => void;
}

/**
 * The line about a newer version, of the last look; at most once a day it starts another look for the next command.
 * The look is noted before it begins, so that a registry that never answers is asked once a day too.
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

/** `farelock upgrade` as a process of its own, which notes what it finds. */
export function lookInBackground(script: string, environment: Environment): void {
  const child = spawn(process.execPath, [script, 'upgrade', '--json', '--quiet'], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env: { ...environment },
  });
  // There is nothing to say when no process can be started: tomorrow is another day.
  child.once('error', () => undefined);
  child.unref();
}
