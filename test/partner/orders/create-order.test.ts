import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/home.ts';
import { ANA, type Failure, openStack, PIX, REDIRECT, type SeenOrder, type Stack } from '../stack.ts';

/** CONTRACT, section 12: CreateOrder against the sandbox platform in the process. */

interface Created extends Failure {
  readonly order?: SeenOrder;
  readonly redirectUrl?: string;
  readonly toAmount?: string;
}

const PIX_ORDER = {
  partnerId: PIX,
  countryCode: 'BRA',
  rampType: 'ONRAMP',
  fromCurrency: 'BRL',
  toCurrency: 'SOLANA_USDC',
  fromAmount: '250',
  paymentMethod: 'BRA_PIX',
};

let stack: Stack;
let store: Store;
let pixKey: string;
let token: string;

beforeAll(async () => {
  stack = await openStack({ partner: { platformStepMs: 1_000 } });
  store = await openStore(join(stack.home, 'service.db'));
  pixKey = (await stack.issueKey(PIX)).key;
});
// Time jumps in between, and tokens live for minutes.
beforeEach(async () => {
  token = await stack.issueToken(ANA);
});
afterAll(async () => {
  await store.destroy();
  await stack.close();
});

const create = (more: object = {}, key?: string) =>
  stack.customer<Created>(
    'CreateOrder',
    { ...PIX_ORDER, ...more },
    { token, headers: key ? { 'idempotency-key': key } : {} },
  );

const rows = (amount: string) =>
  store.selectFrom('partner_orders').selectAll().where('source_amount', '=', amount).execute();
const tries = (orderId: string) =>
  store.selectFrom('partner_outbound').selectAll().where('order_id', '=', orderId).orderBy('attempt').execute();
const asPix = (operation: string, body: object) =>
  stack.partner<{ order: SeenOrder }>(operation, body, { key: pixKey });

/** Runs the workers until nothing is due any more, moving the clock along. */
async function workFor(ms: number): Promise<void> {
  for (let past = 0; past < ms; past += 1_000) {
    await stack.service.worker.runDue();
    stack.clock.advance(1_000);
  }
  await stack.service.worker.runDue();
}

