import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ANA,
  BANK,
  EVA,
  type Failure,
  OPERATIONS,
  ORDER,
  type OrderAnswer,
  openStack,
  PIX,
  pathOf,
  REDIRECT,
  type Stack,
} from './stack.ts';

/** The other operations and the wire itself, line by line (docs/spec-partner.md lists them all). */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const expectNamed = (answer: { status: number; body: Failure }, field: string) => {
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, 'invalid_argument']);
  expect(answer.body.detail?.issues?.map(({ path }) => path)).toContain(field);
};
const ALL = [
  ...OPERATIONS.partner.map((name) => ['partner', name] as const),
  ...OPERATIONS.customer.map((name) => ['customer', name] as const),
];

const DATA_TYPES = [
  ...['EMAIL', 'PHONE', 'NAME', 'ID_DOCUMENT', 'OCCUPATION', 'BANK_ACCOUNT', 'SELFIE', 'BIRTH_DATE', 'NATIONALITY'],
  ...['TAX_ID', 'CRYPTO_WALLET', 'RESIDENTIAL_ADDRESS', 'INTERMEDIARY', 'EMPLOYMENT_STATUS', 'ACCOUNT_PURPOSE'],
  ...['EXPECTED_MONTHLY_PAYMENTS', 'SOURCE_OF_FUNDS', 'LAST_OCCUPATION', 'PROOF_OF_ADDRESS'],
];
const ATTESTATIONS = [
  ...['VALIDATED_EMAIL', 'VALIDATED_PHONE', 'VALIDATED_ID_DOCUMENT', 'LIVENESS_CHECK', 'AML_CHECK', 'TERMS'],
  'VALIDATED_CRYPTO_WALLET',
];

describe('AddCustomerRequirement', () => {
  const add = (body: object) =>
    stack.partner<{ requirementId: string } & Failure>('AddCustomerRequirement', { customerId: EVA, ...body });

  test('takes each of the nineteen data types and the seven attestations, and answers with requirementId', async () => {
    expect([DATA_TYPES.length, ATTESTATIONS.length]).toEqual([19, 7]);
    for (const data of DATA_TYPES) {
      expect([data, await add({ data })]).toMatchObject([
        data,
        { status: 200, body: { requirementId: expect.any(String) } },
      ]);
    }
    for (const attestation of ATTESTATIONS) {
      const answer = await add({ attestation });
      expect([attestation, answer.status, typeof answer.body.requirementId]).toEqual([attestation, 200, 'string']);
    }
  });

  test('wants exactly one of data and attestation, and a customer', async () => {
    expect((await add({})).status).toBe(400);
    expect((await add({ data: 'SELFIE', attestation: 'TERMS' })).status).toBe(400);
    expect((await add({ data: null, attestation: 'TERMS' })).status).toBe(200);
    expectNamed(await add({ data: 'SELFI' }), 'data');
    expectNamed(await add({ attestation: 'SELFIE' }), 'attestation');
    expectNamed(await add({ data: 'SELFIE', customerId: undefined }), 'customerId');
  });

  test('maxAgeDays is a whole number of days from 1 on', async () => {
    expect((await add({ data: 'SELFIE', maxAgeDays: 30 })).status).toBe(200);
    for (const maxAgeDays of [0, -1, 1.5, 'many', true, 1e12]) {
      expectNamed(await add({ data: 'SELFIE', maxAgeDays }), 'maxAgeDays');
    }
  });
});

