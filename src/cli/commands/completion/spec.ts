import { argument, choiceOption, command } from '../../spec/index.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const completion = command({
  name: 'completion',
  summary: 'Print a script that completes commands, options and values in your shell',
  arguments: [argument('<shell>', SHELLS.join(', '), choiceOption('shell', SHELLS))],
  effect: 'reads',
  examples: ['farelock completion bash'],
});
