import { DAY_MS } from '../../../kernel/clock.ts';
import { argument, command, durationOption, integerOption, option, overlapOption } from '../../spec/index.ts';

export const keysList = command({
  name: 'keys list',
  summary: 'List operator keys and when each was last used',
  options: [
    option('--limit <n>', 'how many to show (100)', integerOption(1, 500)),
    option('--cursor <cursor>', 'next_cursor of the previous page'),
  ],
  effect: 'reads',
  examples: ['farelock keys list'],
  list: 'keys',
});

export const keysIssue = command({
  name: 'keys issue',
  summary: 'Issue an operator key; it is shown once',
  arguments: [argument('<name>')],
  effect: 'changes',
  examples: ['farelock keys issue night-shift'],
  cutOff: { look: 'keys list' },
});

export const keysRevoke = command({
  name: 'keys revoke',
  summary: 'Revoke an operator key',
  arguments: [argument('<key-id>')],
  effect: 'changes',
  examples: ['farelock keys revoke key_…'],
  cutOff: { look: 'keys list' },
});

export const keysPartnerList = command({
  name: 'keys partner list',
  summary: 'List partner keys and when each was last used',
  effect: 'reads',
  examples: ['farelock keys partner list'],
  list: 'keys',
});

export const keysPartnerIssue = command({
  name: 'keys partner issue',
  summary: 'Issue a key to a partner; it is shown once',
  arguments: [argument('<partner-id>'), argument('<name>')],
  effect: 'changes',
  examples: ['farelock keys partner issue par_sandbox_bank nightly-updates'],
  cutOff: { look: 'keys partner list' },
});

export const keysPartnerRevoke = command({
  name: 'keys partner revoke',
  summary: 'Revoke a partner key',
  arguments: [argument('<key-id>')],
  effect: 'changes',
  examples: ['farelock keys partner revoke key_…'],
  cutOff: { look: 'keys partner list' },
});

export const keysPartnerRotate = command({
  name: 'keys partner rotate',
  summary: 'Replace a key; the old one keeps working for a while',
  arguments: [argument('<key-id>')],
  options: [option('--overlap <time>', 'how long the old key keeps working, 0 to 720h (24h)', overlapOption, DAY_MS)],
  effect: 'changes',
  examples: ['farelock keys partner rotate key_… --overlap 48h'],
  cutOff: { look: 'keys partner list' },
});

export const keysToken = command({
  name: 'keys token',
  summary: 'Issue a short-lived token for one customer; it is shown once',
  arguments: [argument('<customer-id>')],
  options: [option('--ttl <time>', 'how long it works, 1m to 24h (15m)', durationOption)],
  effect: 'changes',
  examples: ['farelock keys token cus_demo_ana --ttl 30m'],
});
