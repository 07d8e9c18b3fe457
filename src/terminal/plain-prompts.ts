import { createInterface } from 'node:readline/promises';
import { dropTyped } from './keyboard.ts';
import {
  interruptedAtQuestion,
  type Prompts,
  type StepAnswer,
  type StepChoice,
  type StepPrompts,
  type StepSearch,
} from './streams.ts';
import { harmless, spokenLine } from './text.ts';

/** Questions as lines, for a screen reader and for a terminal that can't move its cursor: nothing is redrawn. */

interface PlainOn {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

const BACK = { kind: 'back' } as const;

export function plainPrompts({ input, output, signal }: PlainOn): Prompts {
  const say = (line: string) => void output.write(`${line}\n`);
  /** Reads a line for each question, and nothing between questions. */
  async function typed(question: string): Promise<string> {
    await dropTyped(input);
    const lines = createInterface({ input, output, terminal: false });
    const closed = new Promise<never>((_resolve, reject) => {
      lines.once('close', () => reject(interruptedAtQuestion()));
    });
    closed.catch(() => undefined);
    try {
      return (await Promise.race([lines.question(`${question} `, { signal }), closed])).trim();
    } catch (error) {
      if (!signal.aborted) throw error;
      throw interruptedAtQuestion(error);
    } finally {
      lines.close();
    }
  }
  async function asked(question: string, check: (value: string) => Promise<string | null>): Promise<string> {
    for (;;) {
      const value = await typed(question);
      const wrong = await check(value);
      if (wrong === null) return value;
      say(spokenLine(wrong));
    }
  }
  /** Asks for the number of a line; returns its index, or null to go back. */
  async function numbered(message: string, names: readonly string[], also = ''): Promise<number | null> {
    say(spokenLine(message));
    for (const [index, name] of names.entries()) {
      const [first = '', ...more] = name.split('\n');
      for (const line of [`${index + 1}: ${first}`, ...more]) say(spokenLine(line));
    }
    const given = await asked(`Type a number, 1 to ${names.length}${also}:`, async (value) =>
      (also !== '' && isBack(value)) || (/^\d+$/.test(value) && names[Number(value) - 1] !== undefined)
        ? null
        : `Type a number from 1 to ${names.length}.`,
    );
    return isBack(given) ? null : Number(given) - 1;
  }
  return {
    async confirm(message, preset) {
      const given = await asked(
        `${spokenLine(message)} Yes or no, Enter is ${preset ? 'yes' : 'no'}:`,
        async (value) => (/^(y|yes|n|no|)$/i.test(value) ? null : 'Type yes or no.'),
      );
      return given === '' ? preset : /^y/i.test(given);
    },
    async text(message, check, preset = '') {
      const hint = preset && `, Enter is ${preset}`;
      return (await asked(`${spokenLine(message)}${hint}:`, async (value) => check(value || preset))) || preset;
    },
    async choose(message, choices) {
      const at = await numbered(
        message,
        choices.map(({ name }) => name),
      );
      const chosen = choices[at ?? -1];
      if (chosen === undefined) throw new Error('no line was chosen');
      return chosen.value;
    },
    steps: async () =>
      withSearch({
        async text({ message, preset, mayBeEmpty, check }) {
          const hint = preset === undefined ? '' : `, Enter is ${preset}`;
          const given = await asked(`${spokenLine(message)}${hint}, or back:`, async (value) => {
            const text = value || (preset ?? '');
            if (isBack(value)) return null;
            if (text === '') return mayBeEmpty === true ? null : 'Type an answer, or back.';
            return check(text);
          });
          return isBack(given) ? BACK : { kind: 'answer', value: given || (preset ?? '') };
        },
        async choose<T>({ message, heading = [], lines, preset }: StepChoice<T>): Promise<StepAnswer<T>> {
          for (const line of heading) say(spokenLine(line));
          const choices = lines.flatMap((line) => ('value' in line ? [line] : []));
          for (const line of lines) if (!('value' in line)) say(spokenLine(line.name));
          const at = await numbered(
            preset === undefined
              ? message
              : `${message} (${choices.findIndex(({ value }) => value === preset) + 1} is chosen now)`,
            choices.map(({ name }) => name),
            ', or back',
          );
          const chosen = at === null ? undefined : choices[at];
          return chosen ? { kind: 'answer', value: chosen.value } : BACK;
        },
      }),
  };
}

const isBack = (value: string): boolean => /^back$/i.test(value);

/** Finds a choice by two questions: a text, then which match. Going back from the second leads to the first. */
export const withSearch = (steps: Pick<StepPrompts, 'text' | 'choose'>): StepPrompts => ({
  ...steps,
  async search<T>({ message, find }: StepSearch<T>): Promise<StepAnswer<T>> {
    for (;;) {
      const check = async (text: string) => {
        const found = await find(text);
        return typeof found === 'string' ? found : null;
      };
      const typed = await steps.text({ message, check });
      if (typed.kind === 'back') return typed;
      const found = await find(typed.value);
      if (typeof found === 'string') continue;
      const [only] = found;
      if (found.length === 1 && only && !only.isGuess) return { kind: 'answer', value: only.value };
      const chosen = await steps.choose({ message: `Which one is ${harmless(typed.value)}?`, lines: found });
      if (chosen.kind === 'answer') return chosen;
    }
  },
});