describe('GetOnboardingRequirements', () => {
  interface Asks {
    readonly complianceStatus: string;
    readonly requirements: readonly {
      attestationRequirement?: { terms: { termsUrl: string; privacyPolicyUrl: string } };
      dataRequirement?: { type: string; data: readonly object[]; config?: { network?: string } };
    }[];
  }

  test('takes an empty object and tells what is asked of the customer, each as one of the two forms', async () => {
    const { status, body } = await stack.customer<Asks>(
      'GetOnboardingRequirements',
      {},
      { token: await stack.issueToken(EVA) },
    );
    expect(status).toBe(200);
    expect(body.complianceStatus).toBe('COMPLIANCE_STATUS_PENDING');
    expect(body.requirements.length).toBeGreaterThan(0);
    for (const one of body.requirements) {
      expect(Object.keys(one)).toHaveLength(1);
      if (one.attestationRequirement) {
        expect(one.attestationRequirement).toEqual({
          terms: { termsUrl: expect.stringMatching(/^https:/), privacyPolicyUrl: expect.stringMatching(/^https:/) },
        });
      } else {
        expect(DATA_TYPES).toContain(one.dataRequirement?.type);
        expect(Array.isArray(one.dataRequirement?.data)).toBe(true);
      }
    }
    expectNamed(await stack.customer<Failure>('GetOnboardingRequirements', { customerId: ANA }), 'customerId');
  });
});

describe('GetAvailablePartners', () => {
  interface Offers {
    readonly partners: readonly { partnerId: string; partnerName: string; toAmount: string; type: string }[];
  }
  const { countryCode, rampType, fromCurrency, toCurrency, paymentMethod, fromAmount } = ORDER;
  const WANTED = { countryCode, rampType, fromCurrency, toCurrency, paymentMethod, fromAmount };
  const offers = (body: object = {}) =>
    stack.customer<Offers & Failure>('GetAvailablePartners', { ...WANTED, ...body }, { token: null });

  test('gives offers with every field of the specification, the most for the customer first', async () => {
    const { status, body } = await offers();
    expect(status).toBe(200);
    expect(body.partners.length).toBeGreaterThan(0);
    for (const one of body.partners) {
      expect(one).toEqual({
        partnerId: expect.any(String),
        partnerName: expect.any(String),
        toAmount: expect.stringMatching(/^\d+(\.\d+)?$/),
        icon: expect.any(String),
        type: expect.stringMatching(/^(INTEGRATION|REDIRECT)$/),
        termsUrl: expect.stringMatching(/^https:/),
        privacyPolicyUrl: expect.stringMatching(/^https:/),
      });
    }
    const amounts = body.partners.map((one) => Number(one.toAmount));
    expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
  });

  const REQUIRED = ['countryCode', 'rampType', 'fromCurrency', 'toCurrency', 'paymentMethod', 'fromAmount'];
  test.each(REQUIRED)('%s is required', async (field) => {
    expectNamed(await offers({ [field]: undefined }), field);
  });

  test('partnerTypes narrows, TYPE_UNDEFINED narrows nothing, and an unknown type is refused', async () => {
    const types = async (partnerTypes: string[]) =>
      new Set((await offers({ partnerTypes })).body.partners.map((one) => one.type));
    const all = new Set((await offers()).body.partners.map((one) => one.type));
    expect(await types(['TYPE_UNDEFINED'])).toEqual(all);
    expect(await types([])).toEqual(all);
    expect([...(await types(['INTEGRATION']))]).toEqual(all.has('INTEGRATION') ? ['INTEGRATION'] : []);
    expect([...(await types(['REDIRECT']))]).toEqual(all.has('REDIRECT') ? ['REDIRECT'] : []);
    expectNamed(await offers({ partnerTypes: ['BANK'] }), 'partnerTypes.0');
  });

  test('who does not serve the amount, the country, the currency or the method is left out', async () => {
    for (const elsewhere of [
      { fromAmount: '0.000001' },
      { fromAmount: '999999999999999999' },
      { countryCode: 'ATA' },
      { fromCurrency: 'JPY' },
      { paymentMethod: 'DEU_SEPA' },
    ]) {
      expect([elsewhere, (await offers(elsewhere)).body.partners]).toEqual([elsewhere, []]);
    }
    for (const wrong of [
      { fromAmount: '-5' },
      { fromAmount: 250 },
      { countryCode: 'DE' },
      { rampType: 'BUY' },
      { fromCurrency: 'XAU' },
      { toCurrency: 'SOLANA_NOTHING' },
      { paymentMethod: 'ATA_SLEDGE' },
    ]) {
      expectNamed(await offers(wrong), Object.keys(wrong)[0] ?? '');
    }
  });
});

