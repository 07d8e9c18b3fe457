import { command, option } from '../../spec/define.ts';
import { solOption, usdcOption } from '../../spec/options.ts';

export const walletAirdrop = command({
  name: 'wallet airdrop',
  summary: 'Play money from the faucet of the embedded cluster',
  options: [
    option('--sol <amount>', 'SOL (1 when neither is named)', solOption('--sol')),
    option('--usdc <amount>', 'USDC (1000 when neither is named)', usdcOption('--usdc')),
  ],
  effect: 'changes',
  examples: ['farelock wallet airdrop --usdc 500'],
  result: { schema: async () => (await import('./result.ts')).walletAirdrop },
  cutOff: { said: 'The play money may have been given.', look: 'wallet balance' },
  load: async () => (await import('./run.ts')).walletAirdrop,
});
