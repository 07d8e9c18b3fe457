import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDatabase, postgresIsInstalled } from '../store/postgres.ts';
import { ANA, type Failure, type OrderAnswer, openStack, type SeenOrder, type Stack } from './stack.ts';

/** The partner service on PostgreSQL: the same rules, and races between two processes' worth of connections. */

describe.skipIf(!postgresIsInstalled)('on PostgreSQL', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await openStack({ databaseUrl: await newDatabase() });
  });
  afterAll(() => stack.close());

  const update = (orderId: string, body: object, headers: Record<string, string> = {}) =>
    stack.partner<OrderAnswer>('UpdateOrder', { orderId, ...body }, { headers });

  test('an order goes its whole way, and a wrong move is 409', async () => {
    const { id } = await stack.order();
    for (const status of ['FUNDS_RECEIVED', 'PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED']) {
      expect((await update(id, { status })).body.order?.status).toBe(status);
    }
    expect((await update(id, { status: 'CANCELED' })).status).toBe(409);
    const refund = { status: 'REFUNDING', returnDetails: { reason: 'Returned.' } };
    expect((await update(id, refund)).body.order?.returnDetails).toEqual({ reason: 'Returned.' });
    expect((await update(id, { status: 'REFUNDED' })).status).toBe(200);
  });

  test('pages hold each order once, newest first', async () => {
    for (let count = 0; count < 5; count++) await stack.order();
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const { body } = await stack.partner<{ orders: SeenOrder[]; totalCount: number; nextPageToken?: string }>(
        'GetOrders',
        { pageSize: 3, ...(pageToken ? { pageToken } : {}) },
      );
      seen.push(...body.orders.map(({ id }) => id));
      pageToken = body.nextPageToken;
      if (!pageToken) expect(body.totalCount).toBe(seen.length);
    } while (pageToken);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('fifty writers at once on one order: one version each, none lost, and no failure inside', async () => {
    const { id, version } = await stack.order();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => update(id, { toAmount: `1.${String(index + 1).padStart(3, '0')}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(new Set(answers.map(({ body }) => body.order.version)).size).toBe(50);
    expect((await stack.show(id)).version).toBe(version + 50);
  });

  test('under If-Match one of many writers gets through, and the same Idempotency-Key is one update', async () => {
    const { id, version } = await stack.order();
    const guarded = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        update(id, { toAmount: `${index + 1}` }, { 'if-match': `"${version}"` }),
      ),
    );
    expect(guarded.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(guarded.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const same = await Promise.all(
      Array.from({ length: 12 }, () => update(id, { status: 'FUNDS_RECEIVED' }, { 'idempotency-key': 'pg' })),
    );
    for (const answer of same) expect(answer.body).toEqual(same[0]?.body);
    expect((await stack.show(id)).version).toBe(version + 2);
  });

  test('requirements are added, asked of the customer and fulfilled', async () => {
    const asked = async () =>
      (await stack.customer<{ requirements: object[]; complianceStatus: string }>('GetOnboardingRequirements', {}))
        .body;
    expect((await asked()).complianceStatus).toBe('COMPLIANCE_STATUS_SUCCESS');
    const added = await stack.partner<{ requirementId: string } & Failure>('AddCustomerRequirement', {
      customerId: ANA,
      data: 'LAST_OCCUPATION',
      maxAgeDays: 30,
    });
    expect(added.status).toBe(200);
    expect(await asked()).toMatchObject({ complianceStatus: 'COMPLIANCE_STATUS_PENDING' });
    expect(JSON.stringify((await asked()).requirements)).toContain('LAST_OCCUPATION');
    const given = await stack.customer('SubmitCustomerData', {
      data: [{ lastOccupation: { code: '251101' } }, { email: { value: 'ana@example.org' } }],
    });
    expect([given.status, given.body]).toMatchObject([200, { complianceStatus: 'COMPLIANCE_STATUS_PROCESSING' }]);
    for (let round = 0; round < 3; round++) {
      await stack.service.worker.runDue();
      stack.clock.advance(5_000);
    }
    expect((await asked()).complianceStatus).toBe('COMPLIANCE_STATUS_SUCCESS');
  });

  test('a key is revoked and a token expires here as well', async () => {
    const { key_id, key } = await stack.issueKey('par_sandbox_bank');
    expect((await stack.partner('GetOrders', {}, { key })).status).toBe(200);
    await stack.operator(`partner-keys/${key_id}/revoke`, {});
    expect((await stack.partner('GetOrders', {}, { key })).status).toBe(401);
    const token = await stack.issueToken(ANA, 1);
    expect((await stack.customer('GetOnboardingRequirements', {}, { token })).status).toBe(200);
    stack.clock.advance(61_000);
    expect((await stack.customer('GetOnboardingRequirements', {}, { token })).status).toBe(401);
  });
});
