import { command, option } from '../../spec/define.ts';
import { solOption, usdcOption } from '../../spec/options.ts';

export const walletAirdrop = command({
  name: 'wallet airdrop',
  summary: 'Get play money from the faucet of the embedded cluster',
  options: [
    option('--sol <amount>', 'SOL (default 1)', solOption('--sol')),
    option('--usdc <amount>', 'USDC (default 1000)', usdcOption('--usdc')),
  ],
  effect: 'changes',
  examples: ['farelock wallet airdrop --usdc 500'],
  result: { schema: async () => (await import('./result.ts')).walletAirdrop },
  cutOff: { said: 'The play money may have been given.', look: 'wallet balance' },
  load: async () => (await import('./run.ts')).walletAirdrop,
});
