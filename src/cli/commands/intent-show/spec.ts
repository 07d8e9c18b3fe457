import { argument, command } from '../../spec/define.ts';

export const intentShow = command({
  name: 'intent show',
  summary: 'Show a locked fare as the service sees it',
  arguments: [argument('<intent-id>')],
  effect: 'reads',
  examples: ['farelock intent show int_…'],
  result: { schema: async () => (await import('./result.ts')).intentShow },
  load: async () => (await import('./run.ts')).intentShow,
});
