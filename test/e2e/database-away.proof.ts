import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { worldClock } from '../clock.ts';
import { callerOf, pathOf } from '../partner/stack.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { farelockIn, serveIn } from './farelock.ts';

test.runIf(postgresKeepsTime)(
  'while PostgreSQL is away both services say that they are not ready, and when to ask again',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    const home = farelockIn({ FARELOCK_DATABASE_URL: database.url });
    const served = await serveIn(home);
    try {
      expect((await fetch(`${served.flightsUrl}/air/intents/int_none`)).status).toBe(404);
      await database.close();
      const intent = await fetch(`${served.flightsUrl}/air/intents/int_none`);
      expect([intent.status, intent.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await intent.json()).toMatchObject({ code: 'not_ready' });
      const call = callerOf((request) => fetch(request), served.flightsUrl);
      const orders = await call(pathOf('partner', 'GetOrders'), {}, { key: 'flk_demo_x' });
      expect(orders).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(await served.stop()).toBe(0);
    } finally {
      home.close();
    }
  },
);

test.runIf(postgresKeepsTime)(
  'a machine whose clock goes wrong while it runs says so, and pages an operator',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    const home = farelockIn({ FARELOCK_DATABASE_URL: database.url, TEST_CLOCK_JUMPS: '8000:90000' });
    try {
      const served = await serveIn(home);
      await expect.poll(() => served.log(), { timeout: 40_000 }).toContain('clock_differs');
      const outbox = join(home.home, 'outbox');
      const pages = () =>
        (existsSync(outbox) ? readdirSync(outbox) : [])
          .map((name) => readFileSync(join(outbox, name), 'utf8'))
          .filter((text) => text.includes('clock_differs'));
      await expect.poll(pages, { timeout: 20_000 }).toHaveLength(1);
      expect(await served.stop()).toBe(0);
    } finally {
      home.close();
      await database.close();
    }
  },
  60_000,
);
