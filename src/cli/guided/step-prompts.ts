import type { Asks } from '../prompts.ts';
import type { StepAnswer, StepChoice, StepPrompts } from '../streams.ts';

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
    ask: (library: typeof import('@inquirer/prompts'), context: object) => Promise<T>,
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
    choose: <T>({ message, heading = [], lines, preset }: StepChoice<T>) =>
      stepping<T>(['escape', 'left'], (library, context) =>
        library.select<T>(
          {
            // What stands above the choice stays in sight while the lines move under it.
            message: [message, ...heading.map((line) => `  ${line}`)].join('\n'),
            choices: lines.map((line) =>
              'value' in line
                ? { name: indented(line.name), value: line.value }
                : new library.Separator(` ${line.name}`),
            ),
            ...(preset !== undefined && { default: preset }),
            loop: false,
            pageSize: Math.max(LEAST_PAGE, (output.rows ?? 24) - AROUND_A_CHOICE - heading.length),
            theme: { style: { keysHelpTip: () => '↑↓ move · Enter choose · Esc back · Ctrl-C leave' } },
          },
          context,
        ),
      ),
  };
}

/** The further lines of a choice, under its first one. */
const indented = (name: string): string => name.replaceAll('\n', '\n  ');
