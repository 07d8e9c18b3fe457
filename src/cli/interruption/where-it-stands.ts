import type { PaymentRecord } from '../../client/journal/store.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { EFFECTS } from '../spec/manual.ts';
import { about, again, always, type Failed, type Steps } from './next-steps.ts';

/**
 * What a command that was cut off (Ctrl-C, --timeout) ends with: what it has done to money and records, and the command
 * to go on with. It says no more than is known: a payment that was signed may have been taken, and a change that was
 * asked for may have been made.
 */
export async function whereItStands(
  cutOff: Problem,
  /** Of the command. */
  name: string,
  failed: Failed,
): Promise<Problem> {
  const payments = (await failed.session?.paidHere.records()) ?? [];
  const open = payments.filter((one) => one.open);
  const told = (said: string, fix: string, next: readonly string[]) =>
    problem(cutOff.code, {
      message: `${cutOff.message} ${said}`,
      fix,
      next,
      detail: { ...cutOff.detail, money: open.length > 0 ? 'signed' : 'unpaid' },
      cause: cutOff,
    });
  const sameAgain = await again(failed);
  const [first] = open;
  if (first) {
    const resume = `farelock payments resume ${first.payment_id}`;
    return told(
      `A payment of ${sums(open)} was signed and may have been taken.`,
      fixOf(first),
      name === 'payments resume' ? [resume] : [...sameAgain, resume],
    );
  }
  const paid = payments.filter(({ state }) => state === 'answered');
  if (paid.some((one) => one.answer_kept)) {
    return told(
      `${sums(paid)} was paid, and the answer is kept.`,
      'Run the same command again: it shows the answer, and pays nothing more.',
      sameAgain,
    );
  }
  if (paid.length > 0)
    return told(`${sums(paid)} was paid.`, 'It is in the journal.', ['farelock payments list']);
  const effect = EFFECTS[name] ?? 'reads';
  if (effect === 'pays' || effect === 'runs') return told('Nothing was paid.', SAME, sameAgain);
  const isAtQuestion = cutOff.code === 'interrupted' && cutOff.message !== problem('interrupted').message;
  if (effect === 'reads' || isAtQuestion) return told('Nothing was changed.', SAME, sameAgain);
  const may = MAY_HAVE[name] ?? 'The change may have been made.';
  const look = (await LOOK[name]?.(failed)) ?? [];
  return look.length > 0
    ? told(may, 'Look before you run the same command again.', look)
    : told(may, SAME, sameAgain);
}

const SAME = 'Run the same command again.';

const MAY_HAVE: Readonly<Record<string, string>> = {
  'refund approve': 'The approval may be on record: then the service goes on with it, and pays out once.',
  'partner orders create': 'The order may have been made.',
  'partner orders update': 'The order may have been updated.',
  'wallet airdrop': 'The play money may have been given.',
};

/** Where to see whether a change was made; a command that is missing here can be repeated without harm. */
export const LOOK: Readonly<Record<string, Steps>> = {
  'refund claim': about('refund show ID', 'id'),
  'refund note': about('refund show ID', 'id'),
  'refund approve': about('refund show ID', 'id'),
  'refund reject': about('refund show ID', 'id'),
  'stuck resolve': about('stuck show ID', 'id'),
  'attestations decide': about('attestations show ID', 'id'),
  switch: always('farelock switch'),
  'wallet airdrop': always('farelock wallet balance'),
  'partner orders create': always('farelock partner orders list'),
  'partner orders update': about('partner orders show ID', 'orderId'),
  'partner requirements add': about('requirements list --customer ID', 'customerId'),
  'requirements submit': always('farelock requirements list'),
  'requirements accept-terms': always('farelock requirements list'),
  'keys issue': always('farelock keys list'),
  'keys revoke': always('farelock keys list'),
  'keys partner issue': always('farelock keys partner list'),
  'keys partner revoke': always('farelock keys partner list'),
  'keys partner rotate': always('farelock keys partner list'),
  'travellers add': always('farelock travellers list'),
  'travellers remove': always('farelock travellers list'),
};

const sums = (payments: readonly PaymentRecord[]): string =>
  payments.map((one) => `${one.amount} USDC for ${purposeOf(one)}`).join(' and ');

/** What is found and looked up goes stale: a payment for it is taken up again for 10 minutes (client/flights.ts). */
const fixOf = (payment: PaymentRecord): string =>
  /search|offer-details|orders/.test(payment.resource)
    ? 'Run the same command again within 10 minutes: it sends that payment rather than a second one.'
    : 'Run the same command again: it sends that payment, never a second one.';

const PURPOSES: readonly (readonly [resource: string, purpose: string])[] = [
  ['POST /air/search', 'the search'],
  ['POST /air/offer-details', 'the offer'],
  ['POST /air/intents', 'the lock'],
  ['POST /air/book', 'the escrow'],
  ['POST /air/refund-requests', 'the refund request'],
  ['GET /air/orders/', 'the order'],
];

export const purposeOf = ({ resource }: Pick<PaymentRecord, 'resource'>): string =>
  PURPOSES.find(([start]) => resource.startsWith(start))?.[1] ?? resource;
