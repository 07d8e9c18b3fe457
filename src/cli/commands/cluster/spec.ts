import {
  addressOption,
  argument,
  choiceOption,
  clusterOptions,
  command,
  integerOption,
  option,
  solOption,
} from '../../spec/index.ts';

export const clusterCheck = command({
  name: 'cluster check',
  summary: 'Check the escrow program, the USDC mint and the wallets; exit 8 when something fails',
  options: [
    ...clusterOptions,
    option('--program <address>', 'the escrow program (default: the one deployed from here)', addressOption),
  ],
  effect: 'reads',
  examples: ['farelock cluster check', 'farelock cluster check --cluster devnet'],
});

export const clusterKeys = command({
  name: 'cluster keys',
  summary: "Show the operator's wallets, what they hold and what they need",
  options: [...clusterOptions],
  effect: 'local',
  examples: ['farelock cluster keys --cluster devnet'],
  list: 'wallets',
});

export const clusterRotate = command({
  name: 'cluster rotate',
  summary: "Replace one of the service's keys, step by step; both are alive for a while",
  arguments: [
    argument(
      '<key>',
      'authority, facilitator or service (the key ring)',
      choiceOption(['authority', 'facilitator', 'service']),
    ),
    argument(
      '[step]',
      'begin, switch or retire; without it, show how far it is',
      choiceOption(['begin', 'switch', 'retire']),
    ),
  ],
  options: [...clusterOptions],
  effect: 'changes',
  examples: ['farelock cluster rotate authority', 'farelock cluster rotate authority begin'],
  list: 'keys',
  cutOff: { said: 'The step may have been taken.', look: 'cluster rotate <key>' },
});

export const clusterFund = command({
  name: 'cluster fund',
  summary: "Fill the operator's wallets from the faucet of an embedded cluster",
  options: [...clusterOptions, option('--sol <amount>', 'SOL for each (default 10)', solOption)],
  effect: 'changes',
  examples: ['farelock cluster fund', 'farelock cluster fund --sol 2 --rpc-url http://127.0.0.1:4020/rpc'],
  list: 'funded',
  cutOff: { said: 'The play money may have been given.', look: 'cluster keys' },
});

export const clusterDeploy = command({
  name: 'cluster deploy',
  summary: 'Deploy the escrow program, update a deployed one, or resume a deployment',
  options: [
    ...clusterOptions,
    option('--program <address|file>', 'a deployed program, or the keypair file of a new one (default: a new key)'),
    option('--new', 'a new program, although one is deployed already'),
    option('--final', 'give up the right to change it, for good'),
    option('--abort', 'end a deployment that has not finished, and take its rent back'),
    option('--priority-fee <micro-lamports>', 'bid for each compute unit (default 0)', integerOption(0, 100_000_000)),
    option('--mainnet', 'allow mainnet, which costs real SOL'),
  ],
  effect: 'runs',
  examples: [
    'farelock cluster deploy --cluster devnet --dry-run',
    'farelock cluster deploy --cluster devnet --final',
    'farelock cluster deploy --cluster devnet --abort',
  ],
});
