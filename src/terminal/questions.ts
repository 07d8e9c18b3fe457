import { makeTheme, Separator } from '@inquirer/core';
import { confirm, input, search, select } from '@inquirer/prompts';
import { type KeysFor, openKeyboard, type TerminalOn } from './keyboard.ts';
import { isChoice, keysText, type ListState, listWindow, newListState } from './list-window.ts';
import { interruptedAtQuestion, type Prompts, type StepAnswer, type StepChoice, type StepPrompts } from './streams.ts';
import { textWidth, wrap } from './text.ts';

interface QuestionsOn extends TerminalOn {
  readonly signal: AbortSignal;
}

type Context = NonNullable<Parameters<typeof confirm>[1]>;

const CLEAR_SCREEN = '\u001b[H\u001b[2J';
/** Room for `? ` before a question, and for `(Y/n) yes` or a short answer after it. */
const AROUND = 14;
const YES_OR_NO = /^(y|ye|yes|n|no)$/i;
const isEscape: KeysFor['isBack'] = ({ name }) => name === 'escape';
const isEscapeOrLeft: KeysFor['isBack'] = ({ name }) => name === 'escape' || name === 'left';

/** Questions of @inquirer/prompts, in one theme; `listWindow` is our own. */
export function questions(on: QuestionsOn): Prompts {
  const single = stepsOn(on, false);
  const theme = themeOf(on, false);
  return {
    confirm: async (message, preset) =>
      answered(
        await ask(on, (context) => confirm({ message, default: preset, theme }, context), {
          mayBe: (line) => YES_OR_NO.test(line),
        }),
      ),
    text: async (message, check, preset) => answered(await single.text({ message, check, preset })),
    choose: async (message, lines) => answered(await single.choose({ message, lines })),
    steps: async () => stepsOn(on, true),
  };
}

/** The theme of every question: it breaks lines where the terminal ends, and names the keys. */
function themeOf({ output }: TerminalOn, canGoBack: boolean) {
  const { style } = makeTheme({});
  const columns = output.columns ?? 80;
  const keys = style.help(keysText(['↑↓ move', 'Enter choose'], canGoBack));
  const bold = (line: string) => style.message(line, 'idle');
  const message = (text: string) =>
    wrap(text, columns - (canGoBack ? 3 : AROUND))
      .map(bold)
      .join('\n  ');
  const error = (text: string) => style.error(wrap(text, columns - 3).join('\n  '));
  // A sentence that takes the place of choices is an error.
  return { style: { message, error, disabled: error, keysHelpTip: () => keys } };
}

/** The theme of a line to type: if a person can go back, the keys follow the question, and the line is under it. */
function lineTheme(on: TerminalOn, canGoBack: boolean) {
  const { style } = makeTheme({});
  const theme = themeOf(on, canGoBack);
  const keys = keysText([], true);
  const message = (text: string, status: string) => {
    const asked = theme.style.message(text);
    if (!canGoBack || status === 'done') return asked;
    const isShort = textWidth(text) + textWidth(keys) + AROUND / 2 < (on.output.columns ?? 80);
    return `${asked}${isShort ? '  ' : '\n  '}${style.help(keys)}\n${style.highlight('❯')}`;
  };
  return { style: { ...theme.style, message } };
}

const NOTHING: never = undefined as never;

/** @param canGoBack true in a walk: an answered question leaves the screen, since the walk shows each answer */
function stepsOn(on: QuestionsOn, canGoBack: boolean): StepPrompts {
  return {
    text: async ({ message, preset, mayBeEmpty, check }) => {
      const validate = async (typed: string) => {
        const text = typed.trim();
        if (text === '' && mayBeEmpty) return true;
        if (text === '' && canGoBack) return 'Type an answer, or press Esc to go back.';
        return (await check(text)) ?? true;
      };
      const config = { message, validate, theme: lineTheme(on, canGoBack), ...(preset && { default: preset }) };
      const answer = await ask(on, (context) => input(config, context), { isBack: isEscape }, canGoBack);
      return answer.kind === 'back' ? answer : { kind: 'answer', value: answer.value.trim() };
    },
    choose: (question) => (question.redrawn ? inWindow(on, question, canGoBack) : chosen(on, question, canGoBack)),
    search: ({ message, find }) => {
      const theme = themeOf(on, canGoBack);
      const source = async (text = '') => {
        const found = text.trim() === '' ? [] : await find(text.trim());
        return typeof found === 'string' ? [{ name: found, value: NOTHING, disabled: ' ' }] : found;
      };
      return ask(on, (context) => search({ message, source, theme }, context), { isBack: isEscape }, canGoBack);
    },
  };
}

