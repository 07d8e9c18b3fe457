import { argument, command, option } from '../../spec/index.ts';

export const order = command({
  name: 'order',
  summary: 'Show the airline order of a booking (paid, 0.01 USDC)',
  arguments: [argument('[id]', 'row number or id')],
  options: [option('--ics <file>', 'write the journey to a calendar file, - for standard output')],
  effect: 'pays',
  examples: ['farelock order --ics journey.ics'],
});
