import { createHash } from 'node:crypto';

/** The on-chain mark of a payout: it hides the intent's id, and holders of the id can compute it. */
export const payoutMark = (subject: string): string =>
  createHash('sha256').update(payoutMemoWithId(subject)).digest('hex').slice(0, 32);

export const payoutMemo = (subject: string): string => `farelock payout ${payoutMark(subject)}`;

export const payoutMemoWithId = (subject: string): string => `farelock payout ${subject}`;

/** Names a partial refund on chain and in the effect log. Equal travellers give equal names: none is paid twice. */
export const partSubject = (intentId: string, passengers: readonly number[]): string =>
  `${intentId}:${[...passengers].sort((a, b) => a - b).join(',')}`;

/** Splits a subject; `passengers` is null for all travellers of the intent. */
export function subjectParts(subject: string): { readonly intentId: string; readonly passengers: number[] | null } {
  const [intentId = subject, list] = subject.split(':');
  return { intentId, passengers: list === undefined ? null : list.split(',').map(Number) };
}

/** Lists every subject that refunds of a booking can have. */
export function subjectsOf(intentId: string, count: number): string[] {
  const sets = count > 1 ? 2 ** count - 1 : 1;
  return [intentId, ...Array.from({ length: sets - 1 }, (_, index) => partSubject(intentId, bitsOf(index + 1)))];
}

const bitsOf = (bits: number): number[] =>
  Array.from({ length: 32 - Math.clz32(bits) }, (_, at) => at + 1).filter((passenger) => (bits >> (passenger - 1)) & 1);

/** `traveller 3`, `travellers 1 and 3` */
export const travellersNamed = (passengers: readonly number[]): string =>
  `${passengers.length === 1 ? 'traveller' : 'travellers'} ${passengers.join(', ').replace(/, (?=\d+$)/, ' and ')}`;
