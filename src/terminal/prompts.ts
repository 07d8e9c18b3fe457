import type { Prompts, StepAnswer, StepPrompts } from './streams.ts';

/**
 * Prompts on stderr, so that stdout keeps to the result. Loaded when the first question is asked.
 * @param isPlain questions as lines, where nothing can be redrawn or it would be read aloud
 */
export function terminalPrompts(signal: AbortSignal, isPlain: boolean): Prompts {
  const context = { input: process.stdin, output: process.stderr, signal };
  if (isPlain) return latePrompts(async () => (await import('./plain-prompts.ts')).plainPrompts(context));
  const steps = async (canGoBack: boolean): Promise<StepPrompts> =>
    (await import('./step-prompts.ts')).stepPrompts({ ...context, canGoBack });
  const single = () => steps(false);
  return {
    async confirm(message, preset) {
      const answer = await (await single()).text({
        message,
        preset: preset ? 'yes' : 'no',
        presetText: preset ? 'Y/n' : 'y/N',
        check: async (text) => (/^(y|yes|n|no)$/i.test(text) ? null : 'Type y or n.'),
      });
      return /^y/i.test(answered(answer));
    },
    text: async (message, check) => answered(await (await single()).text({ message, check })),
    choose: async (message, lines) => answered(await (await single()).choose({ message, lines })),
    steps: () => steps(true),
  };
}

/** Prompts that are opened when a question is asked. */
export const latePrompts = (open: () => Promise<Prompts>): Prompts => ({
  confirm: async (message, preset) => (await open()).confirm(message, preset),
  text: async (message, check) => (await open()).text(message, check),
  choose: async (message, choices) => (await open()).choose(message, choices),
  steps: async () => (await open()).steps(),
});

function answered<T>(answer: StepAnswer<T>): T {
  if (answer.kind === 'answer') return answer.value;
  throw new Error('a question that nobody can go back from was gone back from');
}
