import { command, option } from '../../spec/define.ts';
import { usdcOption } from '../../spec/options.ts';

export const walletShow = command({
  name: 'wallet show',
  summary: 'Address, file and network',
  options: [
    option('--qr [usdc]', 'as a QR code: the address, or a request to pay so much', usdcOption('--qr')),
  ],
  effect: 'reads',
  examples: ['farelock wallet show', 'farelock wallet show --qr', 'farelock wallet show --qr 25'],
  result: { schema: async () => (await import('./result.ts')).walletShow },
  load: async () => (await import('./run.ts')).walletShow,
});
