import { command } from '../../spec/index.ts';

export const demo = command({
  name: 'demo',
  summary: 'Play the whole journey with play money, explaining each step',
  effect: 'runs',
  examples: ['farelock demo'],
});
