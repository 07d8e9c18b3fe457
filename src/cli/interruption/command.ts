import type { PaymentRecord } from '../../client/journal/store.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import type { CommandSpec } from '../spec/command.ts';
import { again, type Failed, lookOf } from './next-steps.ts';

/**
 * What a command that was cut off (Ctrl-C, --timeout) ends with: what it has done to money and records, and the command
 * to go on with. It says no more than is known: a payment that was signed may have been taken, and a change that was
 * asked for may have been made.
 */
export async function whereItStands(
  cutOff: Problem,
  { name, effect, cutOff: afterwards }: Pick<CommandSpec, 'name' | 'effect' | 'cutOff'>,
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
  if (effect === 'pays' || effect === 'runs') return told('Nothing was paid.', SAME, sameAgain);
  const isAtQuestion = cutOff.code === 'interrupted' && cutOff.message !== problem('interrupted').message;
  if (effect === 'reads' || isAtQuestion) return told('Nothing was changed.', SAME, sameAgain);
  const may = afterwards?.said ?? 'The change may have been made.';
  const look = afterwards ? lookOf(afterwards.look, failed) : null;
  return look === null
    ? told(may, SAME, sameAgain)
    : told(may, 'Look before you run the same command again.', [look]);
}

const SAME = 'Run the same command again.';

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