describe('an integration partner', () => {
  test('takes the order; the customer sees how to pay, and nothing that is not for customers', async () => {
    const answer = await create({ fromAmount: '251' });
    expect(answer.status).toBe(200);
    expect(answer.body.order).toMatchObject({
      partnerId: PIX,
      status: 'AWAITING_FUNDS',
      sourceCurrency: 'BRL',
      sourceAmount: '251',
      destinationCurrency: 'SOLANA_USDC',
      transactionType: 'ONRAMP',
      network: 'SOLANA',
      paymentMethod: 'BRA_PIX',
    });
    expect(answer.body.order).not.toHaveProperty('customerId');
    expect(answer.body.order).not.toHaveProperty('externalId');
    expect(Number(answer.body.order?.destinationAmount)).toBeGreaterThan(0);
    expect(answer.body.order?.depositInstructions).toMatchObject({ amount: '251', currency: 'BRL' });
    const { order } = (await asPix('GetOrderDetails', { orderId: answer.body.order?.id ?? '' })).body;
    expect(order).toMatchObject({ customerId: 'cus_demo_ana', version: 1 });
    expect(order.externalId).toMatch(/^pix_/);
  });

  test('422 is a failed precondition with the words for the customer; the reason for the log stays inside', async () => {
    const answer = await create({ fromAmount: '150.4220' });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'failed_precondition',
      detail: { reason: 'partner_refused', customerFacingReason: 'The amount is outside the limits of this partner.' },
    });
    expect(JSON.stringify(answer.body)).not.toContain('made to be outside');
    const [row] = await rows('150.4220');
    expect(row).toMatchObject({ creation: 'failed', status: null });
    // The partner's own words may speak of the customer: they are kept sealed.
    expect(JSON.stringify(row)).not.toContain('made to be outside');
    expect((await asPix('GetOrderDetails', { orderId: row?.order_id ?? '' })).status).toBe(404);
  });

  test('a repeated call shows the order as its customer sees it, whatever its partner has said of it since', async () => {
    const first = await create({ fromAmount: '252' }, 'told-since-1');
    const orderId = first.body.order?.id ?? '';
    const words = { reason: 'inner words', customerFacingReason: 'outer words' };
    expect((await asPix('UpdateOrder', { orderId, status: 'ERROR', ...words })).status).toBe(200);
    const again = await create({ fromAmount: '252' }, 'told-since-1');
    expect(again.body.order).toMatchObject({ id: orderId, status: 'ERROR', customerFacingReason: 'outer words' });
    expect(JSON.stringify(again.body)).not.toContain('inner words');
    for (const field of ['reason', 'customerId', 'externalId']) expect(again.body.order).not.toHaveProperty(field);
  });

  test('the same refusal is given again under its key, and the reason for the log stays inside then too', async () => {
    const first = await create({ fromAmount: '152.4220' }, 'refused-key-1');
    const again = await create({ fromAmount: '152.4220' }, 'refused-key-1');
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(again.body).toMatchObject({ detail: { reason: 'partner_refused' } });
    expect(JSON.stringify(again.body)).not.toContain('made to be outside');
    expect(await rows('152.4220')).toHaveLength(1);
  });

  test.each(['151.4000', '151.4220'])('a refusal (%s) is asked for once', async (fromAmount) => {
    expect((await create({ fromAmount })).body).toMatchObject({ code: 'failed_precondition' });
    const [row] = await rows(fromAmount);
    expect(await tries(row?.order_id ?? '')).toHaveLength(1);
  });

  test('503 is unavailable after three tries, and nothing is left that could turn into an order', async () => {
    const answer = await create({ fromAmount: '150.5030' });
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'unavailable', detail: { reason: 'partner_unavailable' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const [row] = await rows('150.5030');
    expect(row).toMatchObject({ creation: 'failed', due_at_ms: null });
    expect((await tries(row?.order_id ?? '')).map((one) => one.status)).toEqual([503, 503, 503]);
  });

  test.each([
    ['150.5031', [503, 200]],
    ['150.5021', [502, 200]],
    ['150.0003', [null, 200]],
  ])(
    'an answer that was lost or late once (%s) ends in one order, at the platform and here',
    async (fromAmount, statuses) => {
      const answer = await create({ fromAmount });
      expect(answer.status).toBe(200);
      const [row, ...others] = await rows(fromAmount);
      expect(others).toEqual([]);
      expect((await tries(row?.order_id ?? '')).map((one) => one.status)).toEqual(statuses);
    },
  );

  test.each([
    ['150.0010', 'depositInstructions'],
    ['150.0011', 'not JSON'],
    ['150.0012', 'too large'],
    ['150.0014', 'status'],
    ['150.0015', 'toAmount'],
  ])(
    'an answer that cannot be used (%s: %s) is an order in ERROR for the partner, and no order for the customer',
    async (fromAmount, fault) => {
      const answer = await create({ fromAmount }, `wrong-${fromAmount}`);
      expect(answer.body).toMatchObject({ code: 'unavailable', detail: { reason: 'partner_answer_invalid' } });
      const [row] = await rows(fromAmount);
      const { order } = (await asPix('GetOrderDetails', { orderId: row?.order_id ?? '' })).body;
      expect(order.status).toBe('ERROR');
      expect(order.reason).toContain(fault);
      // Asking again with the same key changes nothing.
      expect((await create({ fromAmount }, `wrong-${fromAmount}`)).body).toEqual(answer.body);
      expect(await rows(fromAmount)).toHaveLength(1);
    },
  );

  test('a redirect is not followed, and says nothing of the order: it stays in doubt', async () => {
    expect((await create({ fromAmount: '150.0016' })).body).toMatchObject({
      detail: { reason: 'partner_unavailable' },
    });
    expect(await rows('150.0016')).toMatchObject([{ creation: 'creating' }]);
  });

  test('the same Idempotency-Key is the same order; with other data it is refused', async () => {
    const first = await create({ fromAmount: '260' }, 'key-1');
    expect((await create({ fromAmount: '260' }, 'key-1')).body).toEqual(first.body);
    expect(await rows('260')).toHaveLength(1);
    const other = await create({ fromAmount: '261' }, 'key-1');
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ detail: { reason: 'idempotency_key_reused' } });
    expect(await rows('261')).toHaveLength(0);
  });

  test('two calls at once with one key make one order', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => create({ fromAmount: '262' }, 'key-2')));
    expect(new Set(answers.map(({ body }) => body.order?.id)).size).toBe(1);
    const [row, ...others] = await rows('262');
    expect(others).toEqual([]);
    expect(await tries(row?.order_id ?? '')).toHaveLength(1);
  });

  test('an outage that ended is got over with the same key: the platform is asked anew', async () => {
    expect((await create({ fromAmount: '150.5030' }, 'key-3')).status).toBe(503);
    await store.deleteFrom('partner_breakers').execute();
    expect((await create({ fromAmount: '150.5030' }, 'key-3')).status).toBe(503);
    const mine = (await rows('150.5030')).filter((row) => row.creation_key !== null);
    expect(mine).toHaveLength(1);
    expect(await tries(mine[0]?.order_id ?? '')).toHaveLength(6);
    await store.deleteFrom('partner_breakers').execute();
  });
});