describe('CreateOrder', () => {
  test('at an integration partner makes an order with deposit instructions, which the partner sees', async () => {
    const order = await stack.created();
    expect(order).toMatchObject({
      partnerId: BANK,
      status: 'AWAITING_FUNDS',
      sourceCurrency: ORDER.fromCurrency,
      sourceAmount: ORDER.fromAmount,
      destinationCurrency: ORDER.toCurrency,
      destinationAmount: expect.stringMatching(/^\d+(\.\d+)?$/),
      transactionType: 'ONRAMP',
      network: 'SOLANA',
      paymentMethod: ORDER.paymentMethod,
    });
    expect(Object.keys(order.depositInstructions ?? {}).length).toBeGreaterThan(0);
    expect(await stack.show(order.id)).toEqual({ ...order, customerId: ANA, externalId: expect.any(String) });
  });

  test('shows its customer neither customerId, externalId nor reason', async () => {
    const order = await stack.created();
    for (const hidden of ['customerId', 'externalId', 'reason']) expect(order).not.toHaveProperty(hidden);
    expect(await stack.show(order.id)).toMatchObject({ customerId: ANA, externalId: expect.any(String) });
  });

  test('at a redirect partner gives redirectUrl and toAmount, and leaves no order', async () => {
    const wanted = { partnerId: REDIRECT, fromAmount: '120' };
    const before = (await stack.partner<{ totalCount: number }>('GetOrders', {})).body.totalCount;
    const answer = await stack.customer('CreateOrder', { ...ORDER, customerIp: '203.0.113.7', ...wanted });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        redirectUrl: expect.stringMatching(/^https:\/\//),
        toAmount: expect.stringMatching(/^\d+(\.\d+)?$/),
        orderId: expect.stringMatching(/^rmp_/),
      },
    ]);
    expect((await stack.partner<{ totalCount: number }>('GetOrders', {})).body.totalCount).toBe(before);
  });

  test('under one Idempotency-Key makes one order; other data under it is refused', async () => {
    const headers = { 'idempotency-key': 'spec-create' };
    const first = await stack.created({}, { headers });
    expect((await stack.created({}, { headers })).id).toBe(first.id);
    const other = await stack.customer<Failure>('CreateOrder', { ...ORDER, fromAmount: '61' }, { headers });
    expect([other.status, other.body.code]).toEqual([409, 'aborted']);
  });

  test('of a partner that is not known is 404; fields that are missing or wrong are named', async () => {
    const create = (body: object) => stack.customer<Failure>('CreateOrder', { ...ORDER, ...body });
    const unknown = await create({ partnerId: 'par_nobody' });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    for (const field of Object.keys(ORDER)) expectNamed(await create({ [field]: undefined }), field);
    for (const wrong of [{ fromAmount: '0' }, { fromAmount: 5 }, { countryCode: 'BR' }, { rampType: 'SWAP' }]) {
      expectNamed(await create(wrong), Object.keys(wrong)[0] ?? '');
    }
    for (const other of ['customerPaymentDetailsDataId', 'customerWalletDataId']) {
      expectNamed(await create({ [other]: 'dat_of_somebody_else' }), other);
    }
  });
});

