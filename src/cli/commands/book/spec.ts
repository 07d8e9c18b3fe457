import { addressOption, collected, command, intentArgument, option } from '../../spec/index.ts';

export const book = command({
  name: 'book',
  summary: 'Pay the escrow and book; waits until it is booked or refunded',
  arguments: [intentArgument],
  options: [
    option('--passengers <file>', 'JSON file with the passengers, - for standard input'),
    option('--traveller <name>', 'a saved traveller; repeat for each, first the one who gets the e-mails', collected),
    option('--refund-wallet <address>', 'pay even though refunds go to this wallet, which is not yours', addressOption),
    option('--no-wait', 'return once the booking is queued'),
  ],
  effect: 'pays',
  examples: [
    'farelock book --passengers passengers.json',
    'farelock book 2 --traveller ana',
    'farelock book int_… --passengers - --yes --json < p.json',
  ],
});
