import { argument, command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const keysList = command({
  name: 'keys list',
  summary: 'List operator keys and when each was last used',
  options: [
    option('--limit <n>', 'how many to show (100)', integerOption('--limit', 1, 500)),
    option('--cursor <cursor>', 'next_cursor of the previous page'),
  ],
  effect: 'reads',
  examples: ['farelock keys list'],
  result: { list: 'keys', schema: async () => (await import('./result.ts')).keysList },
  load: async () => (await import('./run.ts')).keysList,
});

export const keysIssue = command({
  name: 'keys issue',
  summary: 'Issue an operator key; it is shown once',
  arguments: [argument('<name>')],
  effect: 'changes',
  examples: ['farelock keys issue night-shift'],
  result: { schema: async () => (await import('./result.ts')).keysIssue },
  cutOff: { look: 'keys list' },
  load: async () => (await import('./run.ts')).keysIssue,
});

export const keysRevoke = command({
  name: 'keys revoke',
  summary: 'Revoke an operator key',
  arguments: [argument('<key-id>')],
  effect: 'changes',
  examples: ['farelock keys revoke key_…'],
  result: { schema: async () => (await import('./result.ts')).keysRevoke },
  cutOff: { look: 'keys list' },
  load: async () => (await import('./run.ts')).keysRevoke,
});
