import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ANA,
  type Answer,
  BANK,
  BO,
  type Failure,
  OPERATIONS,
  ORDER,
  openStack,
  PIX,
  pathOf,
  type Stack,
} from './stack.ts';

/** Who may call what: every operation against every key and token that is no good (spec/partner-service.md, Authentication). */

let stack: Stack;
let order: { id: string };
beforeAll(async () => {
  stack = await openStack();
  order = await stack.order();
});
afterAll(() => stack.close());

const ALL = [
  ...OPERATIONS.partner.map((name) => ['partner', name] as const),
  ...OPERATIONS.customer.map((name) => ['customer', name] as const),
];
const CONCERN_ONE = ALL.filter(([service, name]) => service === 'customer' && name !== 'GetAvailablePartners');

/** A body that each operation takes, so that nothing but the key can be what is refused. */
const bodyOf = (operation: string): object =>
  ({
    AddCustomerRequirement: { customerId: ANA, data: 'SELFIE' },
    UpdateOrder: { orderId: order.id, status: 'FUNDS_RECEIVED' },
    GetOrders: {},
    GetOrderDetails: { orderId: order.id },
    GetOnboardingRequirements: {},
    GetAvailablePartners: {
      countryCode: ORDER.countryCode,
      rampType: ORDER.rampType,
      fromCurrency: ORDER.fromCurrency,
      toCurrency: ORDER.toCurrency,
      paymentMethod: ORDER.paymentMethod,
      fromAmount: ORDER.fromAmount,
    },
    CreateOrder: ORDER,
    SubmitCustomerData: { data: [{ email: { value: 'ana@example.org' } }] },
    AcceptTerms: { termsUrl: 'https://farelock.example/terms' },
  })[operation] ?? {};

const expectRefusal = (name: string, answer: Answer<Failure>) => {
  expect([name, answer.status, answer.body.code]).toEqual([name, 401, 'unauthenticated']);
  expect(answer.body.message).not.toBe('');
  expect(answer.body).not.toHaveProperty('details');
};

/** Keys that are none, by what is wrong with them. */
async function badKeys(): Promise<Record<string, string | null>> {
  const revoked = await stack.issueKey(BANK);
  await stack.operator(`partner-keys/${revoked.key_id}/revoke`, {});
  const rotated = await stack.issueKey(BANK);
  await stack.operator(`partner-keys/${rotated.key_id}/rotate`, { overlap_hours: 0 });
  const { key } = stack;
  const last = key.at(-1) === 'A' ? 'B' : 'A';
  return {
    missing: null,
    empty: '',
    invalid: 'flk_demo_0000000000000000000000000000000000000000000',
    'one letter off': key.slice(0, -1) + last,
    'cut short': key.slice(0, -1),
    'of the other environment': key.replace('flk_demo_', 'flk_live_'),
    'of another case': key.toUpperCase(),
    'twice in one header': `${key}, ${key}`,
    'as a bearer': `Bearer ${key}`,
    'long garbage': 'x'.repeat(4_000),
    'an attack on SQL': "' or '1'='1",
    revoked: revoked.key,
    'rotated without overlap': rotated.key,
  };
}

test('a key that is missing, wrong, revoked, rotated out or of the other environment is 401 on every operation', async () => {
  const before = await stack.show(order.id);
  for (const [wrong, key] of Object.entries(await badKeys())) {
    for (const [service, operation] of ALL) {
      const answer = await stack.call<Failure>(pathOf(service, operation), bodyOf(operation), {
        key,
        token: stack.token,
      });
      expectRefusal(`${operation}, key ${wrong}`, answer);
    }
  }
  expect(await stack.show(order.id)).toEqual(before);
});

test('the key is looked at before the body: whoever has none learns nothing of what is valid', async () => {
  for (const [service, operation] of ALL) {
    for (const body of ['{', '[]', { zzz: 1 }]) {
      const answer = await stack.call<Failure>(pathOf(service, operation), body, { key: null });
      expectRefusal(operation, answer);
    }
  }
});

