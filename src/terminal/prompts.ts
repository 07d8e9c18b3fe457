import type { Prompts } from './streams.ts';

/**
 * Prompts on stderr, so that stdout keeps to the result. Loaded when the first question is asked.
 * @param isPlain questions as lines, where nothing can be redrawn or it would be read aloud
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
