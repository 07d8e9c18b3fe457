import { describe, expect, test } from 'vitest';
import { type Known, type Stage, storyOf, told } from '../../../src/cli/interruption/story.ts';
import type { PaymentRecord } from '../../../src/client/journal/index.ts';
import { problem, textOf } from '../../../src/kernel/problems.ts';
import { farelock, lineOf } from '../../../src/kernel/shell-word.ts';
import type { Intent } from '../../../src/wire/flights/index.ts';

const intent = { intent_id: 'int_1', expires_at: '2026-12-01T10:00:00Z', escrow: { amount: 120_000_000 } } as Intent;
const payment = (resource: string, state: Partial<PaymentRecord>) =>
  ({ payment_id: 'pay_1', resource, amount: '0.10', open: false, answer_kept: false, ...state }) as PaymentRecord;

/** A story as it is read. */
const storyRead = (known: Known) => {
  const { said, next, ...story } = storyOf(known);
  return { ...story, said: textOf(said), next: next.map(lineOf) };
};

const nothing: Known = { again: [farelock`again`], signed: [], paid: [] };
const at = (stage: Stage): Known => ({ ...nothing, booking: { intent, stage } });
const searched = payment('POST /air/search', {});
const signed = payment('POST /air/search', { open: true });

describe('what is told of an interruption', () => {
  test.each([
    ['nothing', nothing, 'Nothing was paid.', ['farelock again']],
    [
      'a signed payment comes before what was paid',
      { ...nothing, signed: [signed], paid: [searched] },
      'A payment of 0.10 USDC for the search was signed and may have been taken.',
      ['farelock again', 'farelock payments resume pay_1'],
    ],
    [
      'what sends a payment again is named once',
      { ...nothing, again: [farelock`payments resume pay_1 --json`], signed: [signed] },
      'A payment of 0.10 USDC for the search was signed and may have been taken.',
      ['farelock payments resume pay_1'],
    ],
    ['paid', { ...nothing, paid: [searched] }, 'Paid so far: the search (0.10 USDC).', ['farelock payments list']],
    [
      'an answer that nobody has seen',
      { ...nothing, paid: [payment('POST /air/search', { answer_kept: true })] },
      'Paid so far: the search (0.10 USDC); the answer is kept.',
      ['farelock again'],
    ],
    [
      'a change that may have been made',
      { ...nothing, change: { said: 'It may be issued.', look: farelock`keys list` } },
      'It may be issued.',
      ['farelock keys list'],
    ],
    [
      'a locked fare',
      at('locked'),
      'Nothing was paid; the fare stays locked until 2026-12-01 10:00:00 UTC.',
      ['farelock again'],
    ],
    ['a lock that has run out', at('unlocked'), 'Nothing was paid.', ['farelock again']],
    ['paid into the escrow', at('paid'), '120.00 USDC were paid into the escrow.', ['farelock status int_1 --watch']],
    [
      'a booking under way',
      at('queued'),
      '120.00 USDC are in the escrow; the booking continues.',
      ['farelock status int_1 --watch'],
    ],
    [
      'booked',
      at('captured'),
      'The flight is booked. The 120.00 USDC of the escrow are captured.',
      ['farelock order int_1'],
    ],
    ['refunded', at('refunded'), '120.00 USDC went back to the refund wallet.', ['farelock status int_1']],
  ] as [string, Known, string, string[]][])('%s', (_what, known, said, next) => {
    expect(storyRead(known)).toMatchObject({ said, next });
  });

  test('a guided walk names the ticket, and takes the same answers again', () => {
    const walk = (known: Known) => storyRead({ ...known, isGuided: true });
    expect(walk(at('unlocked')).said).toBe('The lock has expired, and the ticket of 120.00 USDC is not paid.');
    expect(walk(at('locked')).said).toBe('The fare is locked, and the ticket of 120.00 USDC is not paid.');
    expect(walk({ ...nothing, signed: [signed] }).fix).toBe(
      'Give the same answers again within 10 minutes: it sends that payment rather than a second one.',
    );
  });
});

test('the problem has the code of the interruption, and says where the money is', () => {
  const cause = new Error('cut');
  const booking = told(problem('timed_out'), storyOf(at('queued')), cause);
  expect([booking.code, booking.detail]).toEqual(['still_booking', { intent_id: 'int_1', money: 'booking' }]);
  const interrupted = told(problem('interrupted', { detail: { signal: 'SIGINT' } }), storyOf(at('queued')), cause);
  expect([interrupted.code, interrupted.detail]).toEqual([
    'interrupted',
    { signal: 'SIGINT', intent_id: 'int_1', money: 'booking' },
  ]);
  expect(told(problem('timed_out'), storyOf(nothing), cause).detail).toEqual({ money: 'unpaid' });
  expect(told(problem('timed_out'), storyOf({ ...nothing, signed: [signed] }), cause).detail?.money).toBe('signed');
});
