import { argument, command } from '../../spec/index.ts';

export const help = command({
  name: 'help',
  summary: 'Help on a command; with --json the whole command tree',
  arguments: [argument('[command...]')],
  effect: 'reads',
  examples: ['farelock help search', 'farelock help --json commands'],
});
