import { hostname } from 'node:os';
import { inTurn } from '../../store/base/index.ts';
import { MOST_AHEAD_MS, serverAheadMs } from '../../store/index.ts';
import { type FlightsPorts, pageWhile } from '../base/index.ts';
import { createStepRunner, type Escrows, type Funds, finishCreation, retire, watchProgram } from '../bookings/index.ts';
import { createAffiliateCredit, loadRefundPayouts, refundsDueAtMs } from '../refunds/index.ts';

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

  /** Refund requests: those left open by a crash, and the pay-outs of those that were approved. */
  async function refunds() {
    const dueAtMs = await refundsDueAtMs(ports);
    if (dueAtMs === null || dueAtMs > ports.clock.now()) return { worked: 0, dueAtMs };
    const { createRefundPayouts } = await loadRefundPayouts();
    return createRefundPayouts(ports).runDue();
  }

  /** A database that was put back says nothing of it: a process that stays looks before its first work. */
  let hasLooked = !ports.options.sweepsAtStart;
  async function isHeld(): Promise<boolean> {
    if (!hasLooked) hasLooked = (await (await import('./restored.ts')).lookForRestored(ports)) !== 'unknown';
    return !hasLooked || (await ports.isBehind());
  }

  return {
    /** Looks once whether the database was put back. */
    isHeld,

    async runDue(): Promise<WorkerRun> {
      if (await isHeld()) {
        ports.outbox.start();
        return { worked: 0, nextDueAtMs: null };
      }
      await ports.paywall.recover?.();
      await ports.effects.recover();
      let worked = await tidyIntents(ports);
      const steps = await runner.runDue(MOST_STEPS - worked);
      worked += steps.worked;
      worked += await affiliates.runDue();
      await funds.watch();
      await watchProgram(ports);
      await watchClock();
      await watchAirline(ports);
      // Not waited for: a receiver that is down holds up no booking.
      ports.outbox.start();
      const refunded = await refunds();
      await ports.lowcost?.endCards?.();
      await upkeep();
      if (ports.provider?.changesSchedules) worked += await (await import('./order-watch.ts')).watchOrders(ports);
      return { worked: worked + refunded.worked, nextDueAtMs: earlier(steps.dueAtMs, refunded.dueAtMs) };
    },
  };
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

async function tidyIntents(ports: FlightsPorts): Promise<number> {
  const { store, clock } = ports;
  const nowMs = clock.now();
  const blocking = store.selectFrom('intents').selectAll().where('active_key', 'is not', null).limit(MOST_INTENTS);
  const expired = await blocking.where('expires_at_ms', '<=', nowMs).orderBy('expires_at_ms').execute();
  const opening = blocking.where('opened_at_ms', 'is', null).where('expires_at_ms', '>', nowMs);
  const left = await opening.where('created_at_ms', '<=', nowMs - CREATION_GRACE_MS).execute();
  // Begun in the future of a clock that was set back.
  const astray = await opening.where('created_at_ms', '>', nowMs + CREATION_GRACE_MS).execute();
  const rows = [...expired, ...left, ...astray];
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

async function watchAirline(ports: FlightsPorts): Promise<void> {
  const { provider } = ports;
  if (!provider?.trouble) return;
  const trouble = await provider.trouble();
  await pageWhile(ports, {
    key: `airline_refuses:${provider.name}`,
    event: 'airline_refuses',
    restored: 'airline_answers_again',
    text: trouble && `${provider.name} refuses every call: ${trouble}. Nothing can be searched or ordered.`,
    fields: { provider: provider.name },
  });
}

const SWEEP_EVERY_MS = 10 * 60_000;
const DUE_AT = 'sweep_due_at_ms';

/** Sweeps at most every ten minutes in all processes, and when one that stays starts. Failures are only logged. */
export function createUpkeep(ports: FlightsPorts, escrows: Escrows): () => Promise<number> {
  const { store, clock, log } = ports;
  let dueAtMs = 0;
  /** When this process sweeps again before it is due. A command that ends leaves that to others. */
  let goOn: { readonly atMs: number; readonly waitMs: number } | null = null;
  /** Sweeps once whatever the database says: a restored one says that the next sweep is not due yet. */
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
