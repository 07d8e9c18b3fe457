import { textWidth } from './view/text.ts';

/** Shows text a screen at a time; over when the person has seen enough. */
export type Pager = (text: string) => Promise<void>;

/**
 * The command line of the pager: FARELOCK_PAGER, then PAGER, then less. null: none is wanted (empty or `cat`, a
 * terminal that can't move its cursor).
 */
export function pagerCommand(environment: Readonly<Record<string, string | undefined>>): string | null {
  if (environment.TERM === 'dumb') return null;
  const command = (environment.FARELOCK_PAGER ?? environment.PAGER ?? 'less').trim();
  return command === '' || command === 'cat' ? null : command;
}

/** Whether text takes more lines than a terminal has, which also shows the prompt. */
export function isLong(text: string, rows: number, columns: number): boolean {
  let taken = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    taken += Math.max(1, Math.ceil(textWidth(line) / columns));
    if (taken >= rows) return true;
  }
  return false;
}

/**
 * Runs a pager on the process's own terminal. Quitting it early is how one says that it was enough; a pager that can't
 * be started leaves the text to `write`.
 */
export async function runPager(
  command: string,
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  write: (text: string) => void,
): Promise<void> {
  // Asked for in this way because the built chunks, which bin/load.js runs, cannot import what Node itself has.
  const { spawn } = process.getBuiltinModule('node:child_process');
  // F: text that fits after all is only printed; R: colours; X: what was read stays on the screen.
  const env = { LESS: 'FRX', LV: '-c', ...environment };
  const outcome = await new Promise<'shown' | 'missing'>((resolve) => {
    const pager = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'inherit', 'inherit'], env });
    pager.on('error', () => resolve('missing'));
    pager.on('close', (code) => resolve(code === NOT_FOUND || code === NOT_RUNNABLE ? 'missing' : 'shown'));
    // The pager was quit before it had read everything.
    pager.stdin.on('error', () => undefined);
    pager.stdin.end(text);
  });
  if (outcome === 'missing') write(text);
}

/** How a shell says that there is no such program. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
