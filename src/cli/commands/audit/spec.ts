import { command, integerOption, option } from '../../spec/index.ts';

export const auditList = command({
  name: 'audit list',
  summary: 'List what operators did, newest first',
  isDefault: true,
  options: [
    option('--subject <id>', 'only entries about this id'),
    option('--limit <n>', 'how many (100)', integerOption(1, 500)),
    option('--cursor <cursor>', 'next_cursor of the previous page'),
  ],
  effect: 'reads',
  examples: ['farelock audit --subject int_… --json'],
  list: 'entries',
});
