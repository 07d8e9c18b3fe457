import type { Selectable, Transaction } from 'kysely';
import { DAY_MS, instant, MINUTE_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { ClientTables, StorePorts, WatchLookTable, WatchNoticeTable } from './store-schema.ts';

/** The terms that a person agreed to. Amounts are atomic USDC. */
export interface WatchTerms {
  /** The body of POST /air/search, or of POST /air/offer-details. */
  readonly request: Readonly<Record<string, unknown>>;
  /** `LIS → BER, 20 Dec 2026` */
  readonly title: string;
  /** A price below this is a fall. */
  readonly below: number;
  readonly everyMs: number;
  readonly perLook: number;
  readonly perDay: number;
  readonly untilMs: number;
  /** `page`, `mail:<address>`, `command:<program>` */
  readonly notify: readonly string[];
}

/** `fell`: the last known price was below. `ended`: stopped, out of time, or without its offer. */
export type WatchState = 'running' | 'fell' | 'ended';

export interface Watch extends WatchTerms {
  readonly watchId: string;
  readonly baseUrl: string;
  readonly state: WatchState;
  readonly nextAtMs: number;
  readonly createdAt: string;
}

export type Look = Selectable<WatchLookTable>;
export type Notice = Omit<Selectable<WatchNoticeTable>, 'way_sealed'> & { readonly way: string };

/** The result of a look; `price` is null without an offer. */
export interface Found {
  readonly paid: number;
  readonly price: number | null;
  readonly offerId: string | null;
  readonly says: string;
}

export type Claim =
  | { readonly kind: 'look'; readonly number: number }
  | { readonly kind: 'wait'; readonly untilMs: number; readonly why: 'not_due' | 'busy' | 'budget' }
  | { readonly kind: 'over' };

/** For this long the payer returns a paid answer again (payer.ts), so a look that was cut off is repeated. */
const AGAIN_MS = 9 * MINUTE_MS;
/** No look takes longer; afterwards its process counts as dead. */
const LEASE_MS = 4 * MINUTE_MS;

export type Watches = ReturnType<typeof createWatches>;

/**
 * Watches and their looks. A look is written before it is paid, and keeps its most out of the budget until its cost is
 * known; of two processes only one makes it. A look that was cut off is repeated as the same call, which the payer pays
 * once.
 */
export function createWatches(ports: StorePorts) {
  const { db, secrets, clock, ids } = ports;
  const place = (watchId: string) => `watches.terms_sealed.${watchId}`;
  const watchFrom = (row: Selectable<ClientTables['watches']>): Watch => ({
    ...(JSON.parse(secrets.decrypt(place(row.watch_id), row.terms_sealed)) as WatchTerms),
    watchId: row.watch_id,
    baseUrl: row.base_url,
    state: row.state,
    nextAtMs: row.next_at_ms,
    createdAt: instant(row.created_at_ms),
  });
  const find = async (watchId: string) => {
    const row = await db.selectFrom('watches').selectAll().where('watch_id', '=', watchId).executeTakeFirst();
    if (!row) throw problem('not_found', { message: `There is no watch ${watchId}.` });
    return watchFrom(row);
  };

  return {
    find,
    async add(baseUrl: string, terms: WatchTerms): Promise<string> {
      const watch_id = ids.next('wch');
      const nowMs = clock.now();
      const terms_sealed = secrets.encrypt(place(watch_id), JSON.stringify(terms));
      const times = { next_at_ms: nowMs, created_at_ms: nowMs };
      await db
        .insertInto('watches')
        .values({ watch_id, base_url: baseUrl, terms_sealed, state: 'running', ...times })
        .execute();
      return watch_id;
    },
    /** Newest first. */
    async all(): Promise<Watch[]> {
      const rows = await db.selectFrom('watches').selectAll().orderBy('watch_id', 'desc').limit(100).execute();
      return rows.map(watchFrom);
    },
    /** Oldest first. */
    looks: (watchId: string): Promise<Look[]> =>
      db.selectFrom('watch_looks').selectAll().where('watch_id', '=', watchId).orderBy('number').execute(),
    end: async (watchId: string): Promise<void> =>
      void (await db.updateTable('watches').set({ state: 'ended' }).where('watch_id', '=', watchId).execute()),

    claim: (watch: Watch) => claim(ports, watch),
    /** Gives back a look that was cut off, so that it is repeated; it is not paid twice. */
    release: async (watchId: string, number: number, againAtMs = 0): Promise<void> =>
      void (await look(db, watchId, number)
        .set({ lease_until_ms: againAtMs })
        .where('state', '=', 'begun')
        .where('holder', '=', process.pid)
        .execute()),

    /** Records a look without an answer. `paid` is null if it may have cost its most. */
    failed: async (watchId: string, number: number, says: string, paid: 0 | null): Promise<void> =>
      void (await look(db, watchId, number).set({ state: 'failed', says, paid }).execute()),

    done: (watch: Watch, number: number, found: Found) => done(ports, watch, number, found),
    ...noticesOf(ports),
  };
}

type On = Transaction<ClientTables> | StorePorts['db'];

const look = (on: On, watchId: string, number: number) =>
  on.updateTable('watch_looks').where('watch_id', '=', watchId).where('number', '=', number);

const notice = (on: On, watchId: string, number: number, at: number) =>
  on.updateTable('watch_notices').where('watch_id', '=', watchId).where('number', '=', number).where('at', '=', at);

const wayPlace = (watchId: string, number: number, at: number) => `watch_notices.way_sealed.${watchId}.${number}.${at}`;

/** Takes the next look, once it is due and the budget of 24 hours has room for it. */
async function claim({ db, clock }: StorePorts, { watchId, everyMs, perLook, perDay, untilMs }: Watch): Promise<Claim> {
  const nowMs = clock.now();
  return db.transaction().execute(async (tx): Promise<Claim> => {
    const watch = await tx
      .selectFrom('watches')
      .select(['state', 'next_at_ms'])
      .where('watch_id', '=', watchId)
      .executeTakeFirstOrThrow();
    const set = (change: { state?: WatchState; next_at_ms?: number }) =>
      tx.updateTable('watches').set(change).where('watch_id', '=', watchId).execute();
    const all = await tx.selectFrom('watch_looks').selectAll().where('watch_id', '=', watchId).execute();
    const last = all.toSorted((a, b) => a.number - b.number).at(-1);
    const mine = { lease_until_ms: nowMs + LEASE_MS, holder: process.pid };
    if (last?.state === 'begun') {
      const isHeld = last.lease_until_ms > nowMs && last.lease_until_ms <= nowMs + LEASE_MS && isAlive(last.holder);
      if (isHeld) return { kind: 'wait', untilMs: last.lease_until_ms, why: 'busy' };
      const isFresh = nowMs >= last.begun_at_ms && nowMs - last.begun_at_ms < AGAIN_MS;
      await look(tx, watchId, last.number)
        .set(isFresh ? mine : { state: 'lost' })
        .execute();
      if (isFresh) return { kind: 'look', number: last.number };
    }
    if (watch.state === 'ended' || nowMs >= untilMs) {
      await set({ state: 'ended' });
      return { kind: 'over' };
    }
    // If the clock was set back, a watch still waits at most one interval.
    const nextAtMs = Math.min(watch.next_at_ms, nowMs + everyMs);
    if (nextAtMs > nowMs) {
      if (nextAtMs !== watch.next_at_ms) await set({ next_at_ms: nextAtMs });
      return { kind: 'wait', untilMs: nextAtMs, why: 'not_due' };
    }
    // Looks dated in the future, before the clock was set back, count as well.
    const counted = all.filter(({ begun_at_ms: at }) => at > nowMs - DAY_MS);
    const spent = counted.reduce((sum, { paid, most }) => sum + (paid ?? most), 0);
    if (spent + perLook > perDay) {
      const oldestMs = Math.min(...counted.filter((one) => (one.paid ?? one.most) > 0).map((one) => one.begun_at_ms));
      const freeMs = Math.min(oldestMs + DAY_MS, nowMs + everyMs);
      await set({ next_at_ms: freeMs });
      return { kind: 'wait', untilMs: freeMs, why: 'budget' };
    }
    const number = (last?.number ?? 0) + 1;
    const nothing = { paid: null, price: null, offer_id: null, says: '' };
    await tx
      .insertInto('watch_looks')
      .values({ watch_id: watchId, number, begun_at_ms: nowMs, ...mine, state: 'begun', most: perLook, ...nothing })
      .execute();
    await set({ next_at_ms: nowMs + everyMs });
    return { kind: 'look', number };
  });
}

/**
 * Records what a look found. A price below the threshold is a fall, unless the price before was below too; its notices
 * are written in the same transaction.
 */
const done = (
  { db, secrets }: StorePorts,
  { watchId, below, notify }: Watch,
  number: number,
  found: Found,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const { paid, price, offerId, says } = found;
    const isBelow = price !== null && price < below;
    const { state } = await tx
      .selectFrom('watches')
      .select('state')
      .where('watch_id', '=', watchId)
      .executeTakeFirstOrThrow();
    const fell = isBelow && state !== 'fell';
    const noted = await look(tx, watchId, number)
      .set({ state: 'done', paid, price, offer_id: offerId, says })
      .where('state', '=', 'begun')
      .executeTakeFirst();
    if (noted.numUpdatedRows === 0n) return;
    for (const [at, way] of (fell ? notify : []).entries()) {
      const way_sealed = secrets.encrypt(wayPlace(watchId, number, at), way);
      const written = { watch_id: watchId, number, at, way_sealed, state: 'due' as const, tries: 0, holder: 0 };
      await tx.insertInto('watch_notices').values(written).execute();
    }
    // Without an offer the price is unknown, so a fall stays one.
    const next = isBelow ? 'fell' : price === null && state === 'fell' ? 'fell' : 'running';
    if (state !== 'ended')
      await tx.updateTable('watches').set({ state: next }).where('watch_id', '=', watchId).execute();
  });

