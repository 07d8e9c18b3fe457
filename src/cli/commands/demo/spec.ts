import { command } from '../../spec/index.ts';

export const demo = command({
  name: 'demo',
  summary: 'Play the whole journey with play money, explaining each step',
  effect: 'runs',
  examples: ['farelock demo'],
  result: { schema: async () => (await import('./result.ts')).demo },
  load: async () => (await import('./run.ts')).demo,
});
