import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ANA, BANK, type Failure, type OrderAnswer, openStack, type SeenOrder, type Stack } from './stack.ts';

/** Orders, line by line of spec/partner-service.md and of what was decided around it (docs/spec-partner.md lists them all). */

let stack: Stack;
let id: string;
beforeAll(async () => {
  stack = await openStack();
});
beforeEach(async () => {
  id = (await stack.order()).id;
});
afterAll(() => stack.close());

const update = (body: object, headers: Record<string, string> = {}) =>
  stack.partner<OrderAnswer>('UpdateOrder', { orderId: id, ...body }, { headers });
const updated = async (body: object): Promise<SeenOrder> => {
  const answer = await update(body);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.order;
};
const expectNamed = (answer: { status: number; body: Failure }, field: string) => {
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, 'invalid_argument']);
  expect(answer.body.detail?.issues?.map(({ path }) => path)).toContain(field);
};

const INSTRUCTIONS = {
  paymentMethod: 'DEU_SEPA',
  network: 'SOLANA',
  amount: '250.00',
  currency: 'EUR',
  fromAddress: 'from',
  toAddress: 'to',
  depositMessage: 'FL-1',
  bankName: 'Sandbank',
  bankAddress: 'Unter den Linden 1',
  bankRoutingNumber: '021000021',
  bankAccountNumber: '1234567',
  bankBeneficiaryName: 'Sandbank GmbH',
  bankBeneficiaryAddress: 'Berlin',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  clabe: '032180000118359719',
  accountHolderName: 'Sandbank GmbH',
  blockchainMemo: 'memo',
};

describe('what an order shows', () => {
  test('its partner sees every field, under the names of the specification, in their forms', async () => {
    await updated({ status: 'FUNDS_RECEIVED', sourceTransactionId: 'src', depositInstructions: INSTRUCTIONS });
    await updated({ status: 'ERROR', reason: 'inner words', customerFacingReason: 'outer words' });
    const order = await updated({
      status: 'REFUNDING',
      destinationTransactionId: 'dst',
      returnDetails: { reason: 'returned', refundReferenceId: 'rf-1' },
    });
    expect(order).toMatchObject({
      id,
      customerId: ANA,
      externalId: expect.any(String),
      partnerId: BANK,
      status: 'REFUNDING',
      sourceCurrency: 'EUR',
      sourceAmount: '250',
      destinationCurrency: 'SOLANA_USDC',
      destinationAmount: expect.stringMatching(/^\d+(\.\d+)?$/),
      transactionType: 'ONRAMP',
      network: 'SOLANA',
      depositInstructions: INSTRUCTIONS,
      customerPaymentDetailsDataId: expect.any(String),
      customerWalletDataId: expect.any(String),
      sourceTransactionId: 'src',
      destinationTransactionId: 'dst',
      paymentMethod: 'DEU_SEPA',
      reason: 'inner words',
      returnDetails: { reason: 'returned', refundReferenceId: 'rf-1' },
    });
    for (const instant of [order.createdAt, order.updatedAt]) {
      expect(instant).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    }
    expect(await stack.show(id)).toEqual(order);
  });

  test('what is not set is left out, and nothing is null', async () => {
    const text = JSON.stringify(await stack.show(id));
    for (const unset of ['reason', 'returnDetails', 'sourceTransactionId', 'destinationTransactionId', 'null']) {
      expect(text).not.toContain(`"${unset}"`);
    }
    expect(text).not.toContain(':null');
  });
});

