import { problem } from '../../kernel/problems.ts';
import type { Asks } from './step-prompts.ts';
import type { Prompts } from './streams.ts';

/**
 * Prompts on stderr, so that stdout keeps to the result. Loaded when the first question is asked.
 * @param isPlain questions as lines, where nothing can be redrawn or it would be read aloud
 */
export function terminalPrompts(signal: AbortSignal, isPlain: boolean): Prompts {
  const context = { input: process.stdin, output: process.stderr, signal };
  if (isPlain) {
    const plainly = async () => (await import('./plain-prompts.ts')).plainPrompts(context);
    return {
      confirm: async (message, preset) => (await plainly()).confirm(message, preset),
      text: async (message, check) => (await plainly()).text(message, check),
      choose: async (message, choices) => (await plainly()).choose(message, choices),
      steps: async () => (await plainly()).steps(),
    };
  }
  const asked: Asks = async (ask) => {
    try {
      return await ask(await import('@inquirer/prompts'));
    } catch (error) {
      if (error instanceof Error && /^(ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(error.name)) {
        throw problem('interrupted', { message: 'Interrupted at a question.', cause: error });
      }
      throw error;
    }
  };
  return {
    confirm: (message, preset) => asked((library) => library.confirm({ message, default: preset }, context)),
    text: (message, check) =>
      asked((library) =>
        library.input({ message, validate: async (value) => (await check(value.trim())) ?? true }, context),
      ).then((value) => value.trim()),
    choose: (message, choices) =>
      asked((library) =>
        library.select({ message, choices: choices.map(({ name, value }) => ({ name, value })) }, context),
      ),
    steps: async () => (await import('./step-prompts.ts')).stepPrompts(context, asked),
  };
}
