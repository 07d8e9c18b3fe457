import { command, option } from '../../spec/define.ts';
import { choiceOption } from '../../spec/options.ts';

export const refundDesk = command({
  name: 'refund desk',
  summary: 'Operators: work through the queue live in a terminal, with a key for each command',
  options: [option('--sort <key>', 'age, journey', choiceOption('--sort', ['age', 'journey'] as const))],
  effect: 'runs',
  examples: ['farelock refund desk', 'farelock refund desk --sort journey'],
  result: { schema: async () => (await import('./result.ts')).refundDesk },
  load: async () => (await import('./run.ts')).refundDesk,
});