function chosen<T>(on: QuestionsOn, { message, lines, preset }: StepChoice<T>, canGoBack: boolean) {
  const config = {
    message,
    choices: lines.map((line) => ('value' in line ? line : new Separator(line.name))),
    default: preset,
    loop: false,
    pageSize: Math.max(5, (on.output.rows ?? 24) - 6),
    theme: themeOf(on, canGoBack),
  };
  return ask(on, (context) => select<T>(config, context), { isBack: isEscapeOrLeft }, canGoBack);
}

/** Asks in a window until there is an answer: after a resize the question is asked again in its state. */
async function inWindow<T>(
  on: QuestionsOn,
  question: StepChoice<T>,
  canGoBack: boolean,
  known?: ListState,
): Promise<StepAnswer<T>> {
  const { output } = on;
  const size = { rows: output.rows ?? 24, columns: output.columns ?? 80 };
  const state = known ?? newListState(question, size.rows);
  const resized = new AbortController();
  const resize = () => resized.abort();
  output.on('resize', resize);
  try {
    const config = { choice: question, state, size, canGoBack, isColoured: output.hasColors?.() === true };
    const asked = await ask(
      on,
      (context) => listWindow(config, context),
      { isAgain: known !== undefined },
      canGoBack,
      resized.signal,
    );
    const answer = asked.kind === 'answer' ? asked.value : asked;
    if (answer.kind === 'back') return answer;
    const line = (question.redrawn?.() ?? question).lines[answer.value];
    return isChoice(line) ? { kind: 'answer', value: line.value } : { kind: 'back' };
  } catch (error) {
    if (!resized.signal.aborted || on.signal.aborted) throw error;
  } finally {
    output.off('resize', resize);
  }
  // Only the terminal knows how many lines the old question takes now, so the screen is cleared.
  output.write(CLEAR_SCREEN);
  question.cleared?.();
  return inWindow(on, { ...question, ...question.redrawn?.() }, canGoBack, state);
}

/** Shows one question. @throws Problem `interrupted` for Ctrl-C, Ctrl-D and an end of input */
async function ask<T>(
  { input, output, signal }: QuestionsOn,
  show: (context: Context) => Promise<T>,
  keys: Pick<KeysFor, 'isBack' | 'mayBe' | 'isAgain'>,
  canGoBack = false,
  resized?: AbortSignal,
): Promise<StepAnswer<T>> {
  const left = new AbortController();
  const keyboard = await openKeyboard(
    { input, output },
    {
      ...keys,
      isBack: canGoBack ? keys.isBack : undefined,
      back: () => left.abort('back'),
      ended: () => left.abort('ended'),
    },
  );
  try {
    const signals = AbortSignal.any([signal, left.signal, ...(resized ? [resized] : [])]);
    const value = await show({
      input: keyboard.keys,
      output: keyboard.frames,
      signal: signals,
      clearPromptOnDone: canGoBack,
    });
    return { kind: 'answer', value };
  } catch (error) {
    if (!(error instanceof Error) || !/^(ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(error.name)) throw error;
    if (left.signal.reason === 'back') return { kind: 'back' };
    throw interruptedAtQuestion(error);
  } finally {
    keyboard.close();
  }
}

function answered<T>(answer: StepAnswer<T>): T {
  if (answer.kind === 'answer') return answer.value;
  throw new Error('a question that has no way back was left');
}