describe('details', () => {
  test('the eighteen fields of deposit instructions are each taken and given back; another is refused by name', async () => {
    expect(Object.keys(INSTRUCTIONS)).toHaveLength(18);
    for (const [name, value] of Object.entries(INSTRUCTIONS)) {
      expect((await updated({ depositInstructions: { [name]: value } })).depositInstructions).toEqual({
        [name]: value,
      });
    }
    expect((await updated({ depositInstructions: INSTRUCTIONS })).depositInstructions).toEqual(INSTRUCTIONS);
    expectNamed(await update({ depositInstructions: { bankNam: 'x' } }), 'depositInstructions.bankNam');
    expectNamed(await update({ depositInstructions: { amount: 250 } }), 'depositInstructions.amount');
  });

  test('an empty message changes nothing; one that holds nothing to read is refused by its field', async () => {
    const { depositInstructions, ...moved } = await updated({
      depositInstructions: INSTRUCTIONS,
      returnDetails: { reason: 'returned', refundReferenceId: 'rf-1' },
    });
    expect(depositInstructions).toEqual(INSTRUCTIONS);
    const nothing = Object.fromEntries(Object.keys(INSTRUCTIONS).map((name) => [name, null]));
    for (const empty of [
      { depositInstructions: {} },
      { deposit_instructions: {} },
      { depositInstructions: null },
      { depositInstructions: nothing },
      { depositInstructions: { account_number: null, reference: null } },
      { returnDetails: {} },
      { returnDetails: { reason: null, refund_reference_id: null } },
      { status: 'AWAITING_FUNDS', depositInstructions: {}, returnDetails: {} },
    ]) {
      expect([empty, await updated(empty)]).toEqual([empty, { ...moved, depositInstructions }]);
    }
    for (const blank of ['', ' ', '\t\n', '\u00a0\u3000', '\u200b', '\u2800', '\u3164']) {
      expectNamed(await update({ depositInstructions: { iban: blank } }), 'depositInstructions.iban');
      expectNamed(await update({ depositInstructions: { reference: blank } }), 'depositInstructions.reference');
      expectNamed(await update({ returnDetails: { reason: blank } }), 'returnDetails.reason');
      expectNamed(await update({ status: 'ERROR', reason: blank }), 'reason');
    }
    expect(await stack.show(id)).toEqual({ ...moved, depositInstructions });
    const moving = await updated({ status: 'FUNDS_RECEIVED', depositInstructions: {}, returnDetails: {} });
    expect(moving).toMatchObject({ depositInstructions, returnDetails: moved.returnDetails });
  });

  test("the sample's keys are synonyms; both names of one field at once are refused", async () => {
    const sample = { bankName: 'Sandbank', accountNumber: '1234567', routingNumber: '021000021', reference: 'FL-1' };
    expect((await updated({ depositInstructions: sample })).depositInstructions).toEqual({
      bankName: 'Sandbank',
      bankAccountNumber: '1234567',
      bankRoutingNumber: '021000021',
      depositMessage: 'FL-1',
    });
    const both = { accountNumber: '1', bankAccountNumber: '2' };
    expectNamed(await update({ depositInstructions: both }), 'depositInstructions.accountNumber');
  });

  test('return details have reason and refundReferenceId; another field is refused by name', async () => {
    expect((await updated({ returnDetails: { reason: 'r' } })).returnDetails).toEqual({ reason: 'r' });
    expectNamed(await update({ returnDetails: { refundId: 'x' } }), 'returnDetails.refundId');
  });

  test('without a status details alone change, by one version', async () => {
    const before = await stack.show(id);
    const after = await updated({ customerFacingReason: 'The bank is slow today.', toAmount: '244.5' });
    expect(after).toMatchObject({
      status: 'AWAITING_FUNDS',
      customerFacingReason: 'The bank is slow today.',
      destinationAmount: '244.5',
      version: before.version + 1,
    });
  });

  test.each(['0', '10', '0.5', '1.50', `${'9'.repeat(18)}.${'9'.repeat(18)}`])(
    'toAmount %s is an amount',
    async (toAmount) => {
      expect((await updated({ toAmount })).destinationAmount).toBe(toAmount);
    },
  );

  test.each([
    ...['-1', '1e3', '1,5', '.5', '1.', ' 1', '0x10', 'NaN', '', '٣', `1${'0'.repeat(18)}`, `0.${'0'.repeat(18)}1`],
    ...[10, 0.1, true, {}],
  ])('toAmount %j is none', async (toAmount) => {
    expectNamed(await update({ toAmount }), 'toAmount');
  });
});

