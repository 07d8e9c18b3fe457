import { createHash } from 'node:crypto';

/** An on-chain memo that hides the intent's id, but that holders of the id can compute. */
export const payoutMark = (subject: string): string =>
  createHash('sha256').update(payoutMemoWithId(subject)).digest('hex').slice(0, 32);

export const payoutMemo = (subject: string): string => `farelock payout ${payoutMark(subject)}`;

export const payoutMemoWithId = (subject: string): string => `farelock payout ${subject}`;
