import type { StepAnswer, StepChoice, StepPrompts } from './streams.ts';

/** Asks one question; an interruption of it is a problem. */
export type Asks = <T>(ask: (library: typeof import('@inquirer/prompts')) => Promise<T>) => Promise<T>;

interface PromptContext {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

interface Key {
  readonly name?: string;
}

/** Lines around a choice: its question, the keys, a spare one, and the line that the walk prints next. */
const AROUND_A_CHOICE = 6;
const LEAST_PAGE = 5;

/**
 * The questions of a walk on a terminal: Esc steps back, and ← too where there is nothing to type. An answered question
 * leaves the screen; the walk says in a line of its own what was answered.
 */
export function stepPrompts({ input, output, signal }: PromptContext, asked: Asks): StepPrompts {
  async function stepping<T>(
    backKeys: readonly string[],
    ask: (
      library: typeof import('@inquirer/prompts'),
      context: { readonly signal: AbortSignal },
    ) => Promise<T>,
  ): Promise<StepAnswer<T>> {
    const back = new AbortController();
    const press = (_text: unknown, key: Key | undefined) => {
      if (key?.name !== undefined && backKeys.includes(key.name)) back.abort();
    };
    input.on('keypress', press);
    const context = {
      input,
      output,
      signal: AbortSignal.any([signal, back.signal]),
      clearPromptOnDone: true,
    };
    try {
      return await asked(async (library) => {
        try {
          return { kind: 'answer' as const, value: await ask(library, context) };
        } catch (error) {
          if (back.signal.aborted && !signal.aborted) return { kind: 'back' as const };
          throw error;
        }
      });
    } finally {
      input.off('keypress', press);
    }
  }

  return {
    text: ({ message, preset, mayBeEmpty, check }) =>
      stepping(['escape'], async (library, context) => {
        const typed = await library.input(
          {
            message,
            ...(preset !== undefined && { default: preset }),
            validate: async (value) => {
              const text = value.trim();
              if (text === '') return mayBeEmpty === true || 'Type an answer, or press Esc to go back.';
              return (await check(text)) ?? true;
            },
          },
          context,
        );
        return typed.trim();
      }),
    async choose<T>(asked: StepChoice<T>) {
      for (let question = asked; ; ) {
        const resized = new AbortController();
        const resize = () => resized.abort();
        const looked: Looked<T> = { at: question.preset };
        output.on('resize', resize);
        try {
          return await stepping<T>(['escape', 'left'], (library, context) =>
            library.select<T>(selectOf(library, question, output, looked), {
              ...context,
              signal: AbortSignal.any([context.signal, resized.signal]),
            }),
          );
        } catch (error) {
          if (!resized.signal.aborted || signal.aborted) throw error;
          // How many lines the old question takes now, only the terminal knows: the screen begins anew.
          output.write(CLEAR_SCREEN);
          asked.cleared?.();
          question = { ...question, ...asked.redrawn?.(), preset: looked.at };
        } finally {
          output.off('resize', resize);
        }
      }
    },
  };
}

/** `❯ ` */
const MARK_WIDTH = 2;
const CYAN = '\u001b[36m';
const NO_CYAN = '\u001b[39m';
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** The line of a choice that the mark stands at. */
interface Looked<T> {
  at: T | undefined;
}

function selectOf<T>(
  library: typeof import('@inquirer/prompts'),
  { message, heading = [], lines, preset }: StepChoice<T>,
  output: NodeJS.WriteStream,
  looked: Looked<T>,
) {
  const choices = lines.map((line) =>
    'value' in line
      ? { name: indented(line.name), value: line.value }
      : new library.Separator(` ${line.name}`),
  );
  const hasColour = output.hasColors?.() === true;
  return {
    // What stands above the choice stays in sight while the lines move under it.
    message: [message, ...heading.map((line) => `  ${line}`)].join('\n'),
    choices,
    ...(preset !== undefined && { default: preset }),
    loop: false,
    pageSize: Math.max(LEAST_PAGE, (output.rows ?? 24) - AROUND_A_CHOICE - heading.length),
    theme: {
      style: {
        keysHelpTip: () => '↑↓ move · Enter choose · Esc back · Ctrl-C leave',
        // The library tells nobody where its mark stands but whoever paints the line.
        highlight(text: string) {
          const at = choices.find((choice) => 'value' in choice && choice.name === text.slice(MARK_WIDTH));
          if (at && 'value' in at) looked.at = at.value;
          return hasColour ? `${CYAN}${text.replaceAll(NO_CYAN, CYAN)}${NO_CYAN}` : text;
        },
      },
    },
  };
}

/** The further lines of a choice, under its first one. */
const indented = (name: string): string => name.replaceAll('\n', '\n  ');
