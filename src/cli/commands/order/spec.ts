import { argument, command, option } from '../../spec/define.ts';

export const order = command({
  name: 'order',
  summary: 'The airline order of an order id or an intent id (paid, 0.01 USDC)',
  arguments: [argument('<id>')],
  options: [option('--ics <file>', 'write the journey as a calendar file, - for standard output')],
  effect: 'pays',
  examples: ['farelock order int_… --ics journey.ics'],
  result: {
    fields: [
      'order_id',
      'booking_reference',
      'status',
      'passenger_count',
      'total_amount_decimal',
      'total_currency',
      'documents',
      'slices',
      'created_at',
      'updated_at',
      'payment',
    ],
    schema: async () => (await import('./result.ts')).order,
  },
  load: async () => (await import('./run.ts')).order,
});
