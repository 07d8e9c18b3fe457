import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { openStack } from '../../partner/stack.ts';
import { type Operation, operationsOf, type ServedDocument } from './document.ts';
import type { Mutator } from './mutator.ts';
import { asksOf, conformance } from './partner-requests.ts';
import { type Ask, requestsOf } from './requests.ts';
import { openScene } from './scene.ts';
import type { OpenSurface, Surface } from './surface.ts';

/** Both services: requests from their own descriptions, with a few things wrong in each. */

const CORPUS = 1_500;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'post'];
const TYPES = [
  ...['application/proto', 'application/connect+json', 'application/connect+proto', 'application/grpc'],
  ...['application/grpc-web+proto', 'application/json;charset=utf-16', 'application/cbor', 'text/json'],
];
const HEADERS = [
  ...['connect-protocol-version', 'connect-timeout-ms', 'connect-accept-encoding', 'content-encoding', 'accept'],
  ...['transfer-encoding', 'if-match', 'idempotency-key', 'x-request-id', 'origin', 'payment-signature', 'x-payment'],
];

interface Broken {
  readonly ask: Ask;
  /** True where it may be another operation by now. */
  readonly isElsewhere: boolean;
}

/** A header's value is bytes above 31. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e\xa1-\xff]/g, '').trim();

function broken({ chance, upTo, oneOf, text, bytes, jsonText }: Mutator, corpus: readonly Ask[]): Broken {
  const [ask, other] = [oneOf(corpus), oneOf(corpus)];
  const headers = { ...ask.headers };
  let { method, path, body } = ask;
  const asText = (one: Ask['body']) => (typeof one === 'string' ? one : '');
  if (body !== null && chance() < 0.75) {
    if (typeof body !== 'string' || chance() < 0.05) body = bytes(Buffer.from(body));
    else body = jsonText(body, asText(other.body));
  }
  const names = Object.keys(headers);
  if (names.length > 0 && chance() < 0.2) {
    const name = oneOf(names);
    headers[name] = headerText(text(headers[name] ?? ''));
  }
  if (chance() < 0.1) Object.assign(headers, other.headers);
  if (chance() < 0.05) headers[oneOf(HEADERS)] = headerText(text('1'));
  if (chance() < 0.04) headers['content-type'] = oneOf(TYPES);
  if (chance() < 0.05) method = oneOf(METHODS);
  const isElsewhere = chance() < 0.06;
  if (isElsewhere)
    path = `/${text(path, other.path)
      .replace(/^\/+/, '')
      .replace(/[\s#\\]/g, '')}`;
  else if (chance() < 0.04) path += `?${encodeURIComponent(text('a').replace(/[\ud800-\udfff]/g, ''))}=${upTo(9)}`;
  if (method === 'GET' || method === 'HEAD') body = null;
  return { ask: { ...ask, method, path, headers, body }, isElsewhere };
}

type Sent = (ask: Ask) => Promise<{ status: number; body: unknown; headers: Headers }>;
type Check = (ask: Ask, answer: Awaited<ReturnType<Sent>>) => string | null;

/** What every answer to everybody is. */
function basics({ body, status, headers }: Awaited<ReturnType<Sent>>): string | null {
  if (status >= 500 && status !== 503) return `failed inside: ${status} ${JSON.stringify(body)}`;
  if (!headers.get('x-request-id')) return 'has no X-Request-Id';
  const told = JSON.stringify(body);
  return /node_modules|\.ts:\d+|^\s+at |SQLITE|\/tmp\//m.test(told) ? `shows its inside: ${told}` : null;
}

function bad(mutator: Mutator, corpus: readonly Ask[], send: Sent, check: Check): Surface['bad'] {
  return async () => {
    for (;;) {
      const { ask, isElsewhere } = broken(mutator, corpus);
      const { method, path, headers, body } = ask;
      const input = JSON.stringify({
        method,
        path,
        headers,
        body: typeof body === 'string' ? body : body && [...body],
      });
      try {
        // What no client can put into a request is not sent.
        new Request(`http://service.test${path}`, { method, headers });
      } catch {
        continue;
      }
      const answer = await send(ask);
      const wrong = basics(answer) ?? (isElsewhere ? null : check(ask, answer));
      return { input, answer: String(answer.status), wrong };
    }
  };
}

