import { option } from './define.ts';

/** Whom a command of the partner service acts for. */
export const ACTING_PARTNER = option(
  '--partner <id>',
  'act with the key file of this partner (or FARELOCK_API_KEY)',
);
export const FOR_CUSTOMER = option(
  '--customer <id>',
  'make a token for this customer (or FARELOCK_CUSTOMER_TOKEN)',
);
/** A person's word for what is done with a live key. */
export const IN_LIVE = option('--live', 'yes, in the live environment');
