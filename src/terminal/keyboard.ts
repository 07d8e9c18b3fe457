import { emitKeypressEvents, type Key } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';

/** The terminal of a question. */
export interface TerminalOn {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** The keys that a question takes for itself, and their effects. */
export interface KeysFor {
  /** True for a key that leads back. */
  readonly isBack?: ((key: Key) => boolean) | undefined;
  /** True for a line that may be typed; other letters are refused, and so is Enter after them. */
  readonly mayBe?: ((line: string) => boolean) | undefined;
  /** True for a question that is drawn again: what is typed meanwhile is for it. */
  readonly isAgain?: boolean | undefined;
  back(): void;
  /** Called when nothing more can be typed: Ctrl-D, an end of input, a terminal that is gone. */
  ended(): void;
}

interface Press {
  readonly text: string | undefined;
  readonly key: Key;
}

const ESCAPE = '\u001b';
const PASTE_ON = `${ESCAPE}[?2004h`;
const PASTE_OFF = `${ESCAPE}[?2004l`;
const SHOW_CURSOR = `${ESCAPE}[?25h`;
const ERASE_BELOW = `${ESCAPE}[J`;
const BELL = '\u0007';
/** The question is drawn again after this time if Ctrl-Z stopped nothing, as in a container. */
const STOPPED_MS = 200;

const isEnter = ({ name }: Key): boolean => name === 'return' || name === 'enter';
const isCtrl = (key: Key, name: string): boolean => key.ctrl === true && key.name === name;
const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Drops what was typed before a question is shown, as `sudo` does: the rest of a paste, or one press of Enter too many,
 * must not answer a question about money.
 */
export async function dropTyped(input: NodeJS.ReadableStream & { readonly isTTY?: boolean }): Promise<void> {
  if (!input.isTTY) return;
  let quiet = 0;
  const drop = () => {
    quiet = 0;
  };
  input.on('data', drop);
  input.resume();
  // Two turns: reading begins after the first one, and a terminal gives one line a turn.
  for (; quiet < 2; quiet++) await turnOfLoop();
  input.off('data', drop);
  input.pause();
}

/** Writes to a terminal, and keeps the last frame without the moves that erase the one before. */
class Frames extends Writable {
  frame = '';
  readonly #output: NodeJS.WriteStream;
  constructor(output: NodeJS.WriteStream) {
    super({ decodeStrings: false });
    this.#output = output;
  }
  get columns() {
    return this.#output.columns;
  }
  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.#output.write(chunk);
    const drawn = chunk.replace(MOVES, '');
    this.frame = drawn === '' ? this.frame + chunk : drawn;
    done();
  }
}

const MOVES = new RegExp(`^(?:${ESCAPE}\\[\\d*[A-HK])+`);

/** Lets through the keys of a line that may be typed, but no Enter after a refused letter. */
function only(mayBe: (line: string) => boolean, refused: () => void): (press: Press) => boolean {
  let line = '';
  let isRefused = false;
  return ({ text = '', key }) => {
    if (key.ctrl) return key.name === 'c' || key.name === 'd';
    const wasRefused = isRefused;
    if (isEnter(key) || key.name === 'backspace') isRefused = false;
    if (isEnter(key)) return !wasRefused;
    if (key.name === 'backspace') line = line.slice(0, -1);
    else if (text !== '' && mayBe(line + text)) line += text;
    else {
      isRefused ||= text !== '' && key.name !== 'paste';
      refused();
      return false;
    }
    return true;
  };
}

/**
 * Gathers keys that come in one go. An Enter with more behind it was pasted, even if the terminal marks no pastes: all
 * of it is then one line of text.
 */
function inBursts(hear: (press: Press) => void): (text: string | undefined, key: Key) => void {
  let presses: Press[] = [];
  let last: Press | null = null;
  let isPasting = false;
  const hearLast = () => {
    const press = last;
    last = null;
    if (press) hear(press);
  };
  const pass = () => {
    if (isPasting || presses.length === 0) return;
    const burst = presses;
    presses = [];
    hearLast();
    if (burst.some(({ key }, at) => key.name === 'paste-end' || (isEnter(key) && at < burst.length - 1))) {
      const parts = burst.map(({ text = '', key }) =>
        isEnter(key) || key.name === 'tab' ? ' ' : key.ctrl ? '' : text,
      );
      const text = parts.join('').replace(/ +/g, ' ').trim();
      if (text !== '') hear({ text, key: { name: 'paste', sequence: text } });
      return;
    }
    last = burst.pop() ?? null;
    burst.forEach(hear);
    // A line that came in one go is looked up before its Enter is handled.
    if (burst.length > 0) setImmediate(hearLast);
    else hearLast();
  };
  return (text, key) => {
    if (isCtrl(key, 'c')) presses = [];
    if (key.name === 'paste-start') isPasting = true;
    if (key.name === 'paste-end' || isCtrl(key, 'c')) isPasting = false;
    presses.push({ text, key });
    queueMicrotask(pass);
  };
}

/**
 * Opens the keyboard of one question. A paste is one line of text: none of its lines answers this question or a later
 * one. Ctrl-Z stops the process, and the question is drawn again when it continues.
 */
export async function openKeyboard({ input, output }: TerminalOn, { isBack, mayBe, isAgain, back, ended }: KeysFor) {
  const frames = new Frames(output);
  const keys = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => input.setRawMode(isRaw),
  });
  let isStopped = false;
  const take = (isOn: boolean) => {
    input.setRawMode(isOn);
    output.write(isOn ? PASTE_ON : PASTE_OFF + SHOW_CURSOR);
  };
  const leave = () => take(false);
  const goOn = () => {
    isStopped = false;
    // The shell has changed the mode, and Node does not know it.
    input.setRawMode(false);
    take(true);
    output.write(frames.frame);
  };
  const stop = () => {
    isStopped = true;
    leave();
    output.write(`${ERASE_BELOW}\n`);
    process.kill(0, 'SIGTSTP');
    setTimeout(() => isStopped && goOn(), STOPPED_MS);
  };
  const isFit = mayBe && only(mayBe, () => void output.write(BELL));
  const heard = inBursts((press) => {
    if (isCtrl(press.key, 'z') && process.platform !== 'win32') stop();
    else if (isBack?.(press.key)) back();
    else if (!isFit || isFit(press)) keys.emit('keypress', press.text, press.key);
  });

  emitKeypressEvents(input);
  take(true);
  if (!isAgain) await dropTyped(input);
  input.on('keypress', heard).on('end', ended).on('error', ended).resume();
  // Readline pauses its input when it closes.
  keys.once('pause', ended);
  process.on('SIGCONT', goOn).once('exit', leave);
  return {
    keys,
    frames,
    close(): void {
      isStopped = false;
      process.off('SIGCONT', goOn).off('exit', leave);
      leave();
      input.off('keypress', heard).off('end', ended).off('error', ended).pause();
    },
  };
}