const noticesOf = ({ db, secrets }: StorePorts) => ({
  /** Oldest first. */
  async notices(watchId: string): Promise<Notice[]> {
    const rows = await db
      .selectFrom('watch_notices')
      .selectAll()
      .where('watch_id', '=', watchId)
      .orderBy('number')
      .orderBy('at')
      .execute();
    return rows.map(({ way_sealed, ...row }) => ({
      ...row,
      way: secrets.decrypt(wayPlace(watchId, row.number, row.at), way_sealed),
    }));
  },
  /**
   * Takes a notice, so that one process sends it. If that process died, it is taken again under the same id, unless it
   * starts a program.
   * @returns the number of tries, this one included; null if it must not be sent
   */
  takeNotice: ({ watch_id, number, at, way }: Notice): Promise<number | null> =>
    db.transaction().execute(async (tx) => {
      const one = () =>
        tx
          .selectFrom('watch_notices')
          .selectAll()
          .where('watch_id', '=', watch_id)
          .where('number', '=', number)
          .where('at', '=', at)
          .executeTakeFirstOrThrow();
      const { state, tries, holder } = await one();
      const isCutOff = state === 'taken' && !way.startsWith('command:') && !isAlive(holder);
      if (state !== 'due' && !isCutOff) return null;
      await notice(tx, watch_id, number, at)
        .set({ state: 'taken', tries: tries + 1, holder: process.pid })
        .execute();
      return tries + 1;
    }),
  noticed: async ({ watch_id, number, at }: Notice, state: 'due' | 'sent' | 'failed'): Promise<void> =>
    void (await notice(db, watch_id, number, at).set({ state }).execute()),
});

function isAlive(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
