import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAllowance } from '../../../src/cli/commands/mcp/allowance.ts';
import {
  type Limits,
  mayBePaid,
  NO_LIMITS,
  refusal,
  type Spender,
  type Spending,
} from '../../../src/client/base/spending.ts';
import { SOLANA_NETWORKS } from '../../../src/solana/cluster.ts';

/** May this be paid? Who has said what, and what a payment may cost then. Amounts are atomic USDC. */

const USDC = 1_000_000n;
const NOBODY: Spender = { limits: NO_LIMITS };
const AT_TERMINAL: Spender = { limits: NO_LIMITS, canAsk: true };
const WITH_YES: Spender = { limits: NO_LIMITS, saysYes: true };
const limited = (spender: Spender, limits: Partial<Limits>): Spender => ({
  ...spender,
  limits: { ...NO_LIMITS, ...limits },
});
const call = (usdc: bigint): Spending => ({ kind: 'call', amount: usdc * USDC });
const booking = (usdc: bigint, more: Partial<Spending> = {}): Spending => ({
  kind: 'booking',
  amount: usdc * USDC,
  ...more,
});
const agreedTo = (spender: Spender, usdc: bigint, isTyped = false): Spender => ({
  ...spender,
  agreed: { kind: 'booking', amount: usdc * USDC, isTyped },
});
const program = (total: bigint | null, perPayment: bigint | null = null): Spender => ({
  ...WITH_YES,
  allowance: createAllowance({ total: total && total * USDC, perPayment: perPayment && perPayment * USDC }),
});
const MAINNET = { network: SOLANA_NETWORKS.mainnet };
const UNVERIFIED = { warning: 'The escrow cannot be verified.' };

const said = (spending: Spending, spender: Spender): string => {
  const verdict = mayBePaid(spending, spender);
  if (verdict.act === 'refuse') return verdict.why;
  return verdict.act === 'ask' && verdict.mustType ? 'type' : verdict.act;
};

describe('a call', () => {
  test.each<[string, Spending, Spender, string]>([
    ['up to 1 USDC, whoever pays', call(1n), NOBODY, 'pay'],
    ['above it, with nobody to ask', call(2n), NOBODY, 'nobody'],
    ['above it, at a terminal', call(2n), AT_TERMINAL, 'ask'],
    ['above it, with --yes', call(2n), WITH_YES, 'pay'],
    ['above it, with --yes at a terminal', call(2n), { ...AT_TERMINAL, saysYes: true }, 'pay'],
    ['within --max-payment', call(2n), { ...NOBODY, most: 2n * USDC }, 'pay'],
    ['above --max-payment, which no answer lifts', call(3n), { ...AT_TERMINAL, most: 2n * USDC }, 'most'],
    ['within a limit of their own', call(5n), limited(NOBODY, { perCall: 5n * USDC }), 'pay'],
    ['above it, with --yes', call(6n), limited(WITH_YES, { perCall: 5n * USDC }), 'limit'],
    ['above it, at a terminal', call(6n), limited(AT_TERMINAL, { perCall: 5n * USDC }), 'ask'],
    ['one of many, within what was agreed to', call(3n), agreedCall(3n), 'pay'],
    ['one of many, above it', call(4n), agreedCall(3n), 'not_agreed'],
  ])('%s', (_name, spending, spender, expected) => {
    expect(said(spending, spender)).toBe(expected);
  });
});

const agreedCall = (usdc: bigint): Spender => ({ ...AT_TERMINAL, agreed: { kind: 'call', amount: usdc * USDC } });

