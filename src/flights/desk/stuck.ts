import { type SqlBool, sql } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { ResolveRequest, Stuck, StuckItem, StuckPlan } from '../../wire/flights/index.ts';
import type { BookingRow, FlightsPorts } from '../base/index.ts';
import { createEscrows } from '../bookings/index.ts';
import { type By, IS_GRANTED, PAYOUT_TRIES, type RefundDecisions, SUMMARISED, summariesOf } from '../refunds/index.ts';
import { createStuckBookings } from './stuck-bookings.ts';
import { effectItem, partnerOrderItem, payoutItem, retryEffect, retryPayout } from './stuck-others.ts';
import { decideRefund, refundItem } from './stuck-refunds.ts';
import type { StuckThing } from './stuck-thing.ts';

/** One thing that waits for a person, whatever its kind: how it stands, and how a decision is made about it. */
interface Waiting {
  readonly item: StuckThing;
  decide(by: By, request: ResolveRequest): Promise<void>;
}

/**
 * Work that waits for a person, and how a person ends it (CONTRACT, section 8). Whoever asked the airline says what it
 * answered; money moves by effects, after the decision is on record with its row in the audit trail.
 */
export function createStuck(ports: FlightsPorts, decisions: RefundDecisions) {
  const bookings = createStuckBookings(ports, createEscrows(ports));
  const desk: Desk = { ports, bookings, decisions };
  return {
    list: () => listStuck(ports),
    show: (id: string): Promise<StuckItem> => show(desk, id),
    resolve: (id: string, by: By, request: ResolveRequest): Promise<StuckItem | StuckPlan> =>
      resolve(desk, id, by, request),
  };
}

interface Desk {
  readonly ports: FlightsPorts;
  readonly bookings: ReturnType<typeof createStuckBookings>;
  readonly decisions: RefundDecisions;
}

/** What is stuck comes first: a booking that was decided on may have a refund that is stuck. */
async function find(desk: Desk, id: string): Promise<Waiting | null> {
  const { ports, decisions } = desk;
  const { store } = ports;
  const booking = await store.selectFrom('bookings').selectAll().where('intent_id', '=', id).executeTakeFirst();
  if (booking?.state === 'stuck') return ofBooking(desk, booking);
  const request = await store
    .selectFrom('refund_requests')
    .selectAll()
    .where((either) =>
      either.or([
        either('request_id', '=', id),
        either.and([either('intent_id', '=', id), either('state', '=', 'stuck')]),
      ]),
    )
    .executeTakeFirst();
  if (request && (request.state === 'stuck' || (await decidedOn(ports, request.request_id)))) {
    return {
      item: await refundItem(ports, request),
      decide: (by, { decision }) => decideRefund(ports, decisions, request, by, decision),
    };
  }
  if (booking && (await decidedOn(ports, id))) return ofBooking(desk, booking);
  const payout = await store.selectFrom('affiliate_payouts').selectAll().where('payout_id', '=', id).executeTakeFirst();
  if (payout) {
    return { item: payoutItem(ports, payout), decide: (by) => retryPayout(ports, payout, by) };
  }
  const effect = await store.selectFrom('effects').selectAll().where('effect_id', '=', id).executeTakeFirst();
  if (effect) return { item: effectItem(effect), decide: (by) => retryEffect(ports, effect, by) };
  const [order] = (await ports.partnerOrdersInError?.(id)) ?? [];
  return order ? { item: partnerOrderItem(order), decide: async () => undefined } : null;
}

async function ofBooking({ bookings }: Desk, booking: BookingRow): Promise<Waiting> {
  const facts = await bookings.factsOf(booking);
  return { item: bookings.item(facts), decide: (by, request) => bookings.decide(facts, by, request) };
}

