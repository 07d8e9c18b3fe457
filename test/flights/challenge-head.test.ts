import {
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decoded } from '../payments/world.ts';
import { type Answered, openWorld, PASSENGER, TRIP, type World } from './world.ts';

/** The challenge of each paid call: its extension `bazaar`, checked by the stock package, and the size of its head. */

interface Discovery {
  info: { input: Record<string, unknown> & { body?: object } };
  schema: { properties: { input: { properties: { body?: { properties: object } } } } };
}
interface Required {
  resource: { url: string };
  accepts: { scheme: string }[];
  extensions: { bazaar: Discovery };
}

let world: World;
const asks: [route: string, path: string, body: unknown, headers: Record<string, string>][] = [];
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  const intent = await world.intent('off_1');
  const booked = await world.intent('off_2');
  await world.book(booked);
  await world.work();
  const { order_id } = await world.show(booked);
  const code = { 'X-Customer-Support-Code': booked.customer_support_code };
  const owner = { ...code, 'X-Passenger-Family-Name': PASSENGER.family_name };
  asks.push(
    ['POST /air/search', '/air/search', TRIP, {}],
    ['POST /air/offer-details', '/air/offer-details', { offer_id: 'off_3' }, {}],
    ['POST /air/intents', '/air/intents', { offer_id: 'off_3' }, {}],
    ['POST /air/book', '/air/book', { intent_id: intent.intent_id, passengers: [PASSENGER] }, {}],
    ['GET /air/orders/{order_id}', `/air/orders/${order_id}`, undefined, code],
    ['POST /air/refund-requests', '/air/refund-requests', { intent_id: booked.intent_id, reason: 'Ill.' }, owner],
  );
});
afterAll(() => world.close());

async function challenges(more: Record<string, string> = {}) {
  const answers: Record<string, Answered<Required>> = {};
  for (const [route, path, body, headers] of asks) {
    answers[route] = await world.call<Required>(path, body, { headers: { ...headers, ...more } });
    expect(answers[route].status, route).toBe(402);
  }
  return Object.entries(answers);
}

const openapi = async () => {
  const { body } = await world.call<{
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
  expect(paid.sort()).toEqual(asks.map(([route]) => route).sort());
});

test('the stock package takes the description of each call, and refuses one that lacks what is needed', async () => {
  const { paths, components } = await openapi();
  for (const [route, { body, headers }] of await challenges()) {
    expect(decoded(headers.get('payment-required')), route).toEqual(body);
    const { bazaar } = body.extensions;
    const said = bazaar as unknown as Parameters<typeof validateDiscoveryExtension>[0];
    expect(validateDiscoveryExtension(said), route).toEqual({ valid: true });
    expect(validateDiscoveryExtensionSpec(said as never), route).toEqual({ valid: true });
    const [method = '', path = ''] = route.split(' ');
    const found = extractDiscoveryInfo({ ...body, x402Version: 2, payload: {} } as never, {} as never);
    expect(found, route).toMatchObject({ method, discoveryInfo: bazaar.info });
    expect(new URL(found?.resourceUrl ?? '').pathname).toBe(path.replace('{order_id}', ':order_id'));
    // Its fields are those of the document, which are those of the call.
    const named = /schemas\/(\w+)/.exec(JSON.stringify(paths[path]?.[method.toLowerCase()]?.requestBody ?? ''))?.[1];
    const fields = Object.keys(components.schemas[named ?? '']?.properties ?? {});
    expect(Object.keys(bazaar.schema.properties.input.properties.body?.properties ?? {}), route).toEqual(fields);
    for (const name of Object.keys(bazaar.info.input).filter((one) => one !== 'type')) {
      const { [name]: _, ...input } = bazaar.info.input;
      expect(validateDiscoveryExtension({ ...said, info: { input } } as never).valid, `${route} ${name}`).toBe(false);
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
  const heads = await Promise.all([{}, { Prefer: 'auth-capture' }].map((more) => challenges({ ...MPP, ...more })));
  const sizes = heads.flat().map(([route, { headers, body }]) => {
    schemes.push(...body.accepts.map(({ scheme }) => scheme));
    const head = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, ADDED + KEPT);
    return { route, head };
  });
  expect(sizes.filter(({ head }) => head + LONGER > 4_096)).toEqual([]);
  expect(schemes.filter((scheme) => scheme === 'auth-capture')).toHaveLength(1);
});
