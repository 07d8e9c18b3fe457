import { command } from '../../spec/define.ts';

export const demo = command({
  name: 'demo',
  summary: 'The whole journey with narration, on the embedded stack',
  effect: 'runs',
  examples: ['farelock demo'],
  result: { schema: async () => (await import('./result.ts')).demo },
  load: async () => (await import('./run.ts')).demo,
});
