import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDuffelProvider, type DuffelOptions } from '../../src/airlines/duffel/index.ts';
import type { Provider } from '../../src/airlines/provider.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createSandboxProvider } from '../../src/sandbox/airline/index.ts';
import { airlineMigrations } from '../../src/sandbox/airline/orders.ts';
import { openStore } from '../../src/service/home.ts';
import { openDatabase } from '../../src/store/open.ts';
import { handClock } from '../sandbox/duffel/clock.ts';
import { serveDuffel } from '../sandbox/duffel/served.ts';
import { type Contracted, providerContract } from './contract.ts';

/** The contract over every airline that there is: the sandbox, Duffel's double, and Duffel itself where there is a token. */

const DATE = '2027-01-20';
const home = () => mkdtempSync(join(tmpdir(), 'farelock-contract-'));

providerContract('the sandbox airline', async () => {
  const folder = home();
  const orders = join(folder, 'airline.db');
  const clock = handClock();
  const open = () => createSandboxProvider({ seed: 'test', clock, ticketingMs: 0, orders });
  const opened: ReturnType<typeof open>[] = [open()];
  const another = (): Provider => {
    const one = open();
    opened.push(one);
    return one;
  };
  const books = async (reference?: string): Promise<number> => {
    const database = await openDatabase<{ orders: { reference: string } }>(orders, airlineMigrations);
    const rows = await database.selectFrom('orders').select('reference').execute();
    await database.destroy();
    return rows.filter((row) => reference === undefined || row.reference === reference).length;
  };
  return {
    provider: opened[0] ?? open(),
    another,
    route: ['VIE', 'LIS'],
    date: DATE,
    isBookable: () => true,
    later: async (ms) => clock.forward(ms),
    books: { orders: books, all: () => books() },
    refusing: ['LTN', 'LHR'],
    repricing: ['LHR', 'LGW'],
    losing: { route: ['STN', 'LHR'], begin: async () => undefined },
    lines: () => [],
    async close() {
      for (const one of opened) await one.close();
      rmSync(folder, { recursive: true, force: true });
    },
  } satisfies Contracted;
});

async function duffelOn(given: Pick<DuffelOptions, 'url' | 'token' | 'clock'>) {
  const folder = home();
  const store = await openStore(join(folder, 'service.db'));
  const lines: string[] = [];
  const options: DuffelOptions = {
    ...given,
    store,
    log: (level, event, fields) => void lines.push(JSON.stringify({ level, event, ...fields })),
  };
  return {
    provider: createDuffelProvider(options),
    another: () => createDuffelProvider(options),
    date: DATE,
    isBookable: ({ owner_name }) => owner_name === 'Duffel Airways',
    refusing: ['LGW', 'STN'],
    repricing: ['LHR', 'STN'],
    unknowing: { route: ['LHR', 'LGW'], begin: async () => undefined },
    lines: () => lines,
    async close() {
      await store.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  } satisfies Partial<Contracted>;
}

providerContract("Duffel's double, over HTTP", async () => {
  const clock = handClock();
  const double = await serveDuffel({ clock });
  const duffel = await duffelOn({ url: double.url, token: 'duffel_test_contract', clock });
  const books = async (reference?: string): Promise<number> =>
    (await double.admin('/orders')).orders.filter((order) => reference === undefined || order.reference === reference)
      .length;
  return {
    ...duffel,
    route: ['VIE', 'LIS'],
    later: async (ms) => clock.forward(ms),
    books: { orders: books, all: () => books() },
    losing: { route: ['VIE', 'LIS'], begin: () => double.admin('/behaviours', { order: ['cut_late'] }) },
    quoteless: () => double.admin('/behaviours', { cancellation: ['amount_unknown'] }),
    async close() {
      await duffel.close();
      await double.close();
    },
  } satisfies Contracted;
});

const TOKEN = process.env.FARELOCK_DUFFEL_TOKEN ?? '';
// Its orders are play money: a live token is refused before anything is asked.
if (TOKEN.startsWith('duffel_test_')) {
  providerContract('Duffel itself, in test mode', async () => {
    const duffel = await duffelOn({
      url: process.env.FARELOCK_DUFFEL_URL ?? 'https://api.duffel.com',
      token: TOKEN,
      clock: systemClock,
    });
    return {
      ...duffel,
      route: ['LHR', 'JFK'],
      date: new Date(Date.now() + (60 + (randomBytes(1)[0] ?? 0) / 4) * 86_400_000).toISOString().slice(0, 10),
      later: async () => undefined,
    } satisfies Contracted;
  });
} else {
  const { test } = await import('vitest');
  test.skip('Duffel itself keeps the contract: FARELOCK_DUFFEL_TOKEN holds no test token', () => undefined);
}
