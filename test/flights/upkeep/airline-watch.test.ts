import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDuffelProvider } from '../../../src/airlines/duffel/index.ts';
import { type ServedDuffel, serveDuffel } from '../../sandbox/duffel/served.ts';
import { openWorld, type World } from '../world.ts';

/** A service whose airline takes its token, or does not. */

let world: World;
let duffel: ServedDuffel;
beforeAll(async () => {
  world = await openWorld({ airline: 'none' });
  duffel = await serveDuffel({ clock: world.clock, seed: 'token', stepMs: 2_000, slowMs: 50 });
});
afterAll(async () => {
  await duffel.close();
  await world.close();
});

const serviceWith = (token: string, url = duffel.url) =>
  world.service((ports) => ({
    ...ports,
    provider: createDuffelProvider({ ...ports, url, token, log: () => undefined }),
  }));
const pages = async () =>
  (await world.store.selectFrom('outbox').select('dedup_key').execute()).filter(({ dedup_key }) =>
    dedup_key.includes('airline_refuses'),
  );

test('a token that the airline refuses: not ready, and an operator is paged once', async () => {
  const wrong = serviceWith('duffel_live_wrong');
  const ready = await wrong.call('/ready');
  expect(ready.status).toBe(503);
  expect(ready.body).toMatchObject({
    airline: { provider: 'duffel', trouble: 'it does not take the token (access_token_not_found)' },
  });
  await wrong.worker.runDue();
  await wrong.worker.runDue();
  expect(await pages()).toHaveLength(1);
});

test('one that it takes, and an airline that says nothing about it: ready', async () => {
  const right = serviceWith('duffel_test_right');
  expect((await right.call('/ready')).status).toBe(200);
  await right.worker.runDue();
  const silent = serviceWith('duffel_test_right', 'http://127.0.0.1:1');
  expect((await silent.call('/ready')).status).toBe(200);
  expect(await pages()).toHaveLength(1);
});
