import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDatabase, postgresIsInstalled } from '../store/postgres.ts';
import { openStack, PIX, type SeenOrder, type Stack } from './stack.ts';

/** CreateOrder, its breaker and its worker on PostgreSQL, in two services at once. */

describe.skipIf(!postgresIsInstalled)('on PostgreSQL', () => {
  let stack: Stack;
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await newDatabase();
    stack = await openStack({ databaseUrl, partner: { platformStepMs: 100 } });
  });
  afterAll(() => stack.close());

  const body = (fromAmount: string) => ({
    partnerId: PIX,
    countryCode: 'BRA',
    rampType: 'ONRAMP',
    fromCurrency: 'BRL',
    toCurrency: 'SOLANA_USDC',
    fromAmount,
    paymentMethod: 'BRA_PIX',
  });
  const create = (fromAmount: string, key: string) =>
    stack.customer<{ order?: SeenOrder; code?: string }>('CreateOrder', body(fromAmount), {
      headers: { 'idempotency-key': key },
    });

  test('ten calls at once with one key are one order', async () => {
    const said: unknown[] = [];
    /** A busy machine may keep one from the database for too long: it asks again, as the answer says. */
    const insist = async (tries = 3): ReturnType<typeof create> => {
      const answer = await create('301', 'k1');
      if (answer.status !== 503 || tries === 1) return answer;
      said.push(answer.body);
      return insist(tries - 1);
    };
    const answers = await Promise.all(Array.from({ length: 10 }, () => insist()));
    expect(
      answers.map(({ status }) => status),
      JSON.stringify(said),
    ).toEqual(Array(10).fill(200));
    expect(new Set(answers.map((one) => one.body.order?.id)).size).toBe(1);
  });

  test('refusals, outages and lost answers are what they are on a file', async () => {
    expect((await create('150.4220', 'k2')).body.code).toBe('failed_precondition');
    expect((await create('150.5030', 'k3')).body.code).toBe('unavailable');
    expect((await create('150.0003', 'k4')).status).toBe(200);
  });

  test('workers of two services move an order along without a step twice', async () => {
    const orderId = (await create('302', 'k5')).body.order?.id ?? '';
    const other = await stack.open({ databaseUrl, partner: { platformStepMs: 100 } });
    const { key } = await stack.issueKey(PIX);
    try {
      for (let round = 0; round < 12; round++) {
        await Promise.all([stack.service.worker.runDue(), other.worker.runDue()]);
        stack.clock.advance(200);
      }
    } finally {
      await other.close();
    }
    const seen = await stack.partner<{ order: SeenOrder }>('GetOrderDetails', { orderId }, { key });
    expect(seen.body.order).toMatchObject({ status: 'PAYMENT_PROCESSED', version: 4 });
  });
});
