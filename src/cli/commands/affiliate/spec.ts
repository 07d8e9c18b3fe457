import { argument, command, option } from '../../spec/index.ts';

export const affiliateCreate = command({
  name: 'affiliate create',
  summary: 'Create the affiliate code of a wallet, or show the one it has (free)',
  options: [option('--wallet <address>', 'wallet to pay (default: the one of this profile)')],
  effect: 'changes',
  examples: ['farelock affiliate create'],
});

export const affiliateShow = command({
  name: 'affiliate show',
  summary: 'Show what a code has earned, pending and paid (free)',
  arguments: [argument('<code>')],
  effect: 'reads',
  examples: ['farelock affiliate show ABCD1234'],
});
