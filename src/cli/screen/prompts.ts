import { problem } from '../../kernel/problems.ts';
import type { Asks } from './step-prompts.ts';
import type { Prompts } from './streams.ts';

/** Prompts on stderr, so that stdout keeps to the result. Loaded when the first question is asked. */
export function terminalPrompts(signal: AbortSignal): Prompts {
  const context = { input: process.stdin, output: process.stderr, signal };
  const asked: Asks = async (ask) => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Error && /^(ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(error.name)) {
        throw problem('interrupted', { message: 'Interrupted at a question.', cause: error });
      }
      throw error;
    }
  };
  const library = () => import('@inquirer/prompts');
  return {
    confirm: (message, preset) =>
      asked(async () => (await library()).confirm({ message, default: preset }, context)),
    async text(message, check) {
      const validate = async (value: string) => (await check(value.trim())) ?? true;
      const value = await asked(async () => (await library()).input({ message, validate }, context));
      return value.trim();
    },
    choose: (message, choices) =>
      asked(async () =>
        (await library()).select(
          { message, choices: choices.map(({ name, value }) => ({ name, value })) },
          context,
        ),
      ),
    steps: async () => (await import('./step-prompts.ts')).stepPrompts(context, asked),
  };
}
