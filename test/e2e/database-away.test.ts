import { readdirSync, readFileSync } from 'node:fs';
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
  'a machine whose clock is not that of the database says so, and pages an operator once',
  async () => {
    const database = await startPostgres({ nowMs: worldClock.now() });
    // The clock of the tests' world, and the machine's: days apart.
    const home = farelockIn({ FARELOCK_DATABASE_URL: database.url });
    try {
      for (let starts = 0; starts < 2; starts++) {
        const served = await serveIn(home);
        if (starts === 0) await expect.poll(() => served.log(), { timeout: 20_000 }).toContain('clock_differs');
        expect(await served.stop()).toBe(0);
      }
      const pages = readdirSync(join(home.home, 'outbox'))
        .map((name) => readFileSync(join(home.home, 'outbox', name), 'utf8'))
        .filter((text) => text.includes('clock_differs'));
      expect(pages).toHaveLength(1);
    } finally {
      home.close();
      await database.close();
    }
  },
  60_000,
);