async function decidedOn({ store }: FlightsPorts, id: string): Promise<StuckItem['decided']> {
  const row = await store
    .selectFrom('operator_audit')
    .select(['action', 'operator_name', 'at_ms'])
    .where('subject', '=', id)
    .where((either) =>
      // A stuck refund that is approved again is a retry, too.
      either.or([either('action', 'like', 'stuck.%'), either('action', '=', 'refund.resume')]),
    )
    .orderBy('audit_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row
    ? {
        decision: row.action.replace('refund.resume', 'retry').replace('stuck.', ''),
        by: row.operator_name,
        at: instant(row.at_ms),
      }
    : null;
}

/** @throws Problem `stuck_not_found` */
async function waiting(desk: Desk, id: string): Promise<Waiting> {
  const found = await find(desk, id);
  if (!found) throw problem('stuck_not_found');
  return found;
}

/** @throws Problem `stuck_not_found` for what never waited for a person */
async function show(desk: Desk, id: string): Promise<StuckItem> {
  const { item } = await waiting(desk, id);
  return { ...item, decided: await decidedOn(desk.ports, item.id) };
}

/**
 * Decides, or says what a decision would do. Answers with how it stands then.
 * @throws Problem `stuck_not_found`, `stuck_already_resolved`, `decision_not_possible`, `case_already_claimed`:
 *   nothing was changed then
 */
async function resolve(desk: Desk, id: string, by: By, request: ResolveRequest): Promise<StuckItem | StuckPlan> {
  const { item, decide } = await waiting(desk, id);
  if (!item.is_stuck) {
    throw problem('stuck_already_resolved', { detail: { ...(await decidedOn(desk.ports, item.id)) } });
  }
  const option = item.decisions.find((one) => one.decision === request.decision);
  const refusal = option ? option.refusal : 'other_kind';
  if (refusal !== null || !option) {
    throw problem('decision_not_possible', {
      detail: {
        reason: refusal,
        possible: item.decisions.filter((one) => one.refusal === null).map((one) => one.decision),
      },
    });
  }
  if (request.dry_run) {
    const { id: itemId, kind, amount } = item;
    const { decision, steps } = option;
    return { id: itemId, kind, dry_run: true, decision, amount, steps };
  }
  await decide(by, request);
  return show(desk, item.id);
}

/** An effect that has been open for this long is one that a person looks at. */
const LONG_OPEN_MS = 10 * 60_000;

const MOST_LISTED = 200;

/** Work that waits for a person: bookings and refunds that are stuck, effects and pay-outs that are open for long. */
async function listStuck({
  store,
  clock,
  partnerOrdersInError,
}: Pick<FlightsPorts, 'store' | 'clock' | 'partnerOrdersInError'>): Promise<Stuck> {
  const bookings = await store
    .selectFrom('bookings')
    .select(['intent_id', 'last_error', 'attempts', 'updated_at_ms'])
    .where(sql<SqlBool>`state = 'stuck'`)
    .where('updated_at_ms', '>', 0)
    .orderBy('updated_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const effects = await store
    .selectFrom('effects')
    .selectAll()
    .where(sql<SqlBool>`state in ('planned', 'sent', 'stuck')`)
    .where((either) =>
      either.or([either('state', '=', 'stuck'), either('created_at_ms', '<=', clock.now() - LONG_OPEN_MS)]),
    )
    .where('created_at_ms', '>', 0)
    .orderBy('created_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const requests = await store
    .selectFrom('refund_requests')
    .select(SUMMARISED)
    .where(IS_GRANTED)
    .where('state', '=', 'stuck')
    .where('requested_at_ms', '>', 0)
    .orderBy('requested_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const payouts = await store
    .selectFrom('affiliate_payouts')
    .selectAll()
    // In the words of the index over them.
    .where(sql<SqlBool>`state = 'open' and attempts >= ${sql.lit(PAYOUT_TRIES)}`)
    .where('created_at_ms', '>', 0)
    .orderBy('created_at_ms')
    .limit(MOST_LISTED)
    .execute();
  return {
    bookings: bookings.map(({ updated_at_ms, ...row }) => ({ ...row, updated_at: instant(updated_at_ms) })),
    effects: effects.map((row) => ({
      effect_id: row.effect_id,
      kind: row.kind,
      subject: row.subject,
      state: row.state,
      error: row.error,
      signature: row.signature,
      created_at: instant(row.created_at_ms),
      updated_at: instant(row.updated_at_ms),
    })),
    refund_requests: await summariesOf(store, requests),
    affiliate_payouts: payouts.map(({ payout_id, wallet, amount, last_error, attempts, created_at_ms }) => ({
      payout_id,
      wallet,
      amount,
      last_error,
      attempts,
      created_at: instant(created_at_ms),
    })),
    partner_orders: [...((await partnerOrdersInError?.()) ?? [])],
  };
}
