import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { PASSENGER, TRIP } from '../flights/world.ts';
import { isProof, rounds, seedOr } from '../rounds.ts';
import type { Operation } from './fuzz/document.ts';
import { paidCalls } from './fuzz/paid.ts';
import { type Ask, requestsOf } from './fuzz/requests.ts';
import { openScene, type Scene } from './fuzz/scene.ts';

/**
 * Every endpoint of the served document, with bodies made from its own schemas and broken in every way. A longer run:
 * `npm run fuzz -- --times 25 --seed 7`.
 */

const RUNS = rounds(400, 20_000);
const SEED = seedOr(20_261_121);
const PAID = rounds(40, 200);
const BATCH = 100;

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const told = ({ method, path, headers, body }: Ask) =>
  JSON.stringify({ method, path, headers, body: typeof body === 'string' ? body.slice(0, 2000) : body });

/** Answered without the database: what breaks them is broken for every call. */
const NEED_NOTHING = ['/health', '/ready', '/openapi.json'];

/** An airline that sends messages: where none does, the call for them is not there. */
const writing = <P extends object>(provider: P | null) => provider && { ...provider, receive: async () => ['int_1'] };

describe('every call of the document', () => {
  const bare = (operation: Operation, change: Partial<Ask> = {}): Ask => ({
    operation,
    method: operation.method,
    path: operation.path.replace(/\{(\w+)\}/g, 'x'),
    headers: {
      ...(operation.body ? { 'content-type': 'application/json' } : {}),
      ...(operation.operator ? { authorization: 'Bearer $key' } : {}),
    },
    body: operation.body ? '{}' : null,
    ...change,
  });
  const refuses = async (asks: Ask[], status: number, code: string) => {
    expect(asks.length).toBeGreaterThan(3);
    for (const ask of asks) {
      const answer = await scene.send(ask);
      expect([ask.operation.name, answer.status, answer.body]).toMatchObject([
        ask.operation.name,
        status,
        ask.method === 'HEAD' ? {} : { code },
      ]);
      expect(scene.wrongWith(ask.operation, answer)).toBeNull();
    }
  };
  const all = () => scene.operations;
  const withBody = () => all().filter((one) => one.body !== null);

  test('405 with Allow: a method that it does not have', () =>
    refuses(
      all().map((one) => bare(one, { method: 'DELETE' })),
      405,
      'method_not_allowed',
    ));

  test('400 invalid_request: a query', () =>
    refuses(
      all().map((one) => bare(one, { path: `${bare(one).path}?max_stops=0` })),
      400,
      'invalid_request',
    ));

  test('415: another media type, where it has a body', () =>
    refuses(
      withBody().map((one) => bare(one, { headers: { ...bare(one).headers, 'content-type': 'text/plain' } })),
      415,
      'unsupported_media_type',
    ));

  test('413: more than 64 KiB, where it has a body', () =>
    refuses(
      withBody().map((one) => bare(one, { body: JSON.stringify({ a: 'x'.repeat(66_000) }) })),
      413,
      'payload_too_large',
    ));

  test('413: more than 64 KiB, also of a search that a gateway is said to sponsor', () => {
    const search = bare(scene.find('POST /air/search'));
    const headers = { ...search.headers, 'x-gateway-sponsored-timestamp': '' };
    const large = { ...search, headers, body: JSON.stringify({ a: 'x'.repeat(66_000) }) };
    // It once waited for ever for the other half of a copied body.
    return refuses([large, large, large, large], 413, 'payload_too_large');
  });

  test('400 invalid_json: no JSON, where it has a body', () =>
    refuses(
      withBody().map((one) => bare(one, { body: '{' })),
      400,
      'invalid_json',
    ));

  test('400 invalid_request: an unknown field, named, where it has a body', async () => {
    for (const one of withBody()) {
      const answer = await scene.send(bare(one, { body: '{"surplus_field":1}' }));
      expect([one.name, answer.status]).toEqual([one.name, 400]);
      const issues = (answer.body as { detail: { issues: { path: string }[] } }).detail.issues;
      expect(issues.map((issue) => issue.path)).toContain('surplus_field');
    }
  });

  test('400 invalid_payment_signature: a payment that cannot be read, where it is paid', async () => {
    for (const one of all().filter((operation) => operation.paid)) {
      const ask = goodAsk(one);
      if (!ask) throw new Error(`say what a good request to ${one.name} is`);
      const unpaid = await scene.send(ask);
      expect([one.name, unpaid.status], JSON.stringify(unpaid.body)).toEqual([one.name, 402]);
      const answer = await scene.send({ ...ask, headers: { ...ask.headers, 'payment-signature': 'bm8=' } });
      expect([one.name, answer.status, answer.body]).toMatchObject([
        one.name,
        400,
        { code: 'invalid_payment_signature' },
      ]);
    }
  });

  test('500 internal_error: a failure that nobody foresaw, told without its inside', async () => {
    const broken = scene.world.service((ports) => ({
      ...ports,
      provider: writing(ports.provider),
      store: new Proxy(ports.store, {
        get: () => () => {
          throw new Error('secret path /var/lib');
        },
      }),
    }));
    for (const one of all().filter(({ path }) => !NEED_NOTHING.includes(path))) {
      const answer = await scene.send(goodAsk(one) ?? bare(one), broken.app);
      expect([one.name, answer.status], JSON.stringify(answer.body)).toEqual([one.name, 500]);
      expect(answer.body).toEqual({ code: 'internal_error', message: expect.not.stringContaining('secret') });
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  test.each([
    'not_ready',
    'storage_full',
    'storage_failed',
    'storage_not_writable',
    'storage_locked',
    'storage_damaged',
    'too_many_open_files',
  ] as const)('503 %s: of every call that needs the database', async (code) => {
    const broken = scene.world.service((ports) => ({
      ...ports,
      provider: writing(ports.provider),
      store: new Proxy(ports.store, {
        get: () => () => {
          throw problem(code);
        },
      }),
    }));
    for (const one of all().filter(({ path }) => !NEED_NOTHING.includes(path))) {
      const answer = await scene.send(goodAsk(one) ?? bare(one), broken.app);
      expect([one.name, answer.status, answer.body]).toMatchObject([one.name, 503, { code }]);
    }
  });

  test('500 internal_error: of GET /health, GET /ready and GET /openapi.json, which need no database', async () => {
    let isBroken = false;
    const broken = scene.world.service((ports) => ({
      ...ports,
      clock: {
        ...ports.clock,
        now: () => {
          if (isBroken) throw new Error('secret path /var/lib');
          return ports.clock.now();
        },
      },
    }));
    isBroken = true;
    for (const path of NEED_NOTHING) {
      const one = scene.find(`GET ${path}`);
      const answer = await scene.send(bare(one), broken.app);
      expect([one.name, answer.status]).toEqual([one.name, 500]);
      expect(answer.body).toEqual({ code: 'internal_error', message: expect.not.stringContaining('secret') });
    }
  });

  test('401 operator_key_required, operator_key_invalid: without a key, or with a wrong one, at the desk', async () => {
    const atTheDesk = all().filter((one) => one.operator);
    const asks = (authorization?: string) =>
      atTheDesk.map((one) => {
        const { authorization: _right, ...headers } = bare(one).headers;
        return bare(one, { headers: authorization === undefined ? headers : { ...headers, authorization } });
      });
    await refuses(asks(), 401, 'operator_key_required');
    await refuses(asks('Bearer flk_op_guess'), 401, 'operator_key_invalid');
  });

  /** A request that comes as far as the price. */
  function goodAsk(operation: Operation): Ask | null {
    const asked: Record<string, object> = {
      'POST /air/search': TRIP,
      'POST /air/offer-details': { offer_id: '$offer' },
      'POST /air/intents': { offer_id: '$dearest' },
      'POST /air/book': { intent_id: '$intent', passengers: [PASSENGER] },
      'POST /air/refund-requests': { intent_id: '$booked', reason: 'Illness in the family.' },
      'POST /air/search-updates': { search_id: 'sea_nothing' },
      'POST /affiliates': { wallet: '$stranger' },
    };
    const identity = { 'x-customer-support-code': '$code', 'x-passenger-family-name': PASSENGER.family_name };
    const ask = bare(operation);
    if (operation.name === 'GET /air/orders/{order_id}') {
      return { ...ask, path: '/air/orders/$order', headers: identity };
    }
    const body = asked[operation.name];
    return body ? { ...ask, body: JSON.stringify(body), headers: { ...ask.headers, ...identity } } : null;
  }
});

test('a valid call that is paid is answered in its form and costs what its challenge says; any other costs nothing', async () => {
  const good = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(paidCalls(scene.document), async (made) => {
      const { ask, challenge, answer, spent } = await made(scene);
      const wrong = scene.wrongWith(ask.operation, answer);
      if (wrong !== null) throw new Error(`${ask.operation.name} ${wrong}\n${told(ask)}`);
      const charged = answer.headers.has('payment-response') ? challenge : 0n;
      expect(spent, `${answer.status} ${told(ask)}`).toBe(charged);
      if (answer.status < 300) good.set(ask.operation.name, (good.get(ask.operation.name) ?? 0) + 1);
    }),
    { seed: SEED, numRuns: PAID, endOnFailure: true },
  );
  for (const { name } of scene.operations.filter((one) => one.paid)) expect(good.get(name), name).toBeGreaterThan(0);
  await scene.world.work();
}, 1_800_000);

// Last: wrong codes slow down whoever reads the order afterwards.
test('whatever is sent, the answer is a documented one, nothing fails inside, and nothing is charged', async () => {
  const seen = new Map<string, Map<number, number>>();
  const ask = requestsOf(scene.operations, scene.document.components.schemas);
  const batches = fc.array(ask, { minLength: BATCH, maxLength: BATCH });
  await fc.assert(
    fc.asyncProperty(batches, async (asks) => {
      const before = await scene.books();
      for (const one of asks) {
        const answer = await scene.send(one);
        const statuses = seen.get(scene.answering(one).name) ?? new Map<number, number>();
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        seen.set(scene.answering(one).name, statuses);
        const wrong = scene.wrongWith(scene.answering(one), answer, { head: one.method === 'HEAD' });
        if (wrong !== null) throw new Error(`${one.operation.name} ${wrong}\n${told(one)}`);
      }
      expect(await scene.books()).toEqual(before);
    }),
    { seed: SEED, numRuns: Math.ceil(RUNS / BATCH), endOnFailure: true },
  );
  if (isProof) {
    const lines = [...seen].map(
      ([name, statuses]) => `${name} ${[...statuses].map(([s, n]) => `${s}:${n}`).join(' ')}`,
    );
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  for (const operation of scene.operations) {
    const statuses = seen.get(operation.name) ?? new Map();
    expect(statuses.size, operation.name).toBeGreaterThan(0);
  }
}, 1_800_000);
