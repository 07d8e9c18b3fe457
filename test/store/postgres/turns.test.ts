import { setTimeout as passed } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore, type ServiceTables, type Store } from '../../../src/service/home.ts';
import { inTurn } from '../../../src/store/base/index.ts';
import { newDatabases, postgresIsInstalled } from '../postgres.ts';

/** Two processes on one server: who waits for whom. */

let databases: Awaited<ReturnType<typeof newDatabases>>;
let [one, other]: Store[] = [];
beforeAll(async () => {
  if (postgresIsInstalled) databases = await newDatabases();
});
beforeEach(async () => {
  if (!postgresIsInstalled) return;
  const url = await databases.next();
  [one, other] = await Promise.all([openStore(url), openStore(url)]);
  return async () => {
    await Promise.all([one?.destroy(), other?.destroy()]);
  };
});

type Tx = Transaction<ServiceTables>;
const both = (): [Store, Store] => {
  if (!one || !other) throw new Error('not opened');
  return [one, other];
};

/** A transaction that stays open until it is let go. */
function held(begin: (work: (tx: Tx) => Promise<void>) => Promise<void>) {
  const gate = withResolvers();
  const begun = withResolvers();
  const ended = begin(async () => {
    begun.resolve();
    await gate.promise;
  });
  return {
    begun: begun.promise,
    end(): Promise<void> {
      gate.resolve();
      return ended;
    },
  };
}

function withResolvers() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** True where it waits: it has not ended after what any statement here takes. */
const waits = async (work: Promise<unknown>): Promise<boolean> =>
  Promise.race([work.then(() => false), passed(400).then(() => true)]);

const ALONE = null;
const begun = (
  store: Store,
  turns: readonly string[] | null,
  work: (tx: Tx) => Promise<void> = async () => undefined,
) => (turns === ALONE ? store.transaction().execute(work) : inTurn(store, turns, work));

test.runIf(postgresIsInstalled).each([
  { first: ['intent:a'], second: ['intent:b'], isWaited: false },
  { first: ['intent:a'], second: [], isWaited: false },
  { first: ['intent:a', 'payer:x'], second: ['payer:x', 'intent:b'], isWaited: true },
  { first: ['intent:a'], second: ['intent:a'], isWaited: true },
  { first: ['intent:a'], second: ALONE, isWaited: true },
  { first: ALONE, second: ['intent:a'], isWaited: true },
])('a transaction of $second waits for one of $first: $isWaited', async ({ first, second, isWaited }) => {
  const [a, b] = both();
  const holder = held((work) => begun(a, first, work));
  await holder.begun;
  const next = begun(b, second);
  expect(await waits(next)).toBe(isWaited);
  await holder.end();
  await next;
});

test.runIf(postgresIsInstalled)('of two that wait for rows of each other, both are carried out', async () => {
  const [a, b] = both();
  for (const key of ['x', 'y']) await a.insertInto('meta').values({ key, value: '0' }).execute();
  const add = (tx: Tx, key: string) =>
    sql`update meta set value = (value::int + 1)::text where key = ${key}`.execute(tx);
  const crossed = (store: Store, keys: readonly [string, string], turn: string) =>
    inTurn(store, [turn], async (tx) => {
      await add(tx, keys[0]);
      await passed(100);
      await add(tx, keys[1]);
    });
  await Promise.all([crossed(a, ['x', 'y'], 'intent:a'), crossed(b, ['y', 'x'], 'intent:b')]);
  const rows = await a
    .selectFrom('meta')
    .select(['key', 'value'])
    .where('key', 'in', ['x', 'y'])
    .orderBy('key')
    .execute();
  expect(rows).toEqual([
    { key: 'x', value: '2' },
    { key: 'y', value: '2' },
  ]);
});
