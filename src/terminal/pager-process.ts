// A file of its own, because the built chunks (bin/load.js) can import a chunk lazily, but no module of Node.
import { spawn } from 'node:child_process';
import type { Environment } from './streams.ts';

/** Runs a pager on the process's terminal. Quitting it early is no error. If it cannot start, `write` gets the text. */
export async function runPager(
  command: string,
  text: string,
  environment: Environment,
  write: (text: string) => void,
): Promise<void> {
  // F: text that fits is only printed; R: colours; X: what was read stays on the screen; P: the prompt.
  const env = { LESS: 'FRXPs?eEnd, q to leave:Space for more, q to leave.$', LV: '-c', ...withoutKeys(environment) };
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

/** The variables without the tool's own, which may hold keys and tokens: a pager and its children don't need them. */
const withoutKeys = (environment: Environment) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('FARELOCK_')));

/** Exit codes of a shell that cannot find, or run, a program. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
