import { clusterOptions } from '../../spec/cluster-options.ts';
import { command, option } from '../../spec/define.ts';
import { integerOption } from '../../spec/options.ts';

export const clusterDeploy = command({
  name: 'cluster deploy',
  summary: 'Deploy the escrow program, bring a deployed one up to date, or go on where it stopped',
  options: [
    ...clusterOptions,
    option(
      '--program <address|file>',
      'a deployed program, or the keypair file of a new one (default: a new key)',
    ),
    option('--new', 'a new program, although one is deployed already'),
    option('--final', 'give up the right to change it, for good'),
    option('--abort', 'end a deployment that has not finished, and take its rent back'),
    option(
      '--priority-fee <micro-lamports>',
      'bid for each compute unit (default 0)',
      integerOption('--priority-fee', 0, 100_000_000),
    ),
    option('--mainnet', 'allow mainnet, which costs real SOL'),
  ],
  effect: 'runs',
  examples: [
    'farelock cluster deploy --cluster devnet --dry-run',
    'farelock cluster deploy --cluster devnet --final',
    'farelock cluster deploy --cluster devnet --abort',
  ],
  result: { schema: async () => (await import('./result.ts')).clusterDeploy },
  load: async () => (await import('./run.ts')).clusterDeploy,
});
