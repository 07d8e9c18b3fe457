import { command } from '../../spec/define.ts';

export const demo = command({
  name: 'demo',
  summary: 'Play the whole journey, narrated, on the embedded stack',
  effect: 'runs',
  examples: ['farelock demo'],
  result: { schema: async () => (await import('./result.ts')).demo },
  load: async () => (await import('./run.ts')).demo,
});
