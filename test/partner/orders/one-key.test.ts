import { afterAll, beforeAll, expect, test } from 'vitest';
import { BANK, type OrderAnswer, openStack, type Stack } from '../stack.ts';

/** One key is one order for the compliance gate too: it never counts against itself, and counts each time it begins. */

let stack: Stack;
let token: string;

const as = <T>(operation: string, body: object, headers: Record<string, string> = {}) =>
  stack.customer<T>(operation, body, { token, headers });

beforeAll(async () => {
  stack = await openStack();
  const { customer_id: customerId } = await stack.operator<{ customer_id: string }>('customers', {
    country: 'BRA',
    partner_ids: [BANK],
  });
  token = await stack.issueToken(customerId);
  await as('SubmitCustomerData', {
    data: [
      { name: { firstName: 'Rui', lastName: 'Exemplo' } },
      { birthDate: { date: '1991-02-03' } },
      { nationality: { country: 'BRA' } },
      { email: { value: 'rui@example.com' } },
      { taxId: { country: 'BRA', type: 'CPF', number: '52998224725' } },
      { bankAccount: { pix: { pixKey: 'rui@example.com' } } },
      { cryptoWallet: { type: 'SOLANA', address: '6tGK3AjUG8AEbxNEoySYLxVT3NUifm6FZXRBT1xCBmVH' } },
    ],
  });
  await as('AcceptTerms', { termsUrl: 'https://farelock.example/terms/2026-11-01' });
  stack.clock.advance(5_000);
});
afterAll(() => stack.close());

const create = (fromAmount: string, key: string) =>
  as<OrderAnswer>(
    'CreateOrder',
    {
      partnerId: BANK,
      countryCode: 'BRA',
      rampType: 'ONRAMP',
      fromCurrency: 'BRL',
      toCurrency: 'SOLANA_USDC',
      fromAmount,
      paymentMethod: 'BRA_PIX',
    },
    { 'idempotency-key': key },
  );

test('what was ordered in between counts: an order that is too much by now is not begun again', async () => {
  // 600 USD and 500 USD; from 1,000 USD on a proof of identity is asked for.
  const first = await create('3000.5030', 'large-1');
  expect([first.status, first.body.detail?.reason]).toEqual([503, 'partner_unavailable']);
  expect((await create('2500', 'large-2')).status).toBe(200);
  const again = await create('3000.5030', 'large-1');
  expect([again.status, again.body.detail?.reason]).toEqual([400, 'compliance_required']);
});

test('an order does not count against itself when it is tried anew', async () => {
  for (const time of [1, 2]) {
    const answer = await create('2000.5030', 'itself');
    expect([time, answer.status, answer.body.detail?.reason]).toEqual([time, 503, 'partner_unavailable']);
  }
});

test('calls at once with one key are one order, which is not too much because there are several', async () => {
  // 480 USD beside the 500 USD above; twice that would be too much.
  const answers = await Promise.all(Array.from({ length: 4 }, () => create('2400', 'at-once')));
  expect(answers.map(({ status, body }) => body.detail?.reason ?? status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body.order.id)).size).toBe(1);
});
