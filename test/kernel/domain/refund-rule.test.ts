import { expect, test } from 'vitest';
import { refundRuleOf } from '../../../src/kernel/domain/refund-rule.ts';

const CAPTURED = 151_200_000n;
const fare = (amount: string | null, currency: string | null = 'USD') => ({
  total_currency: 'USD',
  conditions: { refund_allowed: true, refund_penalty_amount: amount, refund_penalty_currency: currency },
});

test.each([
  ['nothing', '0', 0n],
  ['less than the fare', '51.20', 51_200_000n],
  ['the fare', '151.20', CAPTURED],
  ['more than the fare', '151.21', CAPTURED],
  ['many times the fare', '99999', CAPTURED],
])('a penalty of %s keeps at most the fare: what is paid out is never below zero', (_what, amount, penalty) => {
  expect(refundRuleOf(fare(amount), CAPTURED)).toEqual({
    ...{ kind: 'refundable', penalty },
    payout: CAPTURED - penalty,
  });
});

test('a penalty in another currency is computed into nothing: a person asks the airline', () => {
  expect(refundRuleOf(fare('51.20', 'EUR'), CAPTURED)).toEqual({
    ...{ kind: 'undisclosed', penalty: null, payout: null },
  });
});
