import { Agent, request as httpRequest } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { farelockIn, type Runner, serveIn } from './farelock.ts';

/** SIGTERM as a rolling deployment sends it: nobody who asked is cut off. */

let home: Runner | undefined;
afterEach(() => home?.close());

interface Answer {
  readonly status: number;
  readonly connection: string | undefined;
}

/** A request whose body is written up to its last byte, and what sends that. */
function begin(url: string, path: string, body: string, agent: Agent) {
  let finish: () => void = () => undefined;
  let written: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    written = resolve;
  });
  const answer = new Promise<Answer>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const outgoing = httpRequest(`${url}${path}`, { method: 'POST', agent, headers }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, connection: incoming.headers.connection }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.write(body.slice(0, -1), () => written());
    finish = () => void outgoing.end(body.slice(-1));
  });
  return { begun, answer, finish: () => finish() };
}

/** Refused, and only after it was read and looked at. */
const SEARCH = JSON.stringify({ origin_iata: 'LIS', destination_iata: 'LIS', depart_date: '2030-12-20' });

test('whoever is in flight at SIGTERM is answered, for the last time on its connection, and the exit is 0', async () => {
  home = farelockIn();
  const served = await serveIn(home);
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const ask = (count: number) =>
    Array.from({ length: count }, () => begin(served.flightsUrl, '/air/search', SEARCH, agent));
  const all = async (asked: ReturnType<typeof ask>) => {
    for (const { finish } of asked) finish();
    return Promise.all(asked.map(({ answer }) => answer));
  };
  // The connections are there, and kept.
  const first = await all(ask(120));
  expect(new Set(first.map(({ connection }) => connection))).toEqual(new Set(['keep-alive']));
  // Half of a body has come from some; from others all of it, and the service has had no time to read it.
  const [half, whole] = [ask(36), ask(60)];
  await Promise.all(half.map(({ begun }) => begun));
  const flying = all(whole);
  const stopped = served.stop();
  expect((await flying).map(({ status }) => status)).toEqual(whole.map(() => 400));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await all(half)).toEqual(half.map(() => ({ status: 400, connection: 'close' })));
  expect(await stopped).toBe(0);
  agent.destroy();
});

test('a balancer that asks /ready hears 503 after SIGTERM before its connections are refused', async () => {
  home = farelockIn();
  const served = await serveIn(home);
  const ready = async () => {
    const answer = await fetch(`${served.flightsUrl}/ready`);
    return { status: answer.status, body: await answer.json() };
  };
  await expect.poll(async () => (await ready()).status, { timeout: 20_000 }).toBe(200);
  const stopped = served.stop();
  let last = await ready();
  // Each time by a connection of its own: the last answer of one closes it.
  while (last.status === 200) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    last = await ready();
  }
  expect(last).toMatchObject({ status: 503, body: { status: 'not_ready', checks: { database: 'ok' } } });
  expect(await stopped).toBe(0);
});
