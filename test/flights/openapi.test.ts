import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { openWorld, PASSENGER, TRIP, type World } from './world.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
  readonly parameters: { name: string; in: string }[];
  readonly requestBody?: { content: Record<string, { schema: object }> };
}
interface Document {
  readonly openapi: string;
  readonly info: { version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, object> };
}

let world: World;
let document: Document;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  document = (await world.call<Document>('/openapi.json')).body;
});
afterAll(() => world.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test('it declares OpenAPI 3.1.0 and version 1.0.0, and every endpoint', () => {
  expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0']);
  expect(operations().map(({ path, method }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining([
      'get /health',
      'get /ready',
      'get /openapi.json',
      'post /air/search',
      'post /air/search-updates',
      'post /air/offer-details',
      'post /air/intents',
      'post /affiliates',
      'get /affiliates/{code}',
      'get /air/intents/{intent_id}',
      'post /air/book',
      'post /air/refund-requests',
      'get /air/orders/{order_id}',
      'get /operator/refund-requests',
      'get /operator/refund-requests/{request_id}',
      'post /operator/refund-requests/{request_id}/claim',
      'post /operator/refund-requests/{request_id}/release',
      'post /operator/refund-requests/{request_id}/note',
      'post /operator/refund-requests/{request_id}/approve',
      'post /operator/refund-requests/{request_id}/reject',
      'get /operator/stuck',
      'get /operator/stuck/{id}',
      'post /operator/stuck/{id}/resolve',
      'get /operator/switches',
      'post /operator/switches',
      'get /operator/audit',
      'get /operator/keys',
      'post /operator/keys',
      'post /operator/keys/{key_id}/revoke',
    ]),
  );
});

test('every reference leads somewhere, every operation is named once, and every path parameter is described', () => {
  const text = JSON.stringify(document);
  const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(names.length).toBeGreaterThan(20);
  for (const name of new Set(names)) {
    expect(name).toMatch(/^#\/components\/schemas\/\w+$/);
    expect(document.components.schemas).toHaveProperty(name.split('/').at(-1) ?? '');
  }
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations()) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const described = operation.parameters.filter((one) => one.in === 'path').map((one) => one.name);
    expect(described).toEqual(inPath);
    for (const response of Object.values(operation.responses)) expect(response.description).not.toBe('');
  }
});

test('the headers of paid calls and every status of the specification are in it', () => {
  const statuses = (path: string, method: string) => Object.keys(document.paths[path]?.[method]?.responses ?? {});
  expect(statuses('/air/search', 'post')).toEqual(expect.arrayContaining(['200', '400', '402', '501']));
  expect(statuses('/air/intents', 'post')).toEqual(expect.arrayContaining(['201', '400', '402', '409', '502', '503']));
  expect(statuses('/air/book', 'post')).toEqual(
    expect.arrayContaining(['200', '400', '402', '404', '409', '501', '503']),
  );
  expect(statuses('/air/orders/{order_id}', 'get')).toEqual(
    expect.arrayContaining(['200', '401', '402', '403', '404']),
  );
  expect(statuses('/ready', 'get')).toEqual(expect.arrayContaining(['200', '503']));
  const headers = document.paths['/air/orders/{order_id}']?.get?.parameters.map((one) => one.name);
  expect(headers).toEqual(['order_id', 'X-Customer-Support-Code', 'PAYMENT-SIGNATURE', 'Prefer']);
});

/** Checks a body against the schema that the document gives for the status. */
function matches(path: string, method: string, status: number, body: unknown): void {
  const response = document.paths[path]?.[method]?.responses[String(status)];
  const schema = response?.content?.['application/json']?.schema;
  if (!schema) throw new Error(`${method} ${path} does not document ${status}`);
  const withParts = { ...schema, $defs: document.components.schemas };
  const local = JSON.parse(
    JSON.stringify(withParts).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as z.core.JSONSchema.JSONSchema;
  const parsed = z.fromJSONSchema(local).safeParse(body);
  expect(parsed.success ? [] : parsed.error.issues).toEqual([]);
}

test('what is answered is what is documented', async () => {
  const ask = async (path: string, body?: object) => ({ path, ...(await world.call(path, body)) });
  for (const path of ['/health', '/ready', '/openapi.json']) {
    const answer = await ask(path);
    matches(path, 'get', answer.status, answer.body);
  }
  const challenge = await ask('/air/search', TRIP);
  matches('/air/search', 'post', 402, challenge.body);
  const refusal = await ask('/air/search', { ...TRIP, adults: 12 });
  matches('/air/search', 'post', 400, refusal.body);
  const found = await world.paid('/air/search', { ...TRIP, cheapest_per_itinerary: true });
  matches('/air/search', 'post', 200, found.body);
  const details = await world.paid('/air/offer-details', { offer_id: 'off_1' });
  matches('/air/offer-details', 'post', 200, details.body);
  const made = await world.intent('off_1');
  matches('/air/intents', 'post', 201, made);
  const { escrow: _, ...lacking } = made;
  expect(() => matches('/air/intents', 'post', 201, lacking)).toThrow();
  expect(() => matches('/air/intents', 'post', 201, { ...made, surplus: 1 })).toThrow();
  const twice = await world.paid('/air/intents', { funding_wallet: world.wallet.address, offer_id: 'off_1' });
  matches('/air/intents', 'post', 409, twice.body);
  matches('/air/intents/{intent_id}', 'get', 200, await world.show(made));
  const booked = await world.paid('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER] });
  matches('/air/book', 'post', 200, booked.body);
  await world.work();
  const orderId = (await world.show(made)).order_id;
  const order = await world.paid(`/air/orders/${orderId}`, undefined, {
    headers: { 'X-Customer-Support-Code': made.customer_support_code },
  });
  matches('/air/orders/{order_id}', 'get', 200, order.body);
  const denied = await world.call(`/air/orders/${orderId}`);
  matches('/air/orders/{order_id}', 'get', 401, denied.body);
});
