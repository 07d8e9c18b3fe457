import { createPrompt, useEffect, useKeypress, useState } from '@inquirer/core';
import { problem } from '../kernel/problems.ts';
import { clustersOf } from './text.ts';

/** A whole screen that changes by keys and by itself, until it is closed; then the terminal is as it was before. */
interface Board {
  /** Lines for a screen of this size, the last one not empty. While `isTyping`, the cursor is at its end. */
  draw(size: BoardSize): readonly string[];
  /** True while keys are text. */
  isTyping(): boolean;
  press(key: BoardKey): void;
}

export interface BoardSize {
  readonly columns: number;
  readonly rows: number;
}

export interface BoardKey {
  /** `up`, `return`, `escape`, `a`, `A`, `?`; `paste` for a whole pasted text; `ctrl-w`. */
  readonly name: string;
  /** The text of the key: a character, or what was pasted, with its line breaks. */
  readonly text: string;
}

/** Text that is being typed, on both sides of the cursor. */
export interface Typed {
  readonly before: string;
  readonly after: string;
}

/** Applies a key to the text: a cluster is written, removed and passed as a whole. */
export function retyped({ before, after }: Typed, { name, text }: BoardKey): Typed {
  const passed = clustersOf(before);
  const ahead = clustersOf(after);
  const last = passed.at(-1) ?? '';
  const [next = ''] = ahead;
  switch (name) {
    case 'backspace':
      return { before: passed.slice(0, -1).join(''), after };
    case 'delete':
      return { before, after: ahead.slice(1).join('') };
    case 'left':
      return { before: passed.slice(0, -1).join(''), after: last + after };
    case 'right':
      return { before: before + next, after: ahead.slice(1).join('') };
    case 'home':
    case 'ctrl-a':
      return { before: '', after: before + after };
    case 'end':
    case 'ctrl-e':
      return { before: before + after, after: '' };
    case 'ctrl-u':
      return { before: '', after };
    case 'ctrl-k':
      return { before, after: '' };
    case 'ctrl-w':
      return { before: before.replace(/\S*\s*$/, ''), after };
    default:
      return { before: before + text, after };
  }
}

/** The controls of a board's screen. */
export interface BoardControls {
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
/** Makes a terminal mark both ends of a pasted text. */
const BRACKETED_PASTE = `${ESCAPE}?2004`;
const ENTER_SCREEN = `${ESCAPE}?1049h${ESCAPE}H${BRACKETED_PASTE}h`;
const LEAVE_SCREEN = `${BRACKETED_PASTE}l${ESCAPE}?1049l`;
const CLEAR_SCREEN = `${ESCAPE}H${ESCAPE}2J`;
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;

interface Keypress {
  readonly name?: string;
  readonly sequence?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/** Turns keypresses into keys, and a paste into one key; null for no key yet, or a combination without a meaning. */
function createKeys() {
  let pasted: string | null = null;
  return ({ name, sequence = '', ctrl = false, meta = false }: Keypress): BoardKey | null => {
    if (name === 'paste-start') pasted = '';
    else if (name === 'paste-end') {
      const text = (pasted ?? '').replace(/\r\n?/g, '\n').replaceAll('\t', ' ');
      pasted = null;
      return { name: 'paste', text: text.replace(/[^\P{Cc}\n]/gu, '') };
    } else if (pasted !== null) pasted += sequence;
    else if (ctrl) return { name: `ctrl-${name}`, text: '' };
    else if (!meta || name === 'escape') {
      const isText = !/\p{Cc}/u.test(sequence);
      return { name: isText || name === undefined ? sequence : name, text: isText ? sequence : '' };
    }
    return null;
  };
}

/** Shows a board until it is closed. @throws Problem `interrupted` for Ctrl-C and end of input; the error of `fail` */
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
  const keyOf = createKeys();
  const prompt = createPrompt<void, null>((_config, done) => {
    const [shown, show] = useState(frame);
    useEffect((rl) => {
      redraw = () => show(frame());
      let isClosed = false;
      close = () => {
        isClosed = true;
        done();
      };
      // Ctrl-D, or a terminal that is gone.
      rl.on('close', () => {
        if (isClosed) return;
        failure ??= { error: problem('interrupted') };
        close();
      });
      const resize = () => {
        // Only the terminal knows how many lines the old frame takes now, so the screen is cleared.
        output.write(CLEAR_SCREEN);
        show('\n');
        redraw();
      };
      output.on('resize', resize);
      // Ctrl-Z is ignored: a stopped board would leave its screen to the shell.
      rl.on('SIGTSTP', () => undefined);
      return () => void output.off('resize', resize);
    }, []);
    useKeypress((key, rl) => {
      // The board keeps the text itself: readline's line has one row, and ends at a pasted Enter.
      rl.clearLine(0);
      const pressed = keyOf(key);
      if (pressed === null) return;
      board.press(pressed);
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
