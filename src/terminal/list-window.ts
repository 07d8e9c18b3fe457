import {
  createPrompt,
  isBackspaceKey,
  isDownKey,
  isEnterKey,
  isUpKey,
  makeTheme,
  useEffect,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import type { StepAnswer, StepChoice, StepLine } from './streams.ts';
import { cut, textWidth } from './text.ts';

/** The keys at the end of a question, in the same words everywhere. */
export const keysText = (own: readonly string[], canGoBack: boolean): string =>
  [...own, ...(canGoBack ? ['Esc back'] : []), 'Ctrl-C quit'].join(' · ');

/** The state of a choice, which survives a resize. */
export interface ListState {
  /** The marked line. */
  at: number;
  /** The first line that is shown. */
  top: number;
  isDetailed: boolean;
  /** True while a text to find is typed. */
  isTyping: boolean;
  /** The number that is being typed. */
  digits: string;
}

interface ListQuestion {
  /** The answer is the index of a line. */
  readonly choice: StepChoice<unknown>;
  readonly state: ListState;
  readonly canGoBack: boolean;
  /** Lines and columns of the terminal. */
  readonly size: { readonly rows: number; readonly columns: number };
  readonly isColoured: boolean;
}

/** The least lines of a page, however small the terminal. */
const LEAST_PAGE = 5;
/** On a terminal with this many lines, details are shown from the start. */
const DETAILED_ROWS = 44;
const HIDE_CURSOR = '\u001b[?25l';
const CYAN = '\u001b[36m';
const NO_CYAN = '\u001b[39m';
/** `❯ ` */
const MARK_WIDTH = 2;

export const isChoice = <T>(line: StepLine<T> | undefined): line is Extract<StepLine<T>, { value: T }> =>
  line !== undefined && 'value' in line;

export function newListState<T>({ lines, preset }: StepChoice<T>, rows: number): ListState {
  const wanted = preset === undefined ? -1 : lines.findIndex((line) => isChoice(line) && line.value === preset);
  const at = wanted < 0 ? lines.findIndex(isChoice) : wanted;
  return { at, top: 0, isDetailed: rows >= DETAILED_ROWS, isTyping: false, digits: '' };
}

/**
 * Shows lines to choose from, in a window that moves with the mark. Under them: which of them are shown, the details of
 * the marked one, and the keys.
 */
export const listWindow = createPrompt<StepAnswer<number>, ListQuestion>((question, done) => {
  const { choice, state, size } = question;
  const theme = makeTheme({});
  const [isDone, setDone] = useState(false);
  const prefix = usePrefix({ theme, status: isDone ? 'done' : 'idle' });
  const [{ heading = [], lines }, setDrawn] = useState<Pick<StepChoice<unknown>, 'heading' | 'lines'>>(choice);
  const [turn, setTurn] = useState(0);
  const [, setTick] = useState(0);
  useEffect(() => {
    let ticks = 0;
    const timer = choice.left && setInterval(() => setTick(++ticks), 1_000);
    return () => clearInterval(timer);
  }, []);
  useKeypress((key, line) => {
    const typed = line.line;
    line.clearLine(0);
    const outcome = pressed({ ...key, typed }, question, lines);
    if (outcome === 'back') done({ kind: 'back' });
    else if (outcome === 'chosen') {
      setDone(true);
      done({ kind: 'answer', value: state.at });
    } else {
      if (outcome === 'changed' || outcome === 'shifted') {
        const drawn = choice.redrawn?.() ?? choice;
        if (outcome === 'changed') {
          state.at = placeOf(lines[state.at], drawn.lines);
          state.top = 0;
        }
        setDrawn(drawn);
      }
      setTurn(turn + 1);
    }
  });
  const asked = `${prefix} ${theme.style.message(choice.message, 'idle')}`;
  if (isDone) return `${asked} ${theme.style.answer(lines[state.at]?.name.split('\n')[0] ?? '')}`;
  const above = [asked, ...heading.map((one) => `  ${one}`)];
  const details = state.isDetailed ? detailsOf(question, lines) : [];
  const keys = [
    ...wrapped(keysOf(question), size.columns),
    keysText([choice.sideways ? '←↑↓→ move' : '↑↓ move', 'Enter choose'], question.canGoBack),
  ];
  const marked = lines[state.at];
  const left = choice.left && isChoice(marked) ? [choice.left(marked.value)] : [];
  const room = Math.max(LEAST_PAGE, size.rows - above.length - details.length - left.length - keys.length - 3);
  const highlight = (text: string) =>
    question.isColoured ? `${CYAN}${text.replaceAll(NO_CYAN, CYAN)}${NO_CYAN}` : text;
  const { shown, mark } = pageOf(lines, state, room, highlight);
  const under = [...details, ...(mark === null ? [] : [mark]), ...left, ...keys.map(theme.style.help)];
  return `${[...above, ...shown, '', ...under].join('\n')}${HIDE_CURSOR}`;
});

interface Pressed {
  readonly name: string;
  readonly ctrl: boolean;
  readonly typed: string;
}

function pressed(
  key: Pressed,
  { choice, state, size, canGoBack }: ListQuestion,
  lines: readonly StepLine<unknown>[],
): 'back' | 'chosen' | 'changed' | 'shifted' | 'moved' {
  const { search, keys = [] } = choice;
  if (state.isTyping && search) {
    if (isEnterKey(key)) state.isTyping = false;
    else if (key.name === 'escape') {
      state.isTyping = false;
      search.set('');
      return 'changed';
    } else if (!isUpKey(key) && !isDownKey(key)) {
      search.set(isBackspaceKey(key) ? search.text().slice(0, -1) : search.text() + key.typed);
      return 'changed';
    }
    if (isEnterKey(key)) return 'moved';
  }
  const digits = /^[\d.]$/.test(key.typed) ? state.digits + key.typed : '';
  state.digits = digits;
  if (choice.sideways && (key.name === 'left' || key.name === 'right')) {
    choice.sideways(key.name === 'left' ? -1 : 1);
    return 'shifted';
  }
  if (key.name === 'escape' || key.name === 'left') return canGoBack ? 'back' : 'moved';
  if (isEnterKey(key)) return isChoice(lines[state.at]) ? 'chosen' : 'moved';
  if (digits !== '') return jump(state, lines, digits);
  if (isUpKey(key)) step(state, lines, -1, 1);
  else if (isDownKey(key)) step(state, lines, 1, 1);
  else if (key.name === 'pageup') step(state, lines, -1, Math.floor(size.rows / 3));
  else if (key.name === 'pagedown') step(state, lines, 1, Math.floor(size.rows / 3));
  else if (key.name === 'home') step(state, lines, -1, lines.length);
  else if (key.name === 'end') step(state, lines, 1, lines.length);
  else if (key.typed === 'i' && choice.details) state.isDetailed = !state.isDetailed;
  else if (key.typed === '/' && search) state.isTyping = true;
  else {
    const own = keys.find((one) => one.key === key.typed);
    own?.press();
    if (own) return 'changed';
  }
  return 'moved';
}

/** Moves the mark by `times` lines that can be chosen, or as far as possible. */
function step(state: ListState, lines: readonly StepLine<unknown>[], by: 1 | -1, times: number): void {
  let left = times;
  for (let at = state.at + by; left > 0 && at >= 0 && at < lines.length; at += by) {
    if (!isChoice(lines[at])) continue;
    state.at = at;
    left--;
  }
}

/** Marks the line of that number; if no line has it, the last digit begins another number. */
function jump(state: ListState, lines: readonly StepLine<unknown>[], digits: string): 'moved' {
  const choices = lines.filter(isChoice);
  const found = choices.find((line, index) => (line.number ?? String(index + 1)) === digits);
  if (found) state.at = lines.indexOf(found);
  else if (digits.length > 1 && !choices.some((line) => line.number?.startsWith(digits))) {
    state.digits = digits.slice(-1);
    return jump(state, lines, state.digits);
  }
  return 'moved';
}

/** Finds the marked value among other lines, else the first line that can be chosen. */
function placeOf(marked: StepLine<unknown> | undefined, lines: readonly StepLine<unknown>[]): number {
  const same = isChoice(marked) ? lines.findIndex((line) => isChoice(line) && line.value === marked.value) : -1;
  return same < 0 ? lines.findIndex(isChoice) : same;
}

/** Finds the whole lines around the mark that fit into `room`, and `12–20 of 46` if some are out of sight. */
function pageOf(
  lines: readonly StepLine<unknown>[],
  state: ListState,
  room: number,
  highlight: (text: string) => string,
): { shown: string[]; mark: string | null } {
  if (lines.length === 0) return { shown: ['  Nothing matches.'], mark: null };
  const heights = lines.map(({ name }) => name.split('\n').length);
  const endFrom = (top: number) => {
    let left = room;
    let end = top;
    while (end < lines.length && (end === top || left >= (heights[end] ?? 1))) left -= heights[end++] ?? 1;
    return end;
  };
  const first = lines.findIndex(isChoice);
  state.top = Math.min(state.top, state.at <= first ? 0 : state.at);
  while (endFrom(state.top) <= state.at) state.top++;
  // No room stays empty while lines are out of sight above.
  while (state.top > 0 && endFrom(state.top - 1) === lines.length) state.top--;
  const end = endFrom(state.top);
  const shown = lines.slice(state.top, end).map((line, index) => {
    const isMarked = state.top + index === state.at;
    const text = `${isMarked ? '❯' : ' '} ${line.name.replaceAll('\n', `\n${' '.repeat(MARK_WIDTH)}`)}`;
    return isMarked ? highlight(text) : text;
  });
  const count = (until: number) => lines.slice(0, until).filter(isChoice).length;
  const mark =
    end - state.top < lines.length ? `${count(state.top) + 1}–${count(end)} of ${count(lines.length)}` : null;
  return { shown, mark };
}

/** The details of the marked line, with as many lines as for any other, so that the list above does not jump. */
function detailsOf({ choice, state, size }: ListQuestion, lines: readonly StepLine<unknown>[]): string[] {
  const { details } = choice;
  const marked = lines[state.at];
  if (!details || !isChoice(marked)) return [];
  const most = Math.max(0, Math.floor(size.rows / 2) - 2);
  const height = Math.min(most, Math.max(...lines.map((line) => (isChoice(line) ? details(line.value).length : 0))));
  const said = details(marked.value).slice(0, height);
  return [...said, ...Array.from({ length: height - said.length }, () => ''), ''].map((line) =>
    cut(line, size.columns - 1),
  );
}

function keysOf({ choice: { keys = [], search, details }, state }: ListQuestion): string[] {
  if (state.isTyping && search) return [`Search: ${search.text()}▏`, 'Enter keep · Esc clear'];
  return [
    ...keys.map(({ key, label }) => `${key} ${label()}`),
    ...(search ? [search.text() === '' ? `/ ${search.hint ?? 'search'}` : `/ search: ${search.text()}`] : []),
    ...(details ? [`i ${state.isDetailed ? 'hide' : 'show'} details`] : []),
  ];
}

/** Puts parts on lines, broken only between them. */
function wrapped(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    const longer = `${line} · ${part}`;
    if (line !== undefined && textWidth(longer) < columns) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}
