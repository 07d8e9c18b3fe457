import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Failure, openStack, type Stack } from '../partner/stack.ts';
import { isProof, rounds, seedOr } from '../rounds.ts';
import { type Operation, operationsOf, type ServedDocument } from './fuzz/document.ts';
import { asksOf, conformance } from './fuzz/partner-requests.ts';
import type { Ask } from './fuzz/requests.ts';

/**
 * Generated bodies against every operation of the partner service, from the description that it serves: whatever is
 * sent, the answer is a documented one, nothing fails inside, and a refused field is named. `npm run fuzz` runs longer.
 */

const RUNS = rounds(160, 5_000);
const SEED = seedOr(20_261_121);

let stack: Stack;
let document: ServedDocument;
let operations: Operation[];
let names: Record<string, string>;
beforeAll(async () => {
  stack = await openStack();
  document = (await stack.call<ServedDocument>('/partner/openapi.json', undefined, { method: 'GET' })).body;
  operations = operationsOf(document).filter(({ operator, body }) => !operator && body !== null);
  names = { $order: (await stack.order()).id, $terms: 'https://farelock.example/terms/2026-11-01' };
});
afterAll(() => stack.close());

async function send(ask: Ask): Promise<Answer<unknown>> {
  const response = await stack.service.fetch(
    new Request(`http://service.test${ask.operation.path}`, { method: 'POST', headers: ask.headers, body: ask.body }),
  );
  return { status: response.status, body: (await response.json()) as unknown, headers: response.headers };
}

test('whatever is sent, the answer is a documented one, nothing fails inside, and a wrong field is named', async () => {
  const wrongWith = conformance(document);
  const seen = new Map<string, Set<number>>();
  await fc.assert(
    fc.asyncProperty(asksOf({ document, operations, names, key: stack.key, token: stack.token }), async (ask) => {
      const answer = await send(ask);
      const told = `${ask.operation.name} ${JSON.stringify(ask.headers)} ${String(ask.body).slice(0, 2000)}\n${JSON.stringify(answer.body).slice(0, 2000)}`;
      const wrong = wrongWith(ask.operation, answer);
      if (wrong !== null) throw new Error(`${wrong}\n${told}`);
      const { detail } = answer.body as Failure;
      if (answer.status === 400 && detail?.reason === 'invalid_request') {
        expect(detail.issues?.length, told).toBeGreaterThan(0);
        for (const { message } of detail.issues ?? []) expect(message, told).toMatch(/\w/);
      }
      const text = JSON.stringify(answer.body);
      for (const secret of [stack.key, stack.token]) expect(text.includes(secret), told).toBe(false);
      const statuses = seen.get(ask.operation.name) ?? new Set();
      seen.set(ask.operation.name, statuses.add(answer.status));
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  );
  for (const { name } of operations) expect([...(seen.get(name) ?? [])], name).toContain(200);
  if (isProof)
    process.stdout.write(
      `${[...seen].map(([name, statuses]) => `${name} ${[...statuses].sort().join(' ')}`).join('\n')}\n`,
    );
}, 1_800_000);

test('after all of it, every order is where its history says', async () => {
  interface Seen {
    readonly order: { readonly id: string; readonly version: number; readonly status: string };
    readonly history: readonly { readonly version: number; readonly toStatus: string }[];
  }
  const { body } = await stack.partner<{ orders: { id: string }[] }>('GetOrders', { pageSize: 200 });
  expect(body.orders.length).toBeGreaterThan(0);
  for (const { id } of body.orders.filter((one) => !one.id.startsWith('rmp_demo'))) {
    const seen = (await stack.partner<Seen>('GetOrderDetails', { orderId: id, includeHistory: true })).body;
    expect(seen.history.map(({ version }) => version)).toEqual(seen.history.map((_, index) => index + 1));
    expect([seen.history.at(-1)?.version, seen.history.at(-1)?.toStatus]).toEqual([
      seen.order.version,
      seen.order.status,
    ]);
  }
});
