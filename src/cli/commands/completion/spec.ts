import { argument, choiceOption, command } from '../../spec/index.ts';

export const completion = command({
  name: 'completion',
  summary: 'Print a script that completes commands, options and values in your shell',
  arguments: [argument('<shell>', 'bash, zsh, fish', choiceOption(['bash', 'zsh', 'fish']))],
  effect: 'reads',
  examples: ['farelock completion bash'],
});
