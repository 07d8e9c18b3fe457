import { createPrompt, useEffect, useKeypress, useState } from '@inquirer/core';
import { problem } from '../kernel/problems.ts';

/** A whole screen that changes by keys and by itself, until it is closed; then the terminal is as it was before. */
interface Board {
  /** Lines for a screen of this size. While `isTyping`, the last one ends with what was typed. */
  draw(size: BoardSize): readonly string[];
  /** True while keys are text; an Enter or Esc is pressed all the same. */
  isTyping(): boolean;
  press(key: BoardKey): void;
}

export interface BoardSize {
  readonly columns: number;
  readonly rows: number;
}

export interface BoardKey {
  /** `up`, `return`, `escape`, `a`, `?`. */
  readonly name: string;
  /** The line that was typed so far. */
  readonly typed: string;
}

/** The controls of a board's screen. */
export interface BoardControls {
  /** Draws again what is now different. */
  redraw(): void;
  close(): void;
  /** Closes it with an error. */
  fail(error: unknown): void;
}

interface BoardOn {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

const ESCAPE = '\u001b[';
const ENTER_SCREEN = `${ESCAPE}?1049h${ESCAPE}H`;
const LEAVE_SCREEN = `${ESCAPE}?1049l`;
const CLEAR_SCREEN = `${ESCAPE}H${ESCAPE}2J`;
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;

/** @throws Problem `interrupted` for Ctrl-C, and what `fail` was given */
export async function showBoard(
  open: (controls: BoardControls) => Board,
  { input, output, signal }: BoardOn,
): Promise<void> {
  let redraw = () => {};
  let close = () => {};
  let failure: { readonly error: unknown } | null = null;
  const board = open({
    redraw: () => redraw(),
    close: () => close(),
    fail(error) {
      failure ??= { error };
      close();
    },
  });
  const frame = () => {
    const lines = board.draw({ columns: output.columns ?? 80, rows: output.rows ?? 24 });
    return `${board.isTyping() ? SHOW_CURSOR : HIDE_CURSOR}${lines.join('\n')}`;
  };
  const prompt = createPrompt<void, null>((_config, done) => {
    const [shown, show] = useState(frame);
    useEffect((rl) => {
      redraw = () => show(frame());
      close = () => done();
      const resize = () => {
        // How many lines the old frame takes now, only the terminal knows: the screen begins anew.
        output.write(CLEAR_SCREEN);
        show('\n');
        redraw();
      };
      output.on('resize', resize);
      // Put aside, it would leave its screen to the shell.
      rl.on('SIGTSTP', () => undefined);
      return () => void output.off('resize', resize);
    }, []);
    useKeypress((key, rl) => {
      const { name, sequence, ctrl, meta }: { name?: string; sequence?: string; ctrl?: boolean; meta?: boolean } = key;
      // Ctrl-C is no c: combinations of keys count only while a line is typed.
      if ((ctrl === true || meta === true) && !board.isTyping() && name !== 'escape') return rl.clearLine(0);
      if (!board.isTyping()) rl.clearLine(0);
      board.press({ name: name ?? sequence ?? '', typed: rl.line });
      if (!board.isTyping()) rl.clearLine(0);
      show(frame());
    });
    return shown;
  });
  const leave = () => void output.write(`${SHOW_CURSOR}${LEAVE_SCREEN}`);
  process.once('exit', leave);
  output.write(ENTER_SCREEN);
  try {
    await prompt(null, { input, output, signal, clearPromptOnDone: true });
  } catch (error) {
    if (signal.aborted || !(error instanceof Error && error.name === 'ExitPromptError')) throw error;
    throw problem('interrupted', { cause: error });
  } finally {
    process.off('exit', leave);
    leave();
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