describe('the wire', () => {
  test('field names in snake_case and camelCase are one; both at once are refused; null is unset', async () => {
    const { id } = await stack.order();
    const snake = await stack.partner<OrderAnswer>('UpdateOrder', {
      order_id: id,
      source_transaction_id: 'src',
      deposit_instructions: { bank_name: 'Sandbank', bank_routing_number: null },
      reason: null,
    });
    expect(snake.body.order).toMatchObject({
      sourceTransactionId: 'src',
      depositInstructions: { bankName: 'Sandbank' },
    });
    expect(snake.body.order.depositInstructions).not.toHaveProperty('bankRoutingNumber');
    const both = await stack.partner<Failure>('UpdateOrder', { orderId: id, order_id: id });
    expect([both.status, both.body.code]).toEqual([400, 'invalid_argument']);
    // A field is named as it was sent.
    expectNamed(await stack.partner<Failure>('GetOrderDetails', { order_id: null }), 'order_id');
  });

  test('an unknown field is refused by its name, wherever it lies and however it is spelled', async () => {
    const { id } = await stack.order();
    expectNamed(await stack.partner<Failure>('UpdateOrder', { orderId: id, statsu: 'ERROR' }), 'statsu');
    const nested = await stack.partner<Failure>('UpdateOrder', { order_id: id, return_details: { refund_id: 'x' } });
    expect(nested.status).toBe(400);
    expect(JSON.stringify(nested.body)).toMatch(/refund_id|refundId/);
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const answer = await stack.partner<Failure>('GetOrders', `{"${name}":1}`);
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });

  test('enums are names: a number or another case is refused', async () => {
    for (const status of [1, 'error', 'ORDER_STATUS_ERROR', ['ERROR'], true]) {
      expectNamed(await stack.partner<Failure>('GetOrders', { status }), 'status');
    }
  });

  test('every operation answers another method with 405, another codec with 415, and no JSON with 400', async () => {
    for (const [service, operation] of ALL) {
      const path = pathOf(service, operation);
      const { key, token } = stack;
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await stack.call<Failure>(path, method === 'GET' ? undefined : {}, { key, token, method });
        expect([operation, method, answer.status, answer.headers.get('allow')]).toEqual([
          operation,
          method,
          405,
          'POST',
        ]);
      }
      for (const type of ['application/proto', 'text/plain', 'application/grpc', 'application/connect+json']) {
        const answer = await stack.call<Failure>(path, '{}', { key, token, headers: { 'content-type': type } });
        expect([operation, type, answer.status]).toEqual([operation, type, 415]);
      }
      for (const broken of ['{', '[]', 'null', '"x"', '{}{}']) {
        const answer = await stack.call<Failure>(path, broken, { key, token });
        expect([operation, broken, answer.status, answer.body.code]).toEqual([
          operation,
          broken,
          400,
          'invalid_argument',
        ]);
      }
      const charset = await stack.call(path, '{}', {
        key,
        token,
        headers: { 'content-type': 'application/json; charset=utf-8' },
      });
      expect([operation, charset.status]).not.toEqual([operation, 415]);
    }
  });

  test('every error has code, message and detail.reason, never details, and a request id', async () => {
    const answers = [
      await stack.partner<Failure>('GetOrders', {}, { key: null }),
      await stack.partner<Failure>('GetOrders', { pageSize: 0 }),
      await stack.partner<Failure>('GetOrderDetails', { orderId: 'ord_nothing' }),
      await stack.partner<Failure>('GetEverything', {}),
      await stack.customer<Failure>('UpdateOrder', {}),
      await stack.call<Failure>('/elsewhere.core.v1.partner.Service/GetOrders', {}, { key: stack.key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 400, 404, 404, 404, 404]);
    for (const { body, headers } of answers) {
      expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'message']);
      expect(body.detail?.reason).toMatch(/^[a-z_]+$/);
      expect(headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  test('paths carry the operator’s word, core.v1, and the service', async () => {
    const { token, key } = stack;
    for (const [service, operation] of ALL) {
      const path = `/farelock.core.v1.${service}.Service/${operation}`;
      expect([operation, (await stack.call(path, '{', { key, token })).status]).toEqual([operation, 400]);
    }
  });
});

test('of one customer, a partner that is not linked to the customer sees nothing', async () => {
  const pix = await stack.issueKey(PIX);
  const redirect = await stack.issueKey(REDIRECT);
  const { id } = await stack.order();
  for (const { key } of [pix, redirect]) {
    expect((await stack.partner('GetOrderDetails', { orderId: id }, { key })).status).toBe(404);
  }
});
