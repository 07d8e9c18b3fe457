import { command } from '../../spec/define.ts';

export const walletNew = command({
  name: 'wallet new',
  summary: 'Create a wallet (keypair file)',
  effect: 'local',
  examples: ['farelock wallet new'],
  result: { schema: async () => (await import('./result.ts')).walletNew },
  load: async () => (await import('./run.ts')).walletNew,
});
