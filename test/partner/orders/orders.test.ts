import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newDatabase, postgresIsInstalled } from '../../store/postgres.ts';
import { type Answer, type Failure, openStack, type SeenOrder, type Stack } from '../stack.ts';

/** Orders: one change a version, money where it was, answers given once (CONTRACT, section 11). */

type Updated = Answer<{ order: SeenOrder; allowedStatuses: string[] } & Failure>;

const databases = ['libsql', ...(postgresIsInstalled ? ['PostgreSQL'] : [])];

describe.each(databases)('on %s', (database) => {
  let stack: Stack;
  let orderId: string;
  let round = 0;

  beforeAll(async () => {
    stack = await openStack(database === 'PostgreSQL' ? { databaseUrl: await newDatabase() } : {});
  });
  afterAll(() => stack.close());
  beforeEach(async () => {
    orderId = (await stack.order()).id;
    round += 1;
  });

  const update = (body: object, headers: Record<string, string> = {}): Promise<Updated> =>
    stack.partner('UpdateOrder', { orderId, ...body }, { headers }) as Promise<Updated>;
  const history = async () =>
    (
      await stack.partner<{ history: { version: number; toStatus: string; fields: string[] }[] }>('GetOrderDetails', {
        orderId,
        includeHistory: true,
      })
    ).body.history;

  test('the same update again changes nothing, bumps nothing and is recorded once', async () => {
    const body = {
      status: 'FUNDS_RECEIVED',
      sourceTransactionId: 'tx-1',
      depositInstructions: { iban: 'DE89', accountNumber: '12' },
      toAmount: '10.50',
    };
    const first = await update(body);
    expect(first.body.order.version).toBe(2);
    const again = await update({ ...body, toAmount: '10.5' });
    expect(again.status).toBe(200);
    expect(again.body.order).toEqual(first.body.order);
    expect((await history()).map(({ version, toStatus }) => [version, toStatus])).toEqual([
      [1, 'AWAITING_FUNDS'],
      [2, 'FUNDS_RECEIVED'],
    ]);
  });

  test('the same status with new data adds the data', async () => {
    await update({ status: 'FUNDS_RECEIVED' });
    const patched = await update({
      status: 'FUNDS_RECEIVED',
      sourceTransactionId: 'tx-2',
      customerFacingReason: 'Thanks',
    });
    expect(patched.body.order).toMatchObject({
      version: 3,
      sourceTransactionId: 'tx-2',
      customerFacingReason: 'Thanks',
    });
    expect((await history()).at(-1)?.fields).toEqual(['sourceTransactionId', 'customerFacingReason']);
  });

  test('a source transaction, once set, stays', async () => {
    await update({ sourceTransactionId: 'tx-1' });
    const other = await update({ sourceTransactionId: 'tx-2', toAmount: '1' });
    expect([other.status, other.body.detail?.reason]).toEqual([409, 'transaction_id_fixed']);
    expect(await stack.show(orderId)).toMatchObject({ sourceTransactionId: 'tx-1', version: 2 });
  });

  test('a destination transaction may change until the payment is processed', async () => {
    await update({ status: 'FUNDS_RECEIVED' });
    await update({ status: 'PAYMENT_SUBMITTED', destinationTransactionId: 'd-1' });
    const processed = await update({ status: 'PAYMENT_PROCESSED', destinationTransactionId: 'd-2' });
    expect(processed.body.order.destinationTransactionId).toBe('d-2');
    expect((await update({ destinationTransactionId: 'd-3' })).body.detail?.reason).toBe('transaction_id_fixed');
    await update({ status: 'REFUNDING', returnDetails: { reason: 'late' } });
    expect((await update({ destinationTransactionId: 'd-3' })).status).toBe(409);
    expect((await update({ destinationTransactionId: 'd-2' })).status).toBe(200);
  });

  test('a step that needs data is refused naming the field, and goes once it is there', async () => {
    const error = await update({ status: 'ERROR' });
    expect([error.status, error.body.detail?.issues?.[0]?.path]).toEqual([400, 'reason']);
    await update({ status: 'CANCELED' });
    const late = await update({ status: 'REFUNDING' });
    expect([late.status, late.body.detail?.issues?.[0]?.path]).toEqual([400, 'sourceTransactionId']);
    expect((await update({ status: 'REFUNDING', sourceTransactionId: 'late-1' })).status).toBe(200);
  });

  test('funds that were seen are never forgotten: not by a review, not by an error', async () => {
    await update({ status: 'FUNDS_RECEIVED' });
    await update({ status: 'ERROR', reason: 'x' });
    const canceled = await update({ status: 'CANCELED' });
    expect([canceled.status, canceled.body.detail]).toMatchObject([
      409,
      { from: 'ERROR', to: 'CANCELED', allowed: ['IN_REVIEW', 'FUNDS_RECEIVED', 'REFUNDING'] },
    ]);
    await update({ status: 'IN_REVIEW' });
    expect((await update({ status: 'AWAITING_FUNDS' })).status).toBe(409);
    expect((await update({ status: 'REFUNDING' })).status).toBe(200);
  });

  test('a source transaction that was added before counts as funds, whatever the status was', async () => {
    await update({ sourceTransactionId: 'tx' });
    await update({ status: 'ERROR', reason: 'x' });
    expect((await update({ status: 'CANCELED' })).status).toBe(409);
    expect((await update({ status: 'REFUNDING' })).status).toBe(200);
  });

  test('a source transaction in the very update counts as funds', async () => {
    await update({ status: 'ERROR', reason: 'x' });
    expect((await update({ status: 'CANCELED', sourceTransactionId: 'tx' })).status).toBe(409);
    expect((await update({ status: 'REFUNDING', sourceTransactionId: 'tx' })).status).toBe(200);
  });

  test('the names of the sample are synonyms of three fields; both at once are refused', async () => {
    const { body } = await update({
      depositInstructions: { bankName: 'B', accountNumber: '1', routing_number: '2', reference: '3' },
    });
    expect(body.order.depositInstructions).toEqual({
      bankName: 'B',
      bankAccountNumber: '1',
      bankRoutingNumber: '2',
      depositMessage: '3',
    });
    const both = await update({ depositInstructions: { accountNumber: '1', bankAccountNumber: '1' } });
    expect([both.status, both.body.detail?.issues?.[0]?.path]).toEqual([400, 'depositInstructions.accountNumber']);
  });

  test('If-Match lets through who read the order as it is, and nobody else', async () => {
    const etag = (await stack.partner('GetOrderDetails', { orderId })).headers.get('etag') ?? '';
    expect(etag).toBe('"1"');
    expect((await update({ toAmount: '1' }, { 'if-match': etag })).status).toBe(200);
    const stale = await update({ toAmount: '2' }, { 'if-match': etag });
    expect([stale.status, stale.body.code, stale.body.detail]).toMatchObject([
      409,
      'aborted',
      { reason: 'order_version_mismatch', version: 2 },
    ]);
    expect((await update({ toAmount: '2' }, { 'if-match': '"2"' })).status).toBe(200);
    expect((await update({ toAmount: '3' }, { 'if-match': 'now' })).status).toBe(400);
    expect((await update({ toAmount: '3' }, { 'if-match': '*' })).status).toBe(200);
  });

  describe('an Idempotency-Key', () => {
    const key = (name: string) => ({ 'idempotency-key': `${name}-${round}` });

    test('gives the first answer again, though the order has gone on', async () => {
      const first = await update({ status: 'FUNDS_RECEIVED' }, key('a'));
      await update({ status: 'PAYMENT_SUBMITTED' });
      const again = await update({ status: 'FUNDS_RECEIVED' }, key('a'));
      expect([again.status, again.body]).toEqual([200, first.body]);
      expect(await stack.show(orderId)).toMatchObject({ status: 'PAYMENT_SUBMITTED', version: 3 });
    });

    test('gives a refusal again too, though it would be let through by now', async () => {
      const first = await update({ status: 'PAYMENT_SUBMITTED' }, key('b'));
      expect(first.status).toBe(409);
      await update({ status: 'FUNDS_RECEIVED' });
      const again = await update({ status: 'PAYMENT_SUBMITTED' }, key('b'));
      expect([again.status, again.body]).toEqual([409, first.body]);
    });

    test('is refused for another request, and is one partner’s and one procedure’s', async () => {
      await update({ toAmount: '1' }, key('c'));
      const other = await update({ toAmount: '2' }, key('c'));
      expect([other.status, other.body.detail?.reason]).toEqual([409, 'idempotency_key_reused']);
      const spelled = await stack.partner('UpdateOrder', { to_amount: '1', order_id: orderId }, { headers: key('c') });
      expect(spelled.status).toBe(200);
      const stranger = await stack.issueKey('par_sandbox_pix');
      const theirs = await stack.partner<Failure>(
        'UpdateOrder',
        { orderId, toAmount: '2' },
        { key: stranger.key, headers: key('c') },
      );
      expect(theirs.body.detail?.reason).toBe('order_not_found');
    });

    test('is forgotten after 24 hours', async () => {
      await update({ toAmount: '1' }, key('d'));
      stack.clock.advance(24 * 3_600_000 - 60_000);
      expect((await update({ toAmount: '2' }, key('d'))).status).toBe(409);
      stack.clock.advance(60_000);
      expect((await update({ toAmount: '2' }, key('d'))).status).toBe(200);
    });

    test('that is no key is refused', async () => {
      expect((await update({ toAmount: '1' }, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
    });
  });

  test('pages hold every order once, newest first, though new ones come in between', async () => {
    const all = new Set<string>();
    let token: string | undefined;
    let last = '9999';
    for (let page = 0; page < 50; page++) {
      const { body } = await stack.partner<{ orders: SeenOrder[]; totalCount: number; nextPageToken?: string }>(
        'GetOrders',
        { pageSize: 2, ...(token === undefined ? {} : { pageToken: token }) },
      );
      expect(body.orders.length).toBeLessThanOrEqual(2);
      expect(body.totalCount).toBeGreaterThan(all.size);
      for (const order of body.orders) {
        expect(all.has(order.id)).toBe(false);
        expect(order.createdAt <= last).toBe(true);
        last = order.createdAt;
        all.add(order.id);
      }
      if (page === 0) await stack.order();
      token = body.nextPageToken;
      if (token === undefined) break;
    }
    expect(all.has('rmp_demo_done')).toBe(true);
    expect(token).toBeUndefined();
  });

  test('a page token of another list, or of nobody, is refused', async () => {
    const { body } = await stack.partner<{ nextPageToken: string }>('GetOrders', { pageSize: 1 });
    for (const request of [
      { pageToken: body.nextPageToken, status: 'ERROR' },
      { pageToken: 'x' },
      { pageToken: Buffer.from('[1,null,{},""]').toString('base64url') },
    ]) {
      const answer = await stack.partner<Failure>('GetOrders', request);
      expect([answer.status, answer.body.detail?.issues?.[0]?.path]).toEqual([400, 'pageToken']);
    }
  });

  test('an order and its history are of one moment, whatever is written meanwhile', async () => {
    const read = () =>
      stack.partner<{ order: SeenOrder; history: { version: number; toStatus: string }[] }>('GetOrderDetails', {
        orderId,
        includeHistory: true,
      });
    for (let turns = 0; turns < 20; turns++) {
      const reading = read();
      for (let turn = 0; turn < turns; turn++) await null;
      await update({ toAmount: `${turns + 1}.5` });
      const { body } = await reading;
      expect(body.history.at(-1)?.version).toBe(body.order.version);
    }
  });

  test('totalCount counts the matches of the filter', async () => {
    const { body } = await stack.partner<{ orders: SeenOrder[]; totalCount: number }>('GetOrders', {
      status: 'PAYMENT_PROCESSED',
      pageSize: 1,
    });
    expect(body.totalCount).toBeGreaterThanOrEqual(1);
    expect(body.orders.every(({ status }) => status === 'PAYMENT_PROCESSED')).toBe(true);
  });

  test('account numbers, names and reasons are on the disk only sealed', async () => {
    await update(
      {
        status: 'ERROR',
        reason: 'Vermerk-Klartext',
        customerFacingReason: 'Kunden-Klartext',
        depositInstructions: { accountHolderName: 'Inhaber-Klartext' },
        returnDetails: { reason: 'Ruecklauf-Klartext' },
      },
      { 'idempotency-key': `Schluessel-Klartext-${round}` },
    );
    if (database === 'PostgreSQL') return;
    const disk = ['service.db', 'service.db-wal']
      .map((file) => readFileSync(join(stack.home, file), 'latin1'))
      .join('');
    expect(disk).toContain(orderId);
    expect(disk).not.toContain('-Klartext');
    expect(disk).not.toContain(stack.key);
  });
});
