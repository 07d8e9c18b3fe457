import { command, option } from '../../spec/define.ts';
import { usdcOption } from '../../spec/options.ts';

export const walletShow = command({
  name: 'wallet show',
  summary: 'Show the address, file and network of the wallet',
  options: [
    option(
      '--qr [usdc]',
      'show a QR code of the address, or of a request to pay this amount',
      usdcOption('--qr'),
    ),
  ],
  effect: 'reads',
  examples: ['farelock wallet show', 'farelock wallet show --qr', 'farelock wallet show --qr 25'],
  result: { schema: async () => (await import('./result.ts')).walletShow },
  load: async () => (await import('./run.ts')).walletShow,
});
