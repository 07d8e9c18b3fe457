import { statSync } from 'node:fs';
import { isProblem, type Problem, reworded } from '../../kernel/problems.ts';
import type { Environment } from '../spec/globals.ts';

/** Trouble with a file of the home, as trouble with the home where that is no folder, and none can be made there. */
export function asHome(trouble: Problem, home: string, { FARELOCK_HOME }: Environment): Problem {
  if (!isProblem(trouble, 'storage_not_writable', 'storage_failed') || isFolder(home)) return trouble;
  const { reason } = trouble.detail ?? {};
  const why = typeof reason === 'string' ? ` (${reason})` : '';
  return reworded(trouble, {
    message: FARELOCK_HOME
      ? `FARELOCK_HOME is ${home}, where no folder can be made${why}.`
      : `The folder ${home} cannot be made${why}.`,
    fix: FARELOCK_HOME
      ? 'Set FARELOCK_HOME to a folder that you can write, or unset it for the usual one.'
      : 'Set FARELOCK_HOME to a folder that you can write.',
    next: [FARELOCK_HOME ? 'unset FARELOCK_HOME' : 'export FARELOCK_HOME=~/farelock'],
  });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Of a path that cannot be looked at, the trouble itself says why.
    return false;
  }
}
