import { command } from '../../spec/define.ts';

export const intentList = command({
  name: 'intent list',
  summary: 'List the fares locked from here',
  effect: 'reads',
  examples: ['farelock intent list --json intent_id,status'],
  result: { list: 'intents', schema: async () => (await import('./result.ts')).intentList },
  load: async () => (await import('./run.ts')).intentList,
});
