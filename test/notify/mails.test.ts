import { expect, test } from 'vitest';
import { mailText } from '../../src/notify/mails.ts';

/** The words of a mail: what is said of money is what happened to it. */

test('an approved refund says what was sent, and what was kept; nothing is kept where all came back', () => {
  const approved = (penalty: bigint) =>
    mailText(
      'Ada',
      'int_1',
      {
        kind: 'refund_request_approved',
        amount: 100_000_000n,
        penalty,
        cancelledBy: null,
        travellers: null,
        refundWallet: 'WaLLet',
        transaction: 'SigNed',
      },
      'ZX7QPL',
    );
  const [some, all] = [approved(51_200_000n), approved(0n)];
  for (const { subject, text } of [some, all]) {
    expect(subject).toBe('Refund approved: 100.00 USDC');
    expect(text).toContain('100.00 USDC was sent to WaLLet.');
    expect(text).toMatch(/^Hello Ada,\n\nBooking reference: ZX7QPL\n\nYour refund request was approved/);
    expect(text).toContain('Transaction: SigNed');
  }
  expect(some.text).toContain('51.20 USDC of your payment is not refunded.');
  expect(all.text).not.toContain('not refunded');
});

test('a refunded booking says the amount that went back, and where', () => {
  const { subject, text } = mailText(
    'Ada',
    'int_1',
    { kind: 'refunded', amount: 151_200_000n, reason: 'offer_repriced', refundWallet: 'WaLLet', transaction: null },
    null,
  );
  expect(subject).toBe('Refunded: 151.20 USDC');
  expect(text).toContain('151.20 USDC was sent back to WaLLet.');
  expect(text).not.toContain('reference');
  expect(text).toContain('the price changed before the ticket was issued.');
});
