import { hostname } from 'node:os';
import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { inTurn } from '../../store/base/index.ts';
import { dueOf, earliest, isDueAt, MOST_AHEAD_MS, queueDue, serverAheadMs } from '../../store/index.ts';
import { type FlightsPorts, type IntentRow, pageWhile, unlessSilent } from '../base/index.ts';
import {
  BOOKINGS,
  createStepRunner,
  type Escrows,
  type Funds,
  finishCreation,
  pageProgram,
  retire,
} from '../bookings/index.ts';
import { createAffiliateCredit, loadRefundPayouts, REFUNDS } from '../refunds/index.ts';
import { taskDue } from './tasks.ts';

/** How long a creation is left to its own request before the worker asks about its payment. */
const CREATION_GRACE_MS = 15_000;
const MOST_STEPS = 200;
const MOST_INTENTS = 20;

/** Steps taken, and when the next one is due (epoch ms; null when nothing is under way). */
export interface WorkerRun {
  readonly worked: number;
  readonly nextDueAtMs: number | null;
}

/** The booking worker (DESIGN, section 6): takes every due step, beside other workers. Idle rounds read little. */
export function createWorker(ports: FlightsPorts, escrows: Escrows, funds: Funds) {
  const runner = createStepRunner(ports, escrows);
  const upkeep = createUpkeep(ports, escrows);
  const affiliates = createAffiliateCredit(ports);
  const watchClock = createClockWatch(ports);
  const seldom = createSeldom(ports.clock);
  const changesSchedules = ports.provider?.changesSchedules === true;
  const isDue = (dueAtMs: number | null) => isDueAt(dueAtMs, ports.clock);

  /** Asks for all kinds of work in one query. */
  const look = () =>
    dueOf(ports.store, {
      payments: ports.paywall.leftAtMs?.() ?? sql<number>`0`,
      effects: ports.effects.leftAtMs(),
      intents: untidySinceMs(ports),
      bookings: queueDue(ports, BOOKINGS),
      ...affiliates.due(),
      // Refund requests left open by a crash, and pay-outs of approved ones.
      refunds: queueDue(ports, REFUNDS),
      ...ports.outbox.due(),
      orders: changesSchedules ? taskDue(ports, 'order_watch') : sql<null>`null`,
    });

  /** Not awaited: a receiver that is down must not delay bookings. */
  const startOutbox = (due: Awaited<ReturnType<typeof look>>) =>
    ports.outbox.start(new Set((['page', 'email'] as const).filter((kind) => isDue(due[kind]))));

  /** A restored database may not be marked, so a long-running process asks the chain before its first work. */
  let hasLooked = !ports.options.sweepsAtStart;
  async function isHeld(): Promise<boolean> {
    if (!hasLooked) hasLooked = (await (await import('./restored.ts')).lookForRestored(ports)) !== 'unknown';
    return !hasLooked || (await ports.isBehind());
  }

  return {
    /** Returns true while work has to wait for a restored database. The first call asks the chain. */
    isHeld,

    async runDue(): Promise<WorkerRun> {
      const due = await look();
      startOutbox(due);
      if (await isHeld()) return { worked: 0, nextDueAtMs: null };
      if (isDue(due.payments)) await ports.paywall.recover?.();
      if (isDue(due.effects)) await ports.effects.recover();
      let worked = isDue(due.intents) ? await tidyIntents(ports) : 0;
      const hasBookings = worked > 0 || isDue(due.bookings);
      if (hasBookings) worked += await runner.workOff(MOST_STEPS - worked);
      if (isDue(due.credit) || isDue(due.payouts)) worked += await affiliates.runDue();
      await funds.watch();
      await watchProgram(ports, seldom);
      await watchClock();
      await watchAirline(ports, seldom);
      if (isDue(due.refunds)) worked += await workOffRefunds(ports);
      await ports.lowcost?.endCards?.();
      await upkeep();
      if (isDue(due.orders)) worked += await (await import('./order-watch.ts')).watchOrders(ports);
      const next = worked > 0 || hasBookings || isDue(due.refunds) ? await look() : due;
      if (next !== due) startOutbox(next);
      return { worked, nextDueAtMs: earliest([next.bookings, next.refunds]) };
    },
  };
}

async function workOffRefunds(ports: FlightsPorts): Promise<number> {
  const { createRefundPayouts } = await loadRefundPayouts();
  return (await createRefundPayouts(ports).runDue()).worked;
}

/** Intents that block their pair: expired, left behind by their creation's request, or dated in the future. */
function untidy({ store }: FlightsPorts, nowMs: number, most: number) {
  const blocking = store.selectFrom('intents').where('active_key', 'is not', null).limit(most);
  const opening = blocking.where('opened_at_ms', 'is', null).where('expires_at_ms', '>', nowMs);
  return [
    blocking.where('expires_at_ms', '<=', nowMs).orderBy('expires_at_ms'),
    opening.where('created_at_ms', '<=', nowMs - CREATION_GRACE_MS),
    opening.where('created_at_ms', '>', nowMs + CREATION_GRACE_MS),
  ];
}

const untidySinceMs = (ports: FlightsPorts): RawBuilder<number | null> => {
  const nowMs = ports.clock.now();
  const first = untidy(ports, nowMs, 1).map((rows) => rows.select(sql<number>`cast(${nowMs} as bigint)`.as('now')));
  return sql`coalesce(${sql.join(first)})`;
};

