import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS, openStack, pathOf, type Stack } from './stack.ts';

/** The description of the partner service says what the service does. */

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, unknown> }>>;
  readonly components: { readonly schemas: Record<string, object> };
}

let stack: Stack;
let document: Document;
let valid: (schema: string, value: unknown) => unknown;

beforeAll(async () => {
  stack = await openStack();
  document = (await stack.call<Document>('/partner/openapi.json', undefined, { method: 'GET' })).body;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  valid = (schema, value) => {
    const check = ajv.compile({ $ref: `document#/components/schemas/${schema}` });
    return check(value) ? [] : check.errors;
  };
});
afterAll(() => stack.close());

test('every operation is described, with its request, its answer and its refusals', () => {
  expect(document.openapi).toBe('3.1.0');
  for (const service of ['partner', 'customer'] as const) {
    for (const operation of OPERATIONS[service]) {
      const { post } = document.paths[pathOf(service, operation)] ?? {};
      expect(Object.keys(post?.responses ?? {})).toEqual(expect.arrayContaining(['200', '400', '401', '500']));
    }
  }
});

test('every reference of the description leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(20);
  for (const [, name = ''] of references) expect(document.components.schemas).toHaveProperty(name);
});

test('answers and errors are what the description says', async () => {
  const orders = await stack.partner('GetOrders', {});
  expect(valid('GetOrdersResponse', orders.body)).toEqual([]);
  const details = await stack.partner('GetOrderDetails', { orderId: 'rmp_demo_done', includeHistory: true });
  expect(valid('GetOrderDetailsResponse', details.body)).toEqual([]);
  const updated = await stack.partner('UpdateOrder', { orderId: 'rmp_demo_waiting', toAmount: '270' });
  expect(valid('UpdateOrderResponse', updated.body)).toEqual([]);
  const onboarding = await stack.customer('GetOnboardingRequirements', {});
  expect(valid('GetOnboardingRequirementsResponse', onboarding.body)).toEqual([]);
  for (const refused of [
    await stack.partner('GetOrders', { nothing: 1 }),
    await stack.partner('GetOrders', {}, { key: null }),
    await stack.partner('UpdateOrder', { orderId: 'rmp_demo_done', status: 'CANCELED' }),
    await stack.partner('Nothing', {}),
  ]) {
    expect(valid('Error', refused.body)).toEqual([]);
  }
  expect(valid('PartnerKeys', await stack.operator('partner-keys'))).toEqual([]);
  expect(valid('PartnerRecords', await stack.operator('partners'))).toEqual([]);
});

test('requests that the service takes are in the description, and those that it refuses are not', () => {
  expect(valid('GetOrdersRequest', { status: 'ERROR', pageSize: 200 })).toEqual([]);
  expect(valid('GetOrdersRequest', { pageSize: 201 })).not.toEqual([]);
  expect(valid('GetOrdersRequest', { status: 'PAID' })).not.toEqual([]);
  const update = { orderId: 'rmp_1', status: 'FUNDS_RECEIVED', depositInstructions: { accountNumber: '1' } };
  expect(valid('UpdateOrderRequest', update)).toEqual([]);
  expect(valid('UpdateOrderRequest', { ...update, toAmount: '-1' })).not.toEqual([]);
});
