import { hostname } from 'node:os';
import { type QueueRun, serverAheadMs } from '../../store/index.ts';
import { type FlightsPorts, pageWhile } from '../base/index.ts';
import { createStepRunner, type Escrows, type Funds, type Intents, retire, watchProgram } from '../bookings/index.ts';
import { createAffiliateCredit, loadRefundPayouts, refundsDueAtMs } from '../refunds/index.ts';
import { createUpkeep } from './upkeep.ts';

const LOOK_EVERY_MS = 60_000;
/** Deadlines are compared with the cluster's clock, quotes with this one: seconds do no harm. */
const MOST_MS = 5_000;

/** How long a creation is left to its own request before the worker asks what became of its payment. */
const CREATION_GRACE_MS = 15_000;
const MOST_STEPS = 200;
const MOST_INTENTS = 20;

export interface WorkerRun {
  /** Steps taken. */
  readonly worked: number;
  /** When the next step is due (epoch ms), null when nothing is under way. */
  readonly nextDueAtMs: number | null;
}

/**
 * The booking worker (DESIGN, section 6). `runDue` takes every step that is due and returns; several workers, in one
 * process or many, are safe at the same time. With nothing due it is a handful of small reads.
 */
export function createWorker(ports: FlightsPorts, escrows: Escrows, intents: Intents, funds: Funds) {
  const { store, clock } = ports;
  const runner = createStepRunner(ports, escrows);
  const upkeep = createUpkeep(ports, escrows);
  const affiliates = createAffiliateCredit(ports);
  const watchClock = createClockWatch(ports);

  /** Intents that nobody books any more, and creations whose request died. */
  async function tidyIntents(): Promise<number> {
    const nowMs = clock.now();
    const blocking = store.selectFrom('intents').selectAll().where('active_key', 'is not', null).limit(MOST_INTENTS);
    const expired = await blocking.where('expires_at_ms', '<=', nowMs).orderBy('expires_at_ms').execute();
    const opening = blocking.where('opened_at_ms', 'is', null).where('expires_at_ms', '>', nowMs);
    const left = await opening.where('created_at_ms', '<=', nowMs - CREATION_GRACE_MS).execute();
    // Begun in a future that is none any more: the clock was set back.
    const astray = await opening.where('created_at_ms', '>', nowMs + CREATION_GRACE_MS).execute();
    const rows = [...expired, ...left, ...astray];
    for (const row of rows) {
      if (row.opened_at_ms === null) await intents.finishCreation(row);
      else await store.transaction().execute((tx) => retire(tx, row, 'intent_expired', nowMs));
    }
    return rows.length;
  }

  /** Refund requests: those left open by a crash, and the pay-outs of those that were approved. */
  async function refunds(): Promise<QueueRun> {
    const dueAtMs = await refundsDueAtMs(ports);
    if (dueAtMs === null || dueAtMs > clock.now()) return { worked: 0, dueAtMs };
    const { createRefundPayouts } = await loadRefundPayouts();
    return createRefundPayouts(ports).runDue();
  }

  return {
    async runDue(): Promise<WorkerRun> {
      await ports.paywall.recover?.();
      await ports.effects.recover();
      let worked = await tidyIntents();
      const steps = await runner.runDue(MOST_STEPS - worked);
      worked += steps.worked;
      worked += await affiliates.runDue();
      await funds.watch();
      await watchProgram(ports);
      await watchClock();
      if (ports.provider?.trouble) await (await import('./airline-watch.ts')).watchAirline(ports);
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

/**
 * Holds this machine's clock against the database server's once a minute, and pages while they differ. Work is not taken
 * over for it (leases run by the server's clock), but quotes, deadlines and retries go by this one.
 */
function createClockWatch(ports: Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox'>): () => Promise<void> {
  const { store, clock } = ports;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return;
    lookedAtMs = clock.now();
    const aheadMs = await serverAheadMs(store, clock);
    if (aheadMs === null) return;
    const machine = hostname();
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    await pageWhile(ports, {
      key: `clock_differs:${machine}`,
      event: 'clock_differs',
      restored: 'clock_right_again',
      text:
        Math.abs(aheadMs) <= MOST_MS
          ? null
          : `The clock of ${machine} is ${seconds} seconds ${aheadMs > 0 ? 'behind' : 'ahead of'} the database's. Set both by NTP.`,
      fields: { machine, seconds },
    });
  };
}
