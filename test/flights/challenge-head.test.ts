import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decoded } from '../payments/world.ts';
import { openPaidCalls } from './paid-calls.ts';

/** The challenge of each paid call: its extension `bazaar`, and the size of its head. The stock package: test/interop/stock. */

let calls: Awaited<ReturnType<typeof openPaidCalls>>;
beforeAll(async () => {
  calls = await openPaidCalls();
});
afterAll(() => calls.world.close());

const openapi = async () => {
  const { body } = await calls.world.call<{
    paths: Record<string, Record<string, { 'x-payment-info'?: object; requestBody?: { content: object } }>>;
    components: { schemas: Record<string, { properties: object }> };
  }>('/openapi.json');
  return body;
};

test('each call with a price is here', async () => {
  const { paths } = await openapi();
  const paid = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, one]) =>
      one['x-payment-info'] ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  );
  expect(paid.sort()).toEqual(calls.asks.map(([route]) => route).sort());
});

test('each call is described: the schema takes its example, and refuses one that lacks what is needed', async () => {
  const { paths, components } = await openapi();
  for (const [route, { body, headers }] of await calls.challenges()) {
    expect(decoded(headers.get('payment-required')), route).toEqual(body);
    const { bazaar } = body.extensions;
    const takes = new Ajv2020({ strict: false }).compile(bazaar.schema);
    expect(takes(bazaar.info), JSON.stringify([route, takes.errors])).toBe(true);
    const [method = '', path = ''] = route.split(' ');
    expect(bazaar.info.input.method, route).toBe(method);
    // Its fields are those of the document, which are those of the call.
    const named = /schemas\/(\w+)/.exec(JSON.stringify(paths[path]?.[method.toLowerCase()]?.requestBody ?? ''))?.[1];
    const fields = Object.keys(components.schemas[named ?? '']?.properties ?? {});
    expect(Object.keys(bazaar.schema.properties.input.properties.body?.properties ?? {}), route).toEqual(fields);
    for (const name of Object.keys(bazaar.info.input).filter((one) => one !== 'type')) {
      const { [name]: _, ...input } = bazaar.info.input;
      expect(takes({ ...bazaar.info, input }), `${route} ${name}`).toBe(false);
    }
  }
});

/** What the HTTP server adds to a head. */
const ADDED = 'HTTP/1.1 402 Payment Required\r\nDate: Fri, 27 Nov 2026 22:00:00 GMT\r\nContent-Length: 9999\r\n\r\n'
  .length;
const KEPT = 'Connection: keep-alive\r\nKeep-Alive: timeout=75\r\n'.length;

/** The service's address may be this much longer than here: it is in three places, twice as base64. */
const LONGER = 30 * 4;

const MPP = { 'Accept-Payment': 'solana/charge' };

test('the head of each challenge fits into 4 KB, which nginx keeps for one, also for clients of MPP and of auth-capture', async () => {
  const schemes: string[] = [];
  const heads = await Promise.all(
    [{}, { Prefer: 'auth-capture' }].map((more) => calls.challenges({ ...MPP, ...more })),
  );
  const sizes = heads.flat().map(([route, { headers, body }]) => {
    schemes.push(...body.accepts.map(({ scheme }) => scheme));
    const head = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, ADDED + KEPT);
    return { route, head };
  });
  expect(sizes.filter(({ head }) => head + LONGER > 4_096)).toEqual([]);
  expect(schemes.filter((scheme) => scheme === 'auth-capture')).toHaveLength(1);
});
