import { createHash } from 'node:crypto';

/**
 * The mark that a pay-out leaves on chain. A reader of the chain learns no intent's id from it; a customer who has the id
 * can compute it.
 */
export const payoutMark = (subject: string): string =>
  createHash('sha256').update(payoutMemoWithId(subject)).digest('hex').slice(0, 32);

export const payoutMemo = (subject: string): string => `farelock payout ${payoutMark(subject)}`;

/** The memo of earlier releases. */
export const payoutMemoWithId = (subject: string): string => `farelock payout ${subject}`;
