import { argument, command } from '../../spec/define.ts';

export const airports = command({
  name: 'airports',
  summary: 'Find the code of an airport (free)',
  arguments: [argument('[text...]', 'city, name or code; also the start of one, or with a small mistake')],
  effect: 'reads',
  examples: ['farelock airports london', 'farelock airports sao paulo --json iata'],
  result: { list: 'airports', schema: async () => (await import('./result.ts')).airports },
  load: async () => (await import('./run.ts')).airports,
});
