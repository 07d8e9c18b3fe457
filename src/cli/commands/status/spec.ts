import { argument, command, option } from '../../spec/index.ts';

export const status = command({
  name: 'status',
  summary: 'Show where the money is: funded, ticketing, captured or refunded',
  arguments: [argument('<intent-id>')],
  options: [option('--watch', 'follow it until it ends; with --json a line for each change')],
  effect: 'reads',
  examples: ['farelock status int_… --watch', 'farelock status int_… --json status'],
});
