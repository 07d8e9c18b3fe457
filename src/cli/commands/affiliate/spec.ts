import { argument, command, option } from '../../spec/define.ts';

export const affiliateCreate = command({
  name: 'affiliate create',
  summary: 'The code of a wallet: a new one, or the one that it has (free)',
  options: [option('--wallet <address>', 'the wallet that is paid (the one of this profile)')],
  effect: 'changes',
  examples: ['farelock affiliate create'],
  result: {
    fields: ['code', 'wallet', 'created_at'],
    schema: async () => (await import('./result.ts')).affiliateCreate,
  },
  load: async () => (await import('./run.ts')).affiliateCreate,
});

export const affiliateShow = command({
  name: 'affiliate show',
  summary: 'What a code has earned: pending and paid (free)',
  arguments: [argument('<code>')],
  effect: 'reads',
  examples: ['farelock affiliate show ABCD1234'],
  result: {
    fields: [
      'code',
      'wallet',
      'created_at',
      'bookings_count',
      'pending_amount',
      'pending_amount_decimal',
      'paid_amount',
      'paid_amount_decimal',
      'owed_amount',
      'owed_amount_decimal',
    ],
    schema: async () => (await import('./result.ts')).affiliateShow,
  },
  load: async () => (await import('./run.ts')).affiliateShow,
});
