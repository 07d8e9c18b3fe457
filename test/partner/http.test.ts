import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Failure, OPERATIONS, openStack, pathOf, type Stack } from './stack.ts';

/** The wire of the procedures: Connect's unary form with the JSON codec (CONTRACT, section 10). */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const GET_ORDERS = pathOf('partner', 'GetOrders');

const raw = (path: string, init: RequestInit & { duplex?: 'half' } = {}, key: string | null = stack.key) =>
  stack.service.fetch(
    new Request(`http://service.test${path}`, {
      method: 'POST',
      ...init,
      headers: {
        'content-type': 'application/json',
        ...(key ? { 'x-api-key': key } : {}),
        ...(init.headers as Record<string, string> | undefined),
      },
    }),
  );

describe('paths and methods', () => {
  test('every other method is 405 with Allow: POST, in Connect’s form', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await raw(GET_ORDERS, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
      if (method !== 'HEAD') expect(await answer.json()).toMatchObject({ code: 'unimplemented' });
    }
  });

  test('an unknown operation, service or name of the service is 404', async () => {
    for (const path of [
      pathOf('partner', 'Nothing'),
      pathOf('partner', ''),
      pathOf('customer', 'GetOrders'),
      pathOf('partner', 'GetOrders', 'other'),
      `${GET_ORDERS}/`,
      pathOf('partner', 'constructor'),
    ]) {
      const answer = await raw(path, { body: '{}' });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.json()).toMatchObject({ code: 'not_found', detail: { reason: 'unknown_procedure' } });
    }
  });

  test('a parameter in the query is refused, naming it', async () => {
    const answer = await raw(`${GET_ORDERS}?status=ERROR`, { body: '{}' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ detail: { issues: [{ path: 'status' }] } });
  });
});

describe('bodies', () => {
  test('another codec is 415, and so is a compressed body', async () => {
    for (const type of ['application/proto', 'application/connect+json', 'text/plain', 'multipart/form-data'])
      expect((await raw(GET_ORDERS, { body: '{}', headers: { 'content-type': type } })).status).toBe(415);
    expect((await raw(GET_ORDERS, { body: '{}', headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    expect((await raw(GET_ORDERS, { body: '{}', headers: charset })).status).toBe(200);
  });

  test('64 KiB is the limit, 8 MiB where documents travel, also for chunked bodies', async () => {
    const over = (kib: number) => `{"pageToken":"${'x'.repeat(kib * 1024)}"}`;
    const large = await raw(GET_ORDERS, { body: over(64) });
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ code: 'resource_exhausted' });
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(16 * 1024));
      },
    });
    expect((await raw(GET_ORDERS, { body: stream, duplex: 'half' })).status).toBe(413);
    const token = { authorization: `Bearer ${stack.token}` };
    const submit = pathOf('customer', 'SubmitCustomerData');
    expect((await raw(submit, { body: over(1024), headers: token })).status).toBe(400);
    expect((await raw(submit, { body: over(8 * 1024), headers: token })).status).toBe(413);
  });

  test('what is no JSON object is 400, whatever it is', async () => {
    for (const body of ['{', 'null', '[]', '1', '"x"', '{"a":1}}', '\u0000', '[['.repeat(30_000)]) {
      const answer = await raw(GET_ORDERS, { body });
      expect([body.slice(0, 9), answer.status]).toEqual([body.slice(0, 9), 400]);
      expect(await answer.json()).toMatchObject({ code: 'invalid_argument' });
    }
    const notUtf8 = await raw(GET_ORDERS, { body: new Uint8Array([0x7b, 0xff, 0x7d]) });
    expect(await notUtf8.json()).toMatchObject({ detail: { reason: 'invalid_json' } });
    expect((await raw(GET_ORDERS)).status).toBe(200);
  });

  test('a nested body that only wants to exhaust the stack is 400', async () => {
    const body = `{"depositInstructions":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`;
    expect((await raw(GET_ORDERS, { body })).status).toBe(400);
  });

  test('a name that is given twice is refused, naming it: of two amounts neither is meant', async () => {
    const body = '{"orderId":"rmp_demo_waiting","depositInstructions":{"amount":"1","amount":"2"}}';
    const answer = await raw(pathOf('partner', 'UpdateOrder'), { body });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { detail: { issues: [{ path: 'depositInstructions.amount', message: 'is given twice: give it once.' }] } },
    ]);
  });

  test('a value that is not of the list is told the list', async () => {
    const { body } = await stack.partner<Failure>('GetOrders', { status: 'PAID' });
    expect(body.detail?.issues?.[0]?.message).toMatch(/^must be one of AWAITING_FUNDS, .*IN_REVIEW\.$/);
  });

  test('every unknown field is named, as it was sent', async () => {
    const { body } = await stack.partner<Failure>('UpdateOrder', {
      orderId: 'rmp_demo_waiting',
      state: 1,
      deposit_instructions: { bank: 'x', __proto__x: null },
    });
    const named = body.detail?.issues?.map(({ path }) => path).sort();
    expect(named).toEqual(['deposit_instructions.__proto__x', 'deposit_instructions.bank', 'state']);
  });

  test('an error never repeats what was sent', async () => {
    const answer = await stack.partner('UpdateOrder', { orderId: 'secretword', status: 'secretword' });
    expect(JSON.stringify(answer.body)).not.toContain('secretword');
  });
});

describe('headers', () => {
  test('Connect’s own are optional; a version or a timeout that is none is refused', async () => {
    const asked = (headers: Record<string, string>) => raw(GET_ORDERS, { body: '{}', headers });
    expect((await asked({ 'connect-protocol-version': '1', 'connect-timeout-ms': '5000' })).status).toBe(200);
    expect((await asked({ 'connect-protocol-version': '2' })).status).toBe(400);
    expect((await asked({ 'connect-timeout-ms': 'soon' })).status).toBe(400);
    expect((await asked({ 'connect-timeout-ms': '12345678901' })).status).toBe(400);
  });

  test('every answer has a request id and is kept by nobody', async () => {
    for (const answer of [await raw(GET_ORDERS, { body: '{}' }), await raw(GET_ORDERS, { body: '[' })]) {
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  test('who calls is asked before what is asked', async () => {
    for (const service of ['partner', 'customer'] as const) {
      for (const operation of OPERATIONS[service]) {
        const answer = await raw(pathOf(service, operation), { body: '{' }, null);
        expect([operation, answer.status]).toEqual([operation, 401]);
      }
    }
  });
});
