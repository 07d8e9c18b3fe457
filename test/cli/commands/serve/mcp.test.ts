import { expect, test } from 'vitest';
import { watchLoad } from '../../../../src/cli/commands/serve/load.ts';
import { sellToAgents } from '../../../../src/cli/commands/serve/mcp.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../../src/kernel/http.ts';
import { openWorld, type World } from '../../../flights/world.ts';

/** `/mcp` while there is too much to do, and before a service that cannot describe itself now. */

const calling = (more: object = {}): HttpRequest => ({
  method: 'POST',
  url: 'http://shop.test/mcp',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'status', arguments: { intent_id: 'int_1' }, ...more },
  }),
});
const askOf =
  (world: World) =>
  async ({ url, method, headers }: HttpRequest) => {
    const { status, body } = await world.call(new URL(url).pathname, undefined, { method, headers });
    return json(body, status);
  };
const documentOf = ({ body }: HttpResponse) =>
  (JSON.parse(/^data: (.*)$/m.exec(body ?? '')?.[1] ?? '{}') as { result: { structuredContent: object } }).result
    .structuredContent;

test('while there is too much to do an unpaid call is asked to come again, and a paid one is answered', async () => {
  const world = await openWorld({ airline: 'scripted' });
  const load = watchLoad({ most: 1, inFlight: () => 2, delayMs: () => 0, shed: () => undefined });
  const agents = sellToAgents(load.refusal);
  const unpaid = await agents(calling(), askOf(world), 'http://shop.test');
  expect([unpaid.status, unpaid.headers['retry-after']]).toEqual([503, expect.any(String)]);
  const paid = await agents(calling({ _meta: { 'x402/payment': {} } }), askOf(world), 'http://shop.test');
  expect([paid.status, documentOf(paid)]).toEqual([
    200,
    { error: expect.objectContaining({ code: 'intent_not_found' }) },
  ]);
  await world.close();
});

test('a service that cannot describe itself says when to come again, and is asked again then', async () => {
  const world = await openWorld({ airline: 'scripted' });
  const agents = sellToAgents(() => null);
  const away = async () => json({ code: 'not_ready', message: 'Try again.' }, 503, { 'Retry-After': '7' });
  const first = await agents(calling(), away, 'http://shop.test');
  expect(documentOf(first)).toEqual({ error: { code: 'not_ready', message: 'Try again.', retry_after: 7 } });
  const then = await agents(calling(), askOf(world), 'http://shop.test');
  expect(documentOf(then)).toMatchObject({ error: { code: 'intent_not_found' } });
  await world.close();
});
