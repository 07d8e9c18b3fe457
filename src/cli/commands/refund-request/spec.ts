import { argument, command, option } from '../../spec/define.ts';

export const refundRequest = command({
  name: 'refund request',
  summary: 'File a refund request (paid, 0.10 USDC); `refund <intent-id>` for short',
  isDefault: true,
  arguments: [argument('<intent-id>')],
  options: [
    option('--reason <text>', 'why, up to 1000 characters'),
    option('--contact <text>', 'where to reply, up to 320 characters'),
  ],
  effect: 'pays',
  examples: ['farelock refund int_… --reason "The meeting was cancelled" --contact ana@example.com'],
  result: { schema: async () => (await import('./result.ts')).refundRequest },
  load: async () => (await import('./run.ts')).refundRequest,
});
