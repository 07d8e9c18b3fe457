import type { Prompts } from './streams.ts';

/**
 * Opens prompts on stderr, so that stdout has only the result. Loaded when the first question is asked.
 * @param isPlain true for questions as lines: for a screen reader, or where nothing can be redrawn
 */
export function terminalPrompts(signal: AbortSignal, isPlain: boolean): Prompts {
  const on = { input: process.stdin, output: process.stderr, signal };
  return latePrompts(async () =>
    isPlain ? (await import('./plain-prompts.ts')).plainPrompts(on) : (await import('./questions.ts')).questions(on),
  );
}

/** Prompts that are opened when a question is asked. */
export const latePrompts = (open: () => Promise<Prompts>): Prompts => ({
  confirm: async (message, preset) => (await open()).confirm(message, preset),
  text: async (message, check, preset) => (await open()).text(message, check, preset),
  choose: async (message, choices) => (await open()).choose(message, choices),
  steps: async () => (await open()).steps(),
});