describe('what is sent', () => {
  test('bank account and wallet are the customer’s own; another’s are refused by name, and nothing is sent', async () => {
    const before = (await store.selectFrom('partner_outbound').selectAll().execute()).length;
    const others = await store
      .selectFrom('customer_data')
      .selectAll()
      .where('customer_id', '=', 'cus_demo_bo')
      .execute();
    const bank = others.find(({ type }) => type === 'BANK_ACCOUNT')?.data_id;
    expect(bank).toBeDefined();
    for (const customerPaymentDetailsDataId of [bank, 'dat_unknown', '']) {
      const answer = await create({ customerPaymentDetailsDataId });
      expect(answer.status).toBe(400);
      expect(answer.body.detail?.issues?.[0]?.path).toBe('customerPaymentDetailsDataId');
    }
    expect((await store.selectFrom('partner_outbound').selectAll().execute()).length).toBe(before);
  });

  test('what the partner does not sell is refused before its platform hears of it', async () => {
    const before = (await store.selectFrom('partner_outbound').selectAll().execute()).length;
    for (const [wanted, words] of [
      [{ fromAmount: '19.99' }, '20 to 20000 BRL'],
      [{ fromAmount: '20001' }, '20 to 20000 BRL'],
      [{ fromAmount: '250.00001' }, 'more than 4 decimals'],
      [{ countryCode: 'DEU' }, 'does not offer this exchange'],
      [{ paymentMethod: 'BRA_CARD' }, 'does not offer this exchange'],
      [{ fromCurrency: 'EUR' }, 'does not offer this exchange'],
    ] as const) {
      const { status, body } = await create(wanted);
      expect([status, body.code, body.detail?.reason]).toEqual([400, 'failed_precondition', 'order_outside_offer']);
      expect(body.message).toContain(words);
    }
    expect((await create({ fromAmount: '250.100000' })).status).toBe(200);
    expect((await store.selectFrom('partner_outbound').selectAll().execute()).length).toBe(before + 1);
  });

  test('the network follows from the currency; another one is refused', async () => {
    const answer = await create({ network: 'TRON' });
    expect(answer.body.detail?.issues?.[0]?.path).toBe('network');
    expect((await create({ toCurrency: 'USDC' })).body.detail?.issues?.[0]?.path).toBe('toCurrency');
    expect((await create({ fromAmount: '0' })).body.detail?.issues?.[0]?.path).toBe('fromAmount');
  });

  test('a partner that is not there, or takes no orders, is 404', async () => {
    expect((await create({ partnerId: 'par_nobody' })).status).toBe(404);
    await store.updateTable('partners').set({ enabled: 0 }).where('partner_id', '=', PIX).execute();
    expect((await create()).status).toBe(404);
    await store.updateTable('partners').set({ enabled: 1 }).where('partner_id', '=', PIX).execute();
  });

  test('an address that may not be called stops the order before anything is sent', async () => {
    const [partner] = await store.selectFrom('partners').selectAll().where('partner_id', '=', PIX).execute();
    await store
      .updateTable('partners')
      .set({ platform_url: 'https://169.254.169.254/latest' })
      .where('partner_id', '=', PIX)
      .execute();
    const answer = await create({ fromAmount: '270' });
    expect(answer.body).toMatchObject({ code: 'unavailable' });
    expect(JSON.stringify(answer.body)).not.toContain('169.254');
    await store
      .updateTable('partners')
      .set({ platform_url: partner?.platform_url ?? '' })
      .where('partner_id', '=', PIX)
      .execute();
    const [row] = await rows('270');
    expect(await tries(row?.order_id ?? '')).toMatchObject([{ attempt: 0, outcome: 'refused', reason: 'address' }]);
  });

  test('an operator reads every try of an order, and the look is in the audit trail', async () => {
    const orderId = (await create({ fromAmount: '150.5031' })).body.order?.id ?? '';
    const { tries: listed } = await stack.operator<{ tries: Record<string, unknown>[] }>(
      `partners/outbound/${orderId}`,
    );
    expect(listed.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 503],
      [2, 200],
    ]);
    expect(JSON.parse(String(listed[1]?.request))).toMatchObject({ orderId, type: 'ONRAMP' });
    expect(JSON.parse(String(listed[1]?.answer))).toMatchObject({ status: 'AWAITING_FUNDS' });
    const looks = await store.selectFrom('operator_audit').selectAll().where('subject', '=', orderId).execute();
    expect(looks.map(({ action }) => action)).toEqual(['outbound.look']);
    await expect(stack.operator('partners/outbound/rmp_nobody')).rejects.toThrow('404');
    expect((await stack.call(`/operator/partners/outbound/${orderId}`, undefined, { method: 'GET' })).status).toBe(401);
  });

  test('nothing of the request or the answer is on the disk in clear', async () => {
    const { body } = await create({ fromAmount: '271' });
    expect(body.order?.status).toBe('AWAITING_FUNDS');
    const disk = ['', '-wal']
      .map((end) => readFileSync(join(stack.home, `service.db${end}`)).toString('latin1'))
      .join('');
    expect(disk).not.toContain('000123456789');
    expect(disk).not.toContain('whsec_');
  });
});

