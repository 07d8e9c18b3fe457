import { argument, bagOptions, command, option } from '../../spec/index.ts';

export const offer = command({
  name: 'offer',
  summary: 'Get the fresh price, extras and fare menu of an offer (paid, 0.01 USDC; low-cost 0.10)',
  arguments: [argument('<offer-id>')],
  options: [
    option('--fares', 'compare the fares of its itinerary'),
    option('--seats', 'show its seats'),
    ...bagOptions,
  ],
  effect: 'pays',
  examples: ['farelock offer off_… --json available_services', 'farelock offer 1 --fares', 'farelock offer 1 --seats'],
});
