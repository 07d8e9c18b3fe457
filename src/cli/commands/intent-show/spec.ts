import { argument, command } from '../../spec/define.ts';

export const intentShow = command({
  name: 'intent show',
  summary: 'The intent as the service has it',
  arguments: [argument('<intent-id>')],
  effect: 'reads',
  examples: ['farelock intent show int_…'],
  result: { schema: async () => (await import('./result.ts')).intentShow },
  load: async () => (await import('./run.ts')).intentShow,
});
