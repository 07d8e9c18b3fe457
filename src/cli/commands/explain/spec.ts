import { argument, command } from '../../spec/define.ts';

export const explain = command({
  name: 'explain',
  summary: 'What an error code means, and what to do',
  arguments: [argument('<code>')],
  effect: 'reads',
  examples: ['farelock explain offer_expired'],
  result: { schema: async () => (await import('./result.ts')).explain },
  load: async () => (await import('./run.ts')).explain,
});
