import { command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const intentList = command({
  name: 'intent list',
  summary: 'List the fares locked from here',
  options: [option('--limit <n>', 'how many to show', integerOption('--limit', 1, 1_000_000), 100)],
  effect: 'reads',
  examples: ['farelock intent list --json intent_id,status'],
  result: { list: 'intents', schema: async () => (await import('./result.ts')).intentList },
  load: async () => (await import('./run.ts')).intentList,
});
