import { argument, command, integerOption, option } from '../../spec/index.ts';

export const airports = command({
  name: 'airports',
  summary: 'Find an airport code (free)',
  arguments: [argument('[text...]', 'city, name or code; the start is enough, and small typos are fine')],
  options: [option('--limit <n>', 'how many to show', integerOption(1, 1000))],
  effect: 'reads',
  examples: ['farelock airports london', 'farelock airports sao paulo --json iata'],
  list: 'airports',
});
