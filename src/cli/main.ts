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
/** Nobody can be asked any more where things stand; the journal knows what was signed. */
const FORCED = '✗ Stopped immediately. Signed payments are on record: farelock payments list';
/** A pager takes Ctrl-C for itself. */
let isPaging = false;
const interrupt = (signal: 'SIGINT' | 'SIGTERM') => {
  if (isPaging && signal === 'SIGINT') return;
  // The first one lets the command say where things stand; the second one doesn't wait for it.
  if (interruption.signal.aborted) {
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}${FORCED}\n`);
    process.exit(130);
  }
  interruption.abort(problem('interrupted', { detail: { signal } }));
};
process.on('SIGINT', () => interrupt('SIGINT'));
process.on('SIGTERM', () => interrupt('SIGTERM'));
/** The terminal is gone. It is told more than once, so it never forces. */
const hangUp = () => {
  if (!interruption.signal.aborted) {
    interruption.abort(problem('interrupted', { detail: { signal: 'SIGHUP' } }));
  }
};
process.on('SIGHUP', hangUp);

/**
 * Nothing is left to wait for, and the command has not ended: a question whose input is gone, or a mistake of ours. It is
 * interrupted, so that it can say where things are; 0 would be taken for done.
 */
const unsettled = () => {
  if (!interruption.signal.aborted) {
    interruption.abort(
      problem('interrupted', { message: 'Interrupted: nothing more can be typed.', isAtQuestion: true }),
    );
    // Whatever was waiting hears of it before the process looks again for something to do.
    setImmediate(() => undefined);
    return;
  }
  process.stderr.write(`${FORCED}\n`);
  process.exit(130);
};

/** A result that goes to a file on a full disk, say. */
const cannotWrite = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void => {
  const trouble = storageTrouble(storageProblem(error, stream === process.stdout ? 'standard output' : undefined));
  if (!trouble) throw error;
  if (stream === process.stdout) process.stderr.write(`✗ ${trouble.message}\n  ${trouble.fix}\n`);
  process.exit(trouble.kind.exit);
};

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // What a terminal that is gone would have shown, nobody reads; where money moves is finished or left resumable.
    if (error.code === 'EIO') return hangUp();
    if (error.code !== 'EPIPE') return cannotWrite(stream, error);
    // `farelock … | head`: whoever read the result has seen enough. Without its remarks a result is still wanted.
    if (stream === process.stdout) process.exit(0);
  });
}

/** The libraries that colour by themselves go by the environment alone. */
if (process.argv.includes('--no-color')) process.env.NO_COLOR ||= '1';

/**
 * Runs the command line of this process, and leaves with its exit code; `leaving` is called right before, with the name of
 * the command that has ended well.
 */
export async function main({ leaving }: { readonly leaving: (command: string | null) => void }): Promise<void> {
  const argv = process.argv.slice(2);
  let command = 'help';
  process.on('beforeExit', unsettled);
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

/** After everything else, and never in its way: a home that can't be written is doctor's to tell of. */
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
