import { option } from './define.ts';

/** Whom a command of the partner service acts for. */
export const ACTING_PARTNER = option(
  '--partner <id>',
  'use the key file of this partner (or FARELOCK_API_KEY)',
);
export const FOR_CUSTOMER = option(
  '--customer <id>',
  'act for this customer, with a new token (or FARELOCK_CUSTOMER_TOKEN)',
);
/** A person's word for what is done with a live key. */
export const IN_LIVE = option('--live', 'confirm that you mean the live environment');