describe('moves', () => {
  test('funds received, payment submitted, payment processed: each with its transaction', async () => {
    expect(await updated({ status: 'FUNDS_RECEIVED', sourceTransactionId: 'src-1' })).toMatchObject({
      status: 'FUNDS_RECEIVED',
      sourceTransactionId: 'src-1',
    });
    expect(await updated({ status: 'PAYMENT_SUBMITTED', destinationTransactionId: 'dst-1' })).toMatchObject({
      status: 'PAYMENT_SUBMITTED',
      destinationTransactionId: 'dst-1',
    });
    expect(await updated({ status: 'PAYMENT_PROCESSED' })).toMatchObject({ status: 'PAYMENT_PROCESSED' });
  });

  test('ERROR needs a reason, and takes a word for the customer', async () => {
    expectNamed(await update({ status: 'ERROR' }), 'reason');
    expectNamed(await update({ status: 'ERROR', reason: '' }), 'reason');
    expect(await updated({ status: 'ERROR', reason: 'r', customerFacingReason: 'c' })).toMatchObject({
      status: 'ERROR',
      reason: 'r',
      customerFacingReason: 'c',
    });
  });

  test('a repeat with the same data is 200 and changes nothing, however it is written; new data patches', async () => {
    const body = { status: 'FUNDS_RECEIVED', toAmount: '1.50', depositInstructions: { iban: 'x', bic: 'y' } };
    const first = await updated(body);
    expect(await updated(body)).toEqual(first);
    expect(await updated({ toAmount: '1.5', depositInstructions: { bic: 'y', iban: 'x', clabe: null } })).toEqual(
      first,
    );
    expect(await updated({})).toEqual(first);
    const patched = await updated({ status: 'FUNDS_RECEIVED', sourceTransactionId: 'later' });
    expect(patched).toMatchObject({ version: first.version + 1, sourceTransactionId: 'later' });
  });

  test('a source transaction that is set never changes', async () => {
    const set = await updated({ sourceTransactionId: 'first' });
    const answer = await update({ sourceTransactionId: 'second' });
    expect([answer.status, answer.body.code]).toEqual([409, 'aborted']);
    expect(await stack.show(id)).toEqual(set);
    expect((await updated({ status: 'FUNDS_RECEIVED', sourceTransactionId: 'first' })).status).toBe('FUNDS_RECEIVED');
  });

  test('a destination transaction may change until the payment is processed, and never after', async () => {
    await updated({ status: 'FUNDS_RECEIVED' });
    await updated({ status: 'PAYMENT_SUBMITTED', destinationTransactionId: 'd1' });
    expect(await updated({ destinationTransactionId: 'd2' })).toMatchObject({ destinationTransactionId: 'd2' });
    await updated({ status: 'PAYMENT_PROCESSED', destinationTransactionId: 'd3' });
    const answer = await update({ destinationTransactionId: 'd4' });
    expect([answer.status, answer.body.code]).toEqual([409, 'aborted']);
    await updated({ status: 'REFUNDING', returnDetails: { reason: 'returned' } });
    expect((await update({ destinationTransactionId: 'd4' })).status).toBe(409);
    expect((await stack.show(id)).destinationTransactionId).toBe('d3');
  });
});

