import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../spec/globals.ts';

const PROJECT_FILE = '.farelock.json';

/**
 * The nearest project file from `folder` upward, or null. `FARELOCK_PROJECT_FILE=off` looks for none. Only one of
 * the user's own (or root's) counts: in a shared folder anybody could have put it there.
 */
export function projectFileFrom(folder: string, environment: Environment): string | null {
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
