import { addressOption, command, intentArgument, option } from '../../spec/index.ts';

export const status = command({
  name: 'status',
  summary: 'Show where the money is: funded, ticketing, captured or refunded',
  arguments: [intentArgument],
  options: [
    option('--watch', 'follow it until it ends; with --json a line for each change'),
    option('--verify', 'check the escrow on chain, and that its refunds come to you'),
    option(
      '--refund-wallet <address>',
      'with --verify: accept this refund wallet, even though it is not yours',
      addressOption,
    ),
  ],
  effect: 'reads',
  examples: ['farelock status --watch', 'farelock status 1 --verify', 'farelock status int_… --json status'],
});