describe('a creation that was left open', () => {
  test('a platform that calls its own order a duplicate leaves it in doubt, not refused', async () => {
    const answer = await create({ fromAmount: '150.0006' }, 'duplicate');
    expect([answer.status, answer.body.detail?.reason]).toEqual([503, 'partner_unavailable']);
    const [row] = await rows('150.0006');
    expect(row).toMatchObject({ creation: 'creating', status: null });
    expect((await tries(row?.order_id ?? '')).map((one) => one.status)).toEqual([null, 422]);
  });

  test('a platform that never answers leaves no second order: the worker asks again with the same id', async () => {
    const answer = await create({ fromAmount: '150.0004' }, 'torn');
    expect(answer.status).toBe(503);
    const [row] = await rows('150.0004');
    expect(row).toMatchObject({ creation: 'creating', status: null });
    expect((await asPix('GetOrderDetails', { orderId: row?.order_id ?? '' })).status).toBe(503);
    // The platform has it; once it can say so, the order is there, and it is the one that the platform knows. It is
    // asked also when the row was put off by a clock that has been set back since.
    await tearNoMore();
    const ahead = stack.clock.now() + 3_600_000;
    await store
      .updateTable('partner_orders')
      .set({ due_at_ms: ahead, lease_until_ms: ahead })
      .where('order_id', '=', row?.order_id ?? '')
      .execute();
    await stack.service.worker.runDue();
    const [after, ...others] = await rows('150.0004');
    expect(others).toEqual([]);
    expect(after).toMatchObject({ creation: 'created', order_id: row?.order_id });
    expect((await create({ fromAmount: '150.0004' }, 'torn')).body.order?.id).toBe(row?.order_id);
  });

  /** The platform's books, with its own table of magic amounts overruled. */
  async function tearNoMore(): Promise<void> {
    const { openBooks } = await import('../../../src/sandbox/platform/books.ts');
    const books = openBooks(join(stack.home, 'sandbox-platform.db'));
    books.setBehaviour('pix', 'waits');
    books.close();
    await store.deleteFrom('partner_breakers').execute();
  }

  test('a process that died after it wrote the row, before it asked or before it heard, is got over', async () => {
    const { openBooks } = await import('../../../src/sandbox/platform/books.ts');
    const books = openBooks(join(stack.home, 'sandbox-platform.db'));
    books.setBehaviour('pix', 'normal');
    books.close();
    const { body } = await create({ fromAmount: '280' });
    const orderId = body.order?.id ?? '';
    const [row] = await rows('280');
    // As the crash left it: sent or not, the row says only that it was begun.
    await store
      .updateTable('partner_orders')
      .set({
        creation: 'creating',
        status: null,
        external_id: null,
        due_at_ms: stack.clock.now() + 20_000,
        lease_until_ms: stack.clock.now() + 20_000,
      })
      .where('order_id', '=', orderId)
      .execute();
    await store.deleteFrom('partner_order_changes').where('order_id', '=', orderId).execute();
    await stack.service.worker.runDue();
    expect((await rows('280'))[0]?.creation).toBe('creating');
    stack.clock.advance(21_000);
    await Promise.all([stack.service.worker.runDue(), stack.service.worker.runDue()]);
    expect((await rows('280'))[0]).toMatchObject({ creation: 'created', external_id: row?.external_id });
  });

  test('an order of which nothing was heard for a day is given to a person, never forgotten', async () => {
    const { body } = await create({ fromAmount: '281.0024' });
    const orderId = body.order?.id ?? '';
    await store
      .updateTable('partner_orders')
      .set({ creation: 'creating', status: null, attempts: 3, due_at_ms: 1, source_amount: '150.5030' })
      .where('order_id', '=', orderId)
      .execute();
    await store.deleteFrom('partner_order_changes').where('order_id', '=', orderId).execute();
    stack.clock.advance(25 * 3_600_000);
    await stack.service.worker.runDue();
    const { order } = (await asPix('GetOrderDetails', { orderId })).body;
    expect(order).toMatchObject({ status: 'ERROR' });
    await store.deleteFrom('partner_breakers').execute();
  });
});