/** Tables in which nothing may be left of whoever paid nothing, once the worker has tidied up. */
const FOR_MONEY = ['quotes', 'settlements', 'intents', 'refund_requests', 'wrong_codes'] as const;
const HOUR_MS = 3_600_000;
const DAYS_MS = 72 * HOUR_MS;

export const openFlightsSurface: OpenSurface = async (mutator, seed) => {
  const scene = await openScene();
  const { world } = scene;
  const corpus = fc.sample(requestsOf(scene.operations, scene.document.components.schemas), { seed, numRuns: CORPUS });
  const before = await scene.books();
  const rows = async () => {
    const counts = await Promise.all(
      FOR_MONEY.map((table) =>
        world.store
          .selectFrom(table)
          .select((one) => one.fn.countAll<number | string>().as('rows'))
          .executeTakeFirstOrThrow(),
      ),
    );
    return counts.map((one) => Number(one.rows));
  };
  const rowsBefore = await rows();
  const check: Check = (ask, answer) =>
    scene.wrongWith(scene.answering(ask), answer, { head: ask.method.toUpperCase() === 'HEAD' });
  return {
    bad: bad(mutator, corpus, (ask) => scene.send(ask), check),
    async atRest() {
      const after = await scene.books();
      const wrong = Object.entries(before).flatMap(([name, was]) =>
        after[name as keyof typeof after] === was
          ? []
          : [`${name} was ${was}, and is ${after[name as keyof typeof after]}`],
      );
      world.clock.advance(DAYS_MS);
      // A sweep takes a bite of what is over: as many as it needs.
      let left = await rows();
      for (let before = left.map(() => Infinity); left.some((n, table) => n < (before[table] ?? 0)); ) {
        before = left;
        for (let rounds = 0; rounds < 5; rounds++) {
          world.clock.advance(HOUR_MS);
          await world.work();
        }
        left = await rows();
      }
      return [
        ...wrong,
        ...FOR_MONEY.flatMap((table, index) =>
          (left[index] ?? 0) <= (rowsBefore[index] ?? 0)
            ? []
            : [`${table} has ${left[index]} rows, not ${rowsBefore[index]}`],
        ),
      ];
    },
    close: () => scene.close(),
  };
};

export const openPartnerSurface: OpenSurface = async (mutator, seed) => {
  const stack = await openStack();
  const operatorKey = readFileSync(join(stack.home, 'keys', 'operator.key'), 'utf8').trim();
  const get = { method: 'GET' };
  const document = (await stack.call<ServedDocument>('/partner/openapi.json', undefined, get)).body;
  const all = operationsOf(document);
  const names = { $order: (await stack.order()).id, $terms: 'https://farelock.example/terms/2026-11-01' };
  const { key, token } = stack;
  const ofCustomers = (one: Operation) => !one.operator && one.body !== null;
  const given = { document, names, key, token };
  const procedures = asksOf({ ...given, operations: all.filter(ofCustomers) });
  const desk = requestsOf(
    all.filter((one) => !ofCustomers(one)),
    document.components.schemas,
  );
  const corpus = [
    ...fc.sample(procedures, { seed, numRuns: CORPUS }),
    ...fc
      .sample(desk, { seed, numRuns: CORPUS / 3 })
      .map((ask) => ({
        ...ask,
        headers: Object.fromEntries(
          Object.entries(ask.headers).map(([name, text]) => [name, text.replace('$key', operatorKey)]),
        ),
      })),
  ];
  const wrongWith = conformance(document);
  const secrets = [key, token, operatorKey];
  const check: Check = (ask, answer) => {
    const told = JSON.stringify(answer.body);
    if (secrets.some((secret) => told.includes(secret))) return `tells a secret: ${told}`;
    const method = ask.method === 'HEAD' ? 'GET' : ask.method;
    const operation = all.find((one) => one.path === ask.operation.path && one.method === method);
    return operation && ask.method !== 'HEAD' ? wrongWith(operation, answer) : null;
  };
  const send: Sent = async ({ method, path, headers, body }) => {
    const response = await stack.service.fetch(
      new Request(`http://service.test${path}`, { method, headers, ...(body === null ? {} : { body }) }),
    );
    const text = await response.text();
    const { status } = response;
    return { status, body: text === '' ? null : (JSON.parse(text) as unknown), headers: response.headers };
  };
  return { bad: bad(mutator, corpus, send, check), atRest: async () => [], close: () => stack.close() };
};
