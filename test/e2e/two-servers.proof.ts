import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { worldClock } from '../clock.ts';
import { callerOf, type OrderAnswer, pathOf, type SeenOrder } from '../partner/stack.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { farelockIn, serveIn } from './farelock.ts';

/** Two processes of `farelock serve` over one database: no update is lost, none is applied twice. */

const EACH = 100;
const ORDER = 'rmp_demo_waiting';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface History {
  readonly order: SeenOrder;
  readonly history: readonly { readonly version: number }[];
}

const FOUNDATIONS = [
  ['the files of one home', true, async (): Promise<Record<string, string>> => ({})],
  [
    'one PostgreSQL database',
    postgresKeepsTime,
    async () => {
      const database = await startPostgres({ nowMs: worldClock.now() });
      closing.push(database.close);
      return { FARELOCK_DATABASE_URL: database.url };
    },
  ],
] as const;

test.each(FOUNDATIONS.filter(([, isThere]) => isThere))(
  'two clients write one order through two processes on %s',
  async (_said, _isThere, foundation) => {
    const home = farelockIn(await foundation());
    closing.push(home.close);
    // The first command makes the demo's partner, its key and its orders.
    const made = await home.run(['partner', 'orders', 'show', ORDER, '--json']);
    expect(made.exitCode, made.stdout + made.stderr).toBe(0);
    const start = made.json<{ version: number }>().version;
    const key = readFileSync(join(home.home, 'keys', 'partner-par_sandbox_bank.key'), 'utf8').trim();
    const callers = await Promise.all(
      [1, 2].map(async () => {
        const served = await serveIn(home);
        closing.push(served.stop);
        return callerOf((request) => fetch(request), served.flightsUrl);
      }),
    );
    /** By the version that was answered. */
    const written = new Map<number, string>();
    let refused = 0;
    /** Writes what nobody else writes; what was taken is sent once more, to the other process, as after a lost answer. */
    const client = async (name: number) => {
      const [call, other] = name === 0 ? callers : callers.toReversed();
      if (!call || !other) throw new Error('two processes');
      for (let number = 1; number <= EACH; ) {
        const seen = await call<OrderAnswer>(pathOf('partner', 'GetOrderDetails'), { orderId: ORDER }, { key });
        const { version } = seen.body.order;
        const amount = `${name + 1}.${String(number).padStart(6, '0')}`;
        const update = [
          pathOf('partner', 'UpdateOrder'),
          { orderId: ORDER, toAmount: amount },
          { key, headers: { 'if-match': `"${version}"`, 'idempotency-key': `${name}-${number}-${version}` } },
        ] as const;
        const answer = await call<OrderAnswer>(...update);
        if (answer.status === 200) {
          expect(answer.body.order).toMatchObject({ version: version + 1, destinationAmount: amount });
          expect((await other<OrderAnswer>(...update)).body).toEqual(answer.body);
          written.set(answer.body.order.version, amount);
          number++;
        } else {
          expect([answer.status, answer.body.code]).toEqual([409, 'aborted']);
          refused++;
        }
      }
    };
    await Promise.all([client(0), client(1)]);
    expect(new Set(written.values()).size).toBe(2 * EACH);
    const [call] = callers;
    const shown = await call?.<History>(
      pathOf('partner', 'GetOrderDetails'),
      { orderId: ORDER, includeHistory: true },
      { key },
    );
    expect(shown?.body.order.version).toBe(start + 2 * EACH);
    expect(shown?.body.history.map(({ version }) => version)).toEqual(
      Array.from({ length: start + 2 * EACH }, (_, index) => index + 1),
    );
    expect(shown?.body.order.destinationAmount).toBe(written.get(start + 2 * EACH));
    // Without a write that came too late nothing was seen of two at once.
    expect(refused).toBeGreaterThan(0);
  },
  120_000,
);