describe('calls that concern one customer', () => {
  test('need a token that is there, genuine, unexpired, and of this environment', async () => {
    const expired = await stack.issueToken(ANA, 1);
    stack.clock.advance(61_000);
    const { token } = stack;
    const tokens: Record<string, string | null> = {
      missing: null,
      invalid: 'nonsense',
      expired,
      'one letter off': token.slice(0, -1) + (token.at(-1) === 'A' ? 'B' : 'A'),
      'an API key': stack.key,
      "the customer's id": ANA,
      'a web token without signature': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(
        JSON.stringify({ sub: ANA, customer_id: ANA, exp: 4_102_444_800 }),
      ).toString('base64url')}.`,
      'long garbage': 'y'.repeat(4_000),
    };
    for (const [wrong, given] of Object.entries(tokens)) {
      for (const [service, operation] of CONCERN_ONE) {
        const answer = await stack.call<Failure>(pathOf(service, operation), bodyOf(operation), {
          key: stack.key,
          token: given,
        });
        expectRefusal(`${operation}, token ${wrong}`, answer);
      }
    }
    expect((await stack.customer('GetOnboardingRequirements', {})).status).toBe(200);
  });

  test('another scheme than Bearer is no token', async () => {
    for (const scheme of ['Basic', 'Token', '']) {
      const answer = await stack.customer<Failure>(
        'GetOnboardingRequirements',
        {},
        { token: null, headers: { authorization: `${scheme} ${stack.token}`.trim() } },
      );
      expectRefusal(scheme, answer);
    }
  });

  test('a token alone, without a key, is not enough; partner calls need no token', async () => {
    for (const [service, operation] of CONCERN_ONE) {
      const answer = await stack.call<Failure>(pathOf(service, operation), bodyOf(operation), { token: stack.token });
      expectRefusal(operation, answer);
    }
    expect((await stack.partner('GetOrders', {})).status).toBe(200);
    expect((await stack.customer('GetAvailablePartners', bodyOf('GetAvailablePartners'), { token: null })).status).toBe(
      200,
    );
  });
});

test('a rotated key works through its overlap, the new one at once, and the old one no longer after it', async () => {
  const old = await stack.issueKey(BANK);
  const rotated = await stack.operator<{ key: string }>(`partner-keys/${old.key_id}/rotate`, { overlap_hours: 2 });
  const ask = async (key: string) => (await stack.partner('GetOrders', {}, { key })).status;
  expect([await ask(old.key), await ask(rotated.key)]).toEqual([200, 200]);
  stack.clock.advance(2 * 3_600_000 - 60_000);
  expect([await ask(old.key), await ask(rotated.key)]).toEqual([200, 200]);
  stack.clock.advance(120_000);
  expect([await ask(old.key), await ask(rotated.key)]).toEqual([401, 200]);
});

describe("another partner's", () => {
  test('order is 404 to read and to update, as one that does not exist, and stays as it is', async () => {
    const other = await stack.issueKey(PIX);
    const before = await stack.show(order.id);
    for (const [operation, body] of [
      ['GetOrderDetails', { orderId: order.id }],
      ['UpdateOrder', { orderId: order.id, status: 'FUNDS_RECEIVED' }],
      ['UpdateOrder', { orderId: order.id, status: 'ERROR', reason: 'x' }],
      ['UpdateOrder', { orderId: order.id }],
    ] as const) {
      const foreign = await stack.partner<Failure>(operation, body, { key: other.key });
      const unknown = await stack.partner<Failure>(
        operation,
        { ...body, orderId: 'ord_00000000000000000000000000' },
        { key: other.key },
      );
      expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found']);
      expect(foreign.body).toEqual(unknown.body);
    }
    expect(await stack.show(order.id)).toEqual(before);
    const seen = await stack.partner<{ orders: { partnerId: string }[] }>(
      'GetOrders',
      { pageSize: 200 },
      { key: other.key },
    );
    expect(new Set(seen.body.orders.map((one) => one.partnerId))).not.toContain(BANK);
  });

  test('customer is 404 to add a requirement to, as one that does not exist', async () => {
    const stranger = await stack.operator<{ customer_id: string }>('customers', { country: 'PRT' });
    for (const customerId of [stranger.customer_id, 'cus_nobody']) {
      const answer = await stack.partner<Failure>('AddCustomerRequirement', { customerId, data: 'SELFIE' });
      expect([customerId, answer.status, answer.body.code]).toEqual([customerId, 404, 'not_found']);
    }
  });
});

test('a token of a customer whom the key’s partner does not know is as one that nobody has, on every operation', async () => {
  const { customer_id } = await stack.operator<{ customer_id: string }>('customers', {
    country: 'BRA',
    partner_ids: [PIX],
  });
  const [token, pix] = [await stack.issueToken(customer_id), (await stack.issueKey(PIX)).key];
  const bodies: Record<string, object> = {
    GetOnboardingRequirements: {},
    SubmitCustomerData: { data: [{ email: { value: 'a@example.com' } }] },
    AcceptTerms: { termsUrl: 'https://farelock.example/terms/2026-11-01' },
    CreateOrder: { ...ORDER, partnerId: PIX },
  };
  for (const [operation, body] of Object.entries(bodies)) {
    for (const headers of [{}, { 'idempotency-key': 'once' }]) {
      const nobody = await stack.customer<Failure>(operation, body, { token: 'flk_cus_demo_nobody', headers });
      const foreign = await stack.customer<Failure>(operation, body, { token, headers });
      expect([operation, foreign.status, foreign.body]).toEqual([operation, 401, nobody.body]);
      expect(foreign.body.detail?.reason).toBe('customer_token_invalid');
      expect(foreign.body.message).toContain('is not linked to this partner');
    }
    const own = await stack.customer<Failure>(operation, body, { token, key: pix });
    expect([operation, own.status]).not.toEqual([operation, 401]);
  }
  const asked = await stack.customer<{ requirements: unknown[] }>('GetOnboardingRequirements', {}, { token, key: pix });
  expect(asked.status).toBe(200);
});

test('one customer sees nothing of another: each token answers for its own customer alone', async () => {
  const [ana, bo] = [await stack.issueToken(ANA), await stack.issueToken(BO)];
  await stack.partner('AddCustomerRequirement', { customerId: ANA, data: 'PROOF_OF_ADDRESS' });
  const asked = async (token: string) =>
    JSON.stringify((await stack.customer('GetOnboardingRequirements', {}, { token })).body);
  expect(await asked(ana)).toContain('PROOF_OF_ADDRESS');
  expect(await asked(bo)).not.toContain('PROOF_OF_ADDRESS');
});