async function tidyIntents(ports: FlightsPorts): Promise<number> {
  const { store, clock } = ports;
  const nowMs = clock.now();
  const rows: IntentRow[] = [];
  for (const some of untidy(ports, nowMs, MOST_INTENTS)) rows.push(...(await some.selectAll().execute()));
  for (const row of rows) {
    if (row.opened_at_ms === null) await finishCreation(ports, row);
    else await inTurn(store, [`intents:${row.intent_id}`], (tx) => retire(tx, row, 'intent_expired', nowMs));
  }
  return rows.length;
}

const LOOK_EVERY_MS = 60_000;

/** Pages while this machine's clock (quotes, retries) differs from the database's (leases). */
function createClockWatch(ports: FlightsPorts): () => Promise<void> {
  const { store, clock } = ports;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return;
    lookedAtMs = clock.now();
    const aheadMs = await serverAheadMs(store, clock);
    if (aheadMs === null) return;
    const machine = hostname();
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    const differs = `The clock of ${machine} is ${seconds} seconds ${aheadMs > 0 ? 'behind' : 'ahead of'} the database's. Set both by NTP.`;
    await pageWhile(ports, {
      key: `clock_differs:${machine}`,
      event: 'clock_differs',
      restored: 'clock_right_again',
      text: Math.abs(aheadMs) <= MOST_AHEAD_MS ? null : differs,
      fields: { machine, seconds },
    });
  };
}

type Seldom = (watch: string, isFine: boolean, look: () => Promise<void>) => Promise<void>;

/** Runs `look` while something is wrong; otherwise only the first time, and once a minute. */
function createSeldom(clock: Clock): Seldom {
  const fineAtMs = new Map<string, number>();
  return async (watch, isFine, look) => {
    const lastMs = fineAtMs.get(watch) ?? Number.NEGATIVE_INFINITY;
    if (isFine && Math.abs(clock.now() - lastMs) < LOOK_EVERY_MS) return;
    fineAtMs.delete(watch);
    await look();
    if (isFine) fineAtMs.set(watch, clock.now());
  };
}

async function watchProgram(ports: FlightsPorts, seldom: Seldom): Promise<void> {
  const { programTrouble, log } = ports;
  if (!programTrouble) return;
  const watch = async () => {
    const trouble = await programTrouble();
    await seldom('program', trouble === null, () => pageProgram(ports, trouble));
  };
  await unlessSilent(watch(), ({ code }) => log('warn', 'escrow_program_unread', { error_code: code }));
}

async function watchAirline(ports: FlightsPorts, seldom: Seldom): Promise<void> {
  const { provider } = ports;
  if (!provider?.trouble) return;
  const trouble = await provider.trouble();
  const look = () =>
    pageWhile(ports, {
      key: `airline_refuses:${provider.name}`,
      event: 'airline_refuses',
      restored: 'airline_answers_again',
      text: trouble && `${provider.name} refuses every call: ${trouble}. Nothing can be searched or ordered.`,
      fields: { provider: provider.name },
    });
  await seldom('airline', trouble === null, look);
}

const SWEEP_EVERY_MS = 10 * 60_000;
const DUE_AT = 'sweep_due_at_ms';

/** Sweeps every ten minutes across processes, and when a long-running one starts. Failures are only logged. */
export function createUpkeep(ports: FlightsPorts, escrows: Escrows): () => Promise<number> {
  const { store, clock, log } = ports;
  let dueAtMs = 0;
  /** When this process sweeps again early, if a sweep left work. A command that ends leaves that to others. */
  let goOn: { readonly atMs: number; readonly waitMs: number } | null = null;
  /** Forces the first sweep: a restored database may say that none is due yet. */
  let isStart = ports.options.sweepsAtStart;

  async function claim(nowMs: number): Promise<boolean> {
    const known = await store.selectFrom('meta').select('value').where('key', '=', DUE_AT).executeTakeFirst();
    const value = String(nowMs + SWEEP_EVERY_MS);
    const writtenMs = Number(known?.value ?? 0);
    // A time further ahead than any sweep sets was written before the clock was set back.
    dueAtMs = Math.min(writtenMs, nowMs + SWEEP_EVERY_MS);
    if (known && writtenMs > nowMs && writtenMs <= nowMs + SWEEP_EVERY_MS) return false;
    dueAtMs = nowMs + SWEEP_EVERY_MS;
    const claimed = await store
      .insertInto('meta')
      .values({ key: DUE_AT, value })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet({ value })
          .where('meta.value', '=', known?.value ?? ''),
      )
      .executeTakeFirst();
    return (claimed.numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  return async () => {
    const nowMs = clock.now();
    const goesOn = goOn !== null && (nowMs >= goOn.atMs || goOn.atMs > nowMs + goOn.waitMs);
    if (!goesOn) {
      if (!isStart && nowMs < dueAtMs && dueAtMs <= nowMs + SWEEP_EVERY_MS) return 0;
      if (!(await claim(nowMs)) && !isStart) return 0;
    }
    isStart = false;
    goOn = null;
    try {
      const { sweep } = await import('./sweeper.ts');
      const { worked, againMs } = await sweep(ports, escrows);
      if (againMs !== null) goOn = { atMs: clock.now() + againMs, waitMs: againMs };
      return worked;
    } catch (error) {
      log('error', 'sweep_broken', { error_name: error instanceof Error ? error.name : 'unknown' });
      return 0;
    }
  };
}
