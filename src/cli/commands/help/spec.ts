import { argument, command, option } from '../../spec/index.ts';

export const help = command({
  name: 'help',
  summary: 'Help on a command; with --json the whole command tree',
  arguments: [argument('[command...]')],
  options: [option('--all', 'every command and option')],
  effect: 'reads',
  examples: ['farelock help search', 'farelock help --all', 'farelock help --json commands'],
});
