import { command } from '../../spec/define.ts';

export const intentList = command({
  name: 'intent list',
  summary: 'The intents made from here',
  effect: 'reads',
  examples: ['farelock intent list --json intent_id,status'],
  result: {
    fields: [
      'intent_id',
      'status',
      'offer_id',
      'amount',
      'created_at',
      'expires_at',
      'route',
      'departure_date',
      'order_id',
    ],
    schema: async () => (await import('./result.ts')).intentList,
  },
  load: async () => (await import('./run.ts')).intentList,
});
