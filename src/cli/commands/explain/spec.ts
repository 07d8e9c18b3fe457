import { argument, command } from '../../spec/index.ts';

export const explain = command({
  name: 'explain',
  summary: 'Explain an error code and what to do about it',
  arguments: [argument('<code>'), argument('[more...]')],
  effect: 'reads',
  examples: ['farelock explain offer_expired'],
});
