import {
  addressOption,
  argument,
  bagOptions,
  command,
  integerOption,
  intentArgument,
  option,
  seatsOption,
} from '../../spec/index.ts';

export const intentCreate = command({
  name: 'intent create',
  summary: 'Lock a fare and open its escrow (paid, 0.10 USDC); `intent <offer-id>` for short',
  isDefault: true,
  arguments: [argument('<offer-id>')],
  options: [
    option('--refund-wallet <address>', 'where refunds go (default: the paying wallet)', addressOption),
    option('--referrer <code>', 'affiliate code'),
    ...bagOptions,
    option('--seats <list>', 'such as 12A,12B; / between flights, - for none', seatsOption),
  ],
  effect: 'pays',
  examples: [
    'farelock intent 1',
    'farelock intent 1 --bags 1',
    'farelock intent 1 --seats 12A,12B/14C,14D',
    'farelock intent create off_… --refund-wallet 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
  ],
});

export const intentShow = command({
  name: 'intent show',
  summary: 'Show a locked fare as the service sees it',
  arguments: [intentArgument],
  effect: 'reads',
  examples: ['farelock intent show', 'farelock intent show 1'],
});

export const intentList = command({
  name: 'intent list',
  summary: 'List the fares locked from here',
  options: [option('--limit <n>', 'how many to show', integerOption(1, 1_000_000), 100)],
  effect: 'reads',
  examples: ['farelock intent list --json intent_id,status'],
  list: 'intents',
});

export const intentVerify = command({
  name: 'intent verify',
  summary: 'Check the escrow on chain, and that its refunds come to you',
  arguments: [intentArgument],
  options: [
    option('--refund-wallet <address>', 'accept this refund wallet, even though it is not yours', addressOption),
  ],
  effect: 'reads',
  examples: ['farelock intent verify 1'],
});
