import { isProblem, problem } from '../../../kernel/problems.ts';
import { canDrawLive } from '../../../terminal/live-sign.ts';
import type { Command, CommandContext } from '../../spec/command.ts';
import { deskLines } from '../../view/flights/refund-desk.ts';
import { type Desk, openDesk } from './desk.ts';
import { pressAt } from './keys.ts';

interface DeskOptions {
  readonly sort?: 'age' | 'journey';
}

/**
 * The refund queue and its cases, live on a terminal, with a key for each command.
 * @throws Problem `input_required` where there is no terminal, `usage`, `interrupted`
 */
export const refundDesk: Command<DeskOptions> = async (context, { sort }) => {
  checkTerminal(context);
  const { session, terminal, clock, streams } = context;
  const operator = await session.operator();
  const { showBoard } = await import('../../../terminal/board.ts');
  const { stream } = streams.stderr;
  if (!stream) throw noTerminal();
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const { paint } = terminal.asideScreen;
  const opened: { desk: Desk; watching: Promise<void> }[] = [];
  try {
    await showBoard(
      (controls) => {
        const ports = { operator, session, clock, paint, sort, signal, controls };
        const desk = openDesk(ports);
        opened.push({ desk, watching: desk.watch().catch(controls.fail) });
        return {
          draw: (size) => deskLines(desk.shown, size, clock.now(), paint),
          isTyping: () => desk.shown.mode.kind === 'writing',
          press: pressAt(desk, ports),
        };
      },
      { input: process.stdin, output: stream, signal: context.signal },
    );
  } catch (error) {
    const isDeciding = opened.some(({ desk }) => desk.shown.mode.kind === 'busy');
    throw isProblem(error, 'interrupted') ? left(isDeciding) : error;
  } finally {
    closing.abort();
    for (const { desk, watching } of opened) {
      await watching;
      // The screen of the desk is gone: what was done at it stays on the terminal's own.
      for (const line of desk.done) terminal.done(line);
    }
  }
  return 0;
};

const COMMANDS = ['farelock refund queue', 'farelock help refund approve'];

function checkTerminal(context: CommandContext): void {
  const { terminal, globals } = context;
  const { json, quiet } = terminal.settings;
  if (json || quiet || globals.yes || globals.dryRun) {
    throw problem('usage', {
      message: 'The desk is for a person: it takes no --json, --quiet, --yes or --dry-run.',
      fix: FOR_SCRIPTS,
      next: COMMANDS,
    });
  }
  if (!terminal.canAsk || !canDrawLive(context)) throw noTerminal();
}

const FOR_SCRIPTS = 'For scripts: refund queue, show, claim, note, approve and reject.';

const noTerminal = () =>
  problem('input_required', {
    message: 'The refund desk needs a terminal that can move its cursor.',
    fix: FOR_SCRIPTS,
    next: COMMANDS,
  });

const left = (isDeciding: boolean) =>
  problem('interrupted', {
    message: isDeciding
      ? 'Interrupted during a decision: it may be on record, and then the service carries it out.'
      : 'Interrupted. Nothing was in progress.',
    fix: 'What was decided is on record.',
    next: ['farelock refund queue'],
  });