describe('versions', () => {
  test('every change bumps version, and the answer carries it as ETag', async () => {
    const { version } = await stack.show(id);
    const answer = await update({ toAmount: '7' });
    expect(answer.body.order.version).toBe(version + 1);
    expect(answer.headers.get('etag')).toBe(`"${version + 1}"`);
  });

  test('If-Match lets the current version through and refuses a stale one with nothing changed', async () => {
    const { version } = await stack.show(id);
    expect((await update({ toAmount: '8' }, { 'if-match': `"${version}"` })).status).toBe(200);
    const before = await stack.show(id);
    for (const stale of [`"${version}"`, '"0"', `"${version + 7}"`]) {
      const answer = await update({ status: 'FUNDS_RECEIVED' }, { 'if-match': stale });
      expect([stale, answer.status, answer.body.code]).toEqual([stale, 409, 'aborted']);
    }
    expect((await update({ toAmount: '9' }, { 'if-match': 'nonsense' })).status).toBe(400);
    expect(await stack.show(id)).toEqual(before);
  });

  test('an Idempotency-Key gives the first answer again for 24 hours, and refuses other data under the same key', async () => {
    const headers = { 'idempotency-key': `spec-${id}` };
    const first = await update({ status: 'FUNDS_RECEIVED' }, headers);
    await updated({ status: 'PAYMENT_SUBMITTED' });
    stack.clock.advance(23 * 3_600_000);
    const again = await update({ status: 'FUNDS_RECEIVED' }, headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
    const other = await update({ status: 'ERROR', reason: 'x' }, headers);
    expect([other.status, other.body.code]).toEqual([409, 'aborted']);
    expect((await stack.show(id)).status).toBe('PAYMENT_SUBMITTED');
    stack.clock.advance(2 * 3_600_000);
    expect((await update({ status: 'FUNDS_RECEIVED' }, headers)).status).toBe(409);
    expect((await update({ status: 'PAYMENT_PROCESSED' }, { ...headers, 'idempotency-key': 'new' })).status).toBe(200);
  });

  test('a key of one partner says nothing about the same key of another', async () => {
    const headers = { 'idempotency-key': 'shared' };
    expect((await update({ toAmount: '3' }, headers)).status).toBe(200);
    const { key } = await stack.issueKey('par_sandbox_pix');
    const foreign = await stack.partner('UpdateOrder', { orderId: id, toAmount: '3' }, { key, headers });
    expect(foreign.status).toBe(404);
  });
});

describe('GetOrders', () => {
  interface Page {
    readonly orders: readonly SeenOrder[];
    readonly totalCount: number;
    readonly nextPageToken?: string;
  }
  const list = async (body: object = {}): Promise<Page> => {
    const answer = await stack.partner<Page>('GetOrders', body);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };

  test('answers with orders and how many match; a status filters both', async () => {
    await updated({ status: 'ERROR', reason: 'filtered' });
    const all = await list({ pageSize: 200 });
    expect(all.totalCount).toBe(all.orders.length);
    const failed = await list({ status: 'ERROR', pageSize: 200 });
    expect(failed.orders.map((one) => one.id)).toContain(id);
    expect(new Set(failed.orders.map((one) => one.status))).toEqual(new Set(['ERROR']));
    expect(failed.totalCount).toBe(all.orders.filter((one) => one.status === 'ERROR').length);
    expect(await list({ status: 'PAYMENT_PROCESSED', pageSize: 1 })).toMatchObject({ totalCount: expect.any(Number) });
    expectNamed(await stack.partner<Failure>('GetOrders', { status: 'LOST' }), 'status');
  });

  test('pages are newest first and together hold each order once, whatever comes in between', async () => {
    const whole = await list({ pageSize: 200 });
    const seen: SeenOrder[] = [];
    let pageToken: string | undefined;
    do {
      const page: Page = await list({ pageSize: 2, ...(pageToken ? { pageToken } : {}) });
      seen.push(...page.orders);
      pageToken = page.nextPageToken;
      if (seen.length === 2) await stack.order();
    } while (pageToken);
    expect(seen.map((one) => one.id)).toEqual(whole.orders.map((one) => one.id));
    const times = seen.map((one) => Date.parse(one.createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test.each([0, -1, 201, 1.5, 'many'])('pageSize %j is refused', async (pageSize) => {
    expectNamed(await stack.partner<Failure>('GetOrders', { pageSize }), 'pageSize');
  });

  test.each(['x', 'e30', '!!', Buffer.from('[1,2,3]').toString('base64url')])(
    'pageToken %j is refused',
    async (pageToken) => {
      expectNamed(await stack.partner<Failure>('GetOrders', { pageToken }), 'pageToken');
    },
  );
});

test('GetOrderDetails takes orderId and gives the order; without one, or with one that is not known, it says so', async () => {
  const answer = await stack.partner<OrderAnswer>('GetOrderDetails', { orderId: id });
  expect([answer.status, answer.body.order.id]).toEqual([200, id]);
  expectNamed(await stack.partner<Failure>('GetOrderDetails', {}), 'orderId');
  const unknown = await stack.partner<Failure>('GetOrderDetails', { orderId: 'ord_nothing' });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
  expectNamed(await update({ orderId: undefined }), 'orderId');
  expect((await stack.partner('UpdateOrder', { orderId: 'ord_nothing', status: 'CANCELED' })).status).toBe(404);
});
