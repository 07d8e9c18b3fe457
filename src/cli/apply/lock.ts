import { link, unlink, writeFile } from 'node:fs/promises';
import { smallText } from '../../kernel/bounded-file.ts';
import { problem } from '../../kernel/problems.ts';

/**
 * Lets one process at a time work on a result file. A lock whose process has died is taken over. Rows would not be
 * applied twice without it, for each has its key; their results would only be told twice.
 * @throws Problem `apply_conflict`, `file_unreadable` where nothing can be written
 */
export async function lockFile(resultsFile: string): Promise<() => Promise<void>> {
  const path = `${resultsFile}.lock`;
  const mine = `${path}.${process.pid}`;
  try {
    await writeFile(mine, String(process.pid), { mode: 0o600 });
  } catch (error) {
    throw problem('file_unreadable', {
      message: `${resultsFile} cannot be written.`,
      fix: 'Name a result file in a folder of your own with --results.',
      cause: error,
    });
  }
  try {
    for (let tries = 0; ; tries++) {
      if (await linked(mine, path)) return () => unlink(path).catch(ignoreMissing);
      const owner = ownerOf(path);
      // In a container every process may have the same number: a lock in ours is one that was left behind.
      if (tries > 2 || (owner !== null && owner !== process.pid && isAlive(owner))) {
        throw problem('apply_conflict', {
          message: `Another process (${owner ?? 'unknown'}) is applying this file.`,
          fix: `Wait until it is done. If it is not running, remove ${path}.`,
        });
      }
      await unlink(path).catch(ignoreMissing);
    }
  } finally {
    await unlink(mine).catch(ignoreMissing);
  }
}

/** The lock appears with the number of its process in it, or not at all. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(path: string): number | null {
  const pid = Number(smallText(path));
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return codeOf(error) === 'EPERM';
  }
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error ? String(error.code) : null;

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}