describe('a booking', () => {
  const real = booking(90n, MAINNET);
  const over = limited(WITH_YES, { booking: 50n * USDC });
  const typer = limited(AT_TERMINAL, { booking: 50n * USDC });
  test.each<[string, Spending, Spender, string]>([
    ['nobody there', booking(90n), NOBODY, 'nobody'],
    ['at a terminal', booking(90n), AT_TERMINAL, 'ask'],
    ['with --yes', booking(90n), WITH_YES, 'pay'],
    ['above their limit: --yes does not lift it', booking(90n), over, 'limit'],
    ['above their limit: typed at a terminal', booking(90n), typer, 'type'],
    ['above their limit: --max-payment speaks for it', booking(90n), { ...over, most: 90n * USDC }, 'pay'],
    ['of real money: typed', real, AT_TERMINAL, 'type'],
    ['of real money: --yes alone', real, WITH_YES, 'real_money'],
    ['of real money: --yes and --max-payment', real, { ...WITH_YES, most: 90n * USDC }, 'pay'],
    ['of real money: a program within its allowance', real, program(100n), 'pay'],
    ['agreed to', booking(90n), agreedTo(AT_TERMINAL, 90n), 'pay'],
    ['dearer than agreed to', booking(91n), agreedTo(WITH_YES, 90n), 'not_agreed'],
    ['cheaper than agreed to', booking(89n), agreedTo(WITH_YES, 90n), 'not_agreed'],
    ['agreed to by a key, above their limit', booking(90n), agreedTo(typer, 90n), 'limit'],
    ['typed, above their limit', booking(90n), agreedTo(typer, 90n, true), 'pay'],
    ['of real money, agreed to by a key', real, agreedTo(WITH_YES, 90n), 'not_agreed'],
    ['of real money, typed', real, agreedTo(AT_TERMINAL, 90n, true), 'pay'],
    [
      'of real money, dearer than a program agreed to',
      booking(91n, MAINNET),
      agreedTo(program(100n), 90n),
      'not_agreed',
    ],
    ['unverified, agreed to at a terminal', booking(90n, UNVERIFIED), agreedTo(AT_TERMINAL, 90n), 'ask'],
    ['unverified and dearer than agreed to', booking(91n, UNVERIFIED), agreedTo(AT_TERMINAL, 90n), 'not_agreed'],
    ['unverified, for a program', booking(90n, UNVERIFIED), agreedTo(program(100n), 90n), 'unverified'],
    ['unverified, with nobody there', booking(90n, UNVERIFIED), agreedTo(NOBODY, 90n), 'unverified'],
  ])('%s', (_name, spending, spender, expected) => {
    expect(said(spending, spender)).toBe(expected);
  });
});

test('hosts, the day and an allowance are lifted by nothing that a person or a program says', () => {
  const amount = fc.bigInt({ min: 1n, max: 200n * USDC });
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const agreed = fc.oneof(
    fc.record({ kind: fc.constant('call' as const), amount }),
    fc.record({ kind: fc.constant('booking' as const), amount, isTyped: fc.boolean() }),
  );
  fc.assert(
    fc.property(
      fc.record({
        spending: fc.record({
          kind: fc.constantFrom('call' as const, 'booking' as const),
          amount,
          network: fc.constantFrom(SOLANA_NETWORKS.mainnet, SOLANA_NETWORKS.devnet),
          host: fc.constantFrom('a.example', 'b.example'),
          spent: amount,
          warning: maybe(fc.constant('it could not be verified')),
        }),
        spender: fc.record({
          limits: fc.record({
            perCall: fc.option(amount),
            perDay: fc.option(amount),
            booking: fc.option(amount),
            hosts: fc.option(fc.constant<string[]>(['a.example'])),
          }),
          most: maybe(amount),
          saysYes: fc.boolean(),
          canAsk: fc.boolean(),
          agreed: maybe(agreed),
        }),
        allowed: maybe(amount),
      }),
      ({ spending, spender, allowed }) => {
        const whole: Spender = {
          ...spender,
          ...(allowed !== undefined && { allowance: createAllowance({ total: allowed, perPayment: null }) }),
        };
        const verdict = mayBePaid(spending, whole);
        if (verdict.act === 'refuse') {
          const { code, message } = refusal(spending, whole, verdict.why);
          expect(code).not.toBe('internal_error');
          expect(message).not.toMatch(/undefined|null/);
          return;
        }
        const { limits } = spender;
        expect(limits.hosts === null || limits.hosts.includes(spending.host)).toBe(true);
        expect(limits.perDay === null || spending.spent + spending.amount <= limits.perDay).toBe(true);
        expect(allowed === undefined || spending.amount <= allowed).toBe(true);
        expect(spender.most === undefined || spending.amount <= spender.most).toBe(true);
        if (verdict.act === 'ask') expect(spender.canAsk || spender.saysYes).toBe(true);
        else if (spending.kind === 'booking') {
          expect(spending.warning).toBeUndefined();
          expect(spender.agreed?.kind === 'booking' ? spender.agreed.amount : spender.saysYes).toBeTruthy();
          if (spender.agreed?.kind === 'booking') expect(spending.amount).toBe(spender.agreed.amount);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