describe('a redirect partner', () => {
  const redirected = (more: object = {}, key?: string) =>
    create(
      {
        partnerId: REDIRECT,
        customerIp: '203.0.113.7',
        walletAddress: 'AAtNgZqaZuKF7kYMyRTxFFSPoy53aZRe4uibujp4Jgfo',
        ...more,
      },
      key,
    );

  test('gives an https address and an amount, and no order', async () => {
    const answer = await redirected({ fromAmount: '300' }, 'go');
    expect(answer.status).toBe(200);
    expect(answer.body.redirectUrl).toMatch(/^https:\/\//);
    expect(Number(answer.body.toAmount)).toBeGreaterThan(0);
    expect(answer.body).not.toHaveProperty('order');
    expect(await rows('300')).toMatchObject([{ creation: 'redirected', status: null }]);
    expect((await redirected({ fromAmount: '300' }, 'go')).body).toEqual(answer.body);
  });

  test('an operator finds what was sent by the id that the answer names, and that its refusal names', async () => {
    interface Named {
      readonly orderId?: string;
    }
    const went = (await redirected({ fromAmount: '301' })).body as Created & Named;
    const refusal = (await redirected({ fromAmount: '398.4220' })).body.detail as Named | undefined;
    const unusable = (await redirected({ fromAmount: '301.0013' })).body.detail as Named | undefined;
    for (const [orderId, fromAmount] of [
      [went.orderId, '301'],
      [refusal?.orderId, '398.4220'],
      [unusable?.orderId, '301.0013'],
    ]) {
      const { tries: listed } = await stack.operator<{ tries: Record<string, unknown>[] }>(
        `partners/outbound/${orderId}`,
      );
      expect(JSON.parse(String(listed[0]?.request))).toMatchObject({ fromAmount, rampType: 'ONRAMP' });
    }
  });

  test('an http address is not one to send anybody to', async () => {
    const answer = await redirected({ fromAmount: '300.0013' });
    expect(answer.body).toMatchObject({ detail: { reason: 'partner_answer_invalid' } });
    expect(answer.body).not.toHaveProperty('redirectUrl');
  });

  test('its error is a text, shown to the customer', async () => {
    expect((await redirected({ fromAmount: '399.4220' })).body).toMatchObject({
      code: 'failed_precondition',
      detail: { customerFacingReason: 'The amount is outside the limits of this partner.' },
    });
    expect((await redirected({ fromAmount: '300.5030' })).body).toMatchObject({ code: 'unavailable' });
    await store.deleteFrom('partner_breakers').execute();
  });

  test('is not asked again by the worker: nobody waits for an address any more', async () => {
    await redirected({ fromAmount: '300.0004' });
    expect(await rows('300.0004')).toMatchObject([{ creation: 'failed', due_at_ms: null }]);
    await store.deleteFrom('partner_breakers').execute();
  });
});

describe('the platform’s own script', () => {
  const statusOf = async (orderId: string) => (await asPix('GetOrderDetails', { orderId })).body.order.status;

  test.each([
    ['310', 'PAYMENT_PROCESSED'],
    ['310.0020', 'ERROR'],
    ['310.0021', 'CANCELED'],
    ['310.0022', 'REFUNDED'],
    ['310.0023', 'PAYMENT_PROCESSED'],
    ['310.0024', 'AWAITING_FUNDS'],
  ])('moves an order of %s along by UpdateOrder, to %s', async (fromAmount, end) => {
    const orderId = (await create({ fromAmount })).body.order?.id ?? '';
    await workFor(8_000);
    expect(await statusOf(orderId)).toBe(end);
  });

  const paid: [string, string, object][] = [
    [
      'funds that come after CANCELED go back',
      '310.0025',
      {
        status: 'REFUNDED',
        sourceTransactionId: expect.stringMatching(/^src_/),
        returnDetails: { reason: 'The funds came after the order was canceled.' },
      },
    ],
    [
      'half of the money buys half',
      '310.0026',
      { status: 'PAYMENT_PROCESSED', sourceAmount: '310.0026', destinationAmount: expect.any(String) },
    ],
    [
      'what was paid too much goes back',
      '310.0027',
      {
        status: 'PAYMENT_PROCESSED',
        returnDetails: { reason: 'More was paid than the order asked for.', refundReferenceId: expect.any(String) },
      },
    ],
  ];
  test.each(paid)('plays customers who pay late, short or over: %s', async (_, fromAmount, end) => {
    const { id: orderId = '', destinationAmount } = (await create({ fromAmount })).body.order ?? {};
    await workFor(8_000);
    const { order } = (await asPix('GetOrderDetails', { orderId })).body;
    expect(order).toMatchObject(end);
    const share = Number(order.destinationAmount) / Number(destinationAmount);
    expect(share).toBeCloseTo(fromAmount === '310.0026' ? 0.5 : 1, 9);
  });

  test('leaves an order alone that somebody else has moved', async () => {
    const orderId = (await create({ fromAmount: '311' })).body.order?.id ?? '';
    await asPix('UpdateOrder', { orderId, status: 'IN_REVIEW' });
    await workFor(6_000);
    expect(await statusOf(orderId)).toBe('IN_REVIEW');
  });
});
