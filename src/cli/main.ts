import { version } from '../../package.json' with { type: 'json' };
import { systemClock } from '../kernel/clock.ts';
import { problem } from '../kernel/problems.ts';
import { storageProblem, storageTrouble } from '../kernel/storage.ts';
import { loadPagerProcess, type Pager, pagerCommand, processStreams, terminalPrompts } from '../terminal/index.ts';
import { TOOL } from './commands/index.ts';
import { loadProfile } from './settings/index.ts';
import { runTool } from './tool/index.ts';
import { isNoticeWanted, loadLatest } from './upgrade/index.ts';

/** The process: its streams, signals and exit. Nothing else exits. */

const interruption = new AbortController();
/** The command can't report its state any more; the journal has the signed payments. */
const FORCED = '✗ Stopped immediately. Signed payments are on record: farelock payments list';
/** A pager takes Ctrl-C for itself. */
let isPaging = false;
const interrupt = (signal: 'SIGINT' | 'SIGTERM') => {
  if (isPaging && signal === 'SIGINT') return;
  // The first signal lets the command report its state; the second one does not wait.
  if (interruption.signal.aborted) {
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}${FORCED}\n`);
    process.exit(130);
  }
  interruption.abort(problem('interrupted', { detail: { signal } }));
};
process.on('SIGINT', () => interrupt('SIGINT'));
process.on('SIGTERM', () => interrupt('SIGTERM'));
/** Interrupts when the terminal is gone. SIGHUP may repeat, so it never forces. A later abort has no effect. */
const hangUp = () => interruption.abort(problem('interrupted', { detail: { signal: 'SIGHUP' } }));
process.on('SIGHUP', hangUp);

/**
 * Interrupts a command that has not ended although nothing is left to wait for, which is a bug. The command can
 * then report where the money is; exit code 0 would mean success.
 */
const unsettled = () => {
  if (!interruption.signal.aborted) {
    interruption.abort(problem('interrupted', { message: 'Interrupted: nothing is left to wait for.' }));
    // Keeps the process alive until the waiting parts have reacted.
    setImmediate(() => undefined);
    return;
  }
  process.stderr.write(`${FORCED}\n`);
  process.exit(130);
};

/** Reports a failed write, such as to a file on a full disk. */
const cannotWrite = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void => {
  const trouble = storageTrouble(storageProblem(error, stream === process.stdout ? 'standard output' : undefined));
  if (!trouble) throw error;
  if (stream === process.stdout) process.stderr.write(`✗ ${trouble.message}\n  ${trouble.fix}\n`);
  process.exit(trouble.kind.exit);
};

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The terminal is gone: movements of money are finished or left resumable.
    if (error.code === 'EIO') return hangUp();
    if (error.code !== 'EPIPE') return cannotWrite(stream, error);
    // `farelock … | head` has read enough. Without stderr, the result is still wanted.
    if (stream === process.stdout) process.exit(0);
  });
}

/** Libraries with their own colours read only the environment. */
if (process.argv.includes('--no-color')) process.env.NO_COLOR ||= '1';

/**
 * Runs the command line of this process and exits with its code; `leaving` is called right before, with the name of the
 * command if it succeeded.
 */
export async function main({ leaving }: { readonly leaving: (command: string | null) => void }): Promise<void> {
  const argv = process.argv.slice(2);
  let command = 'help';
  process.on('beforeExit', unsettled);
  // For anything that ends the process before the command does.
  process.exitCode = 1;
  const code = await runTool(argv, {
    tool: TOOL,
    version,
    began: (name) => {
      command = name;
    },
    environment: process.env,
    streams: processStreams(),
    clock: systemClock,
    interrupted: interruption.signal,
    prompts: (signal, isPlain) => terminalPrompts(signal, isPlain || process.env.TERM === 'dumb'),
    pager: pagerOfProcess(),
  });
  if (isNoticeWanted(argv, process.env, process.stderr)) await tellOfUpdate();
  // Waits until a slow pipe has everything, then leaves without waiting for idle handles.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  leaving(code === 0 ? command : null);
  process.exit(code);
}

/** Comes after everything else and never fails for storage: `doctor` reports an unwritable home. */
async function tellOfUpdate(): Promise<void> {
  const { lookInBackground, updateNotice } = await loadLatest();
  const { homeOf } = await loadProfile();
  try {
    const notice = updateNotice({
      home: homeOf(process.env),
      version,
      nowMs: systemClock.now(),
      look: () => lookInBackground(process.argv[1] ?? '', process.env),
    });
    if (notice !== null) process.stderr.write(`\n${notice}\n`);
  } catch (error) {
    if (!storageTrouble(error)) throw error;
  }
}

function pagerOfProcess(): Pager | undefined {
  const command = pagerCommand(process.env);
  if (command === null) return undefined;
  return async (text) => {
    const { runPager } = await loadPagerProcess();
    isPaging = true;
    try {
      await runPager(command, text, process.env, (whole) => process.stdout.write(whole));
    } finally {
      isPaging = false;
    }
  };
}
