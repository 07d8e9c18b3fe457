import { type SqlBool, sql } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { ResolveRequest, Stuck, StuckItem, StuckPlan } from '../../wire/flights/index.ts';
import { type By, bookingOf, type FlightsPorts } from '../base/index.ts';
import { IS_GRANTED, PAYOUT_TRIES, SUMMARISED, summariesOf } from '../refunds/index.ts';
import { stuckBooking } from './stuck-bookings.ts';
import type { StuckThing } from './stuck-others.ts';
import {
  decideRefund,
  effectItem,
  partnerOrderItem,
  payoutItem,
  refundItem,
  retryEffect,
  retryPayout,
} from './stuck-others.ts';

interface Waiting {
  readonly item: StuckThing;
  decide(by: By, request: ResolveRequest): Promise<void>;
}

/* Work that waits for a person (CONTRACT, section 8). Money moves only by effects, after the audit row. */

/** Finds work by id, stuck work first: a decided booking may have a stuck refund. @throws Problem `stuck_not_found` */
async function find(ports: FlightsPorts, id: string): Promise<Waiting> {
  const { store } = ports;
  const booking = await bookingOf(store, id);
  if (booking?.state === 'stuck') return stuckBooking(ports, booking);
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
      decide: (by, { decision }) => decideRefund(ports, request, by, decision),
    };
  }
  if (booking && (await decidedOn(ports, id))) return stuckBooking(ports, booking);
  const payout = await store.selectFrom('affiliate_payouts').selectAll().where('payout_id', '=', id).executeTakeFirst();
  if (payout) return { item: payoutItem(ports, payout), decide: (by) => retryPayout(ports, payout, by) };
  const effect = await store.selectFrom('effects').selectAll().where('effect_id', '=', id).executeTakeFirst();
  if (effect) return { item: effectItem(effect), decide: (by) => retryEffect(ports, effect, by) };
  const [order] = (await ports.partnerOrdersInError?.(id)) ?? [];
  if (order) return { item: partnerOrderItem(order), decide: async () => undefined };
  throw problem('stuck_not_found');
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

export async function showStuck(ports: FlightsPorts, id: string): Promise<StuckItem> {
  const { item } = await find(ports, id);
  return { ...item, decided: await decidedOn(ports, item.id) };
}

/** Plans or carries out a decision. @throws Problem `stuck_already_resolved`, `decision_not_possible`, … */
export async function resolveStuck(
  ports: FlightsPorts,
  id: string,
  by: By,
  request: ResolveRequest,
): Promise<StuckItem | StuckPlan> {
  const { item, decide } = await find(ports, id);
  if (!item.is_stuck) {
    throw problem('stuck_already_resolved', { detail: { ...(await decidedOn(ports, item.id)) } });
  }
  const option = item.decisions.find((one) => one.decision === request.decision);
  if (option?.refusal !== null) {
    throw problem('decision_not_possible', {
      detail: {
        reason: option ? option.refusal : 'other_kind',
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
  return showStuck(ports, item.id);
}

/** An effect that is open for this long waits for a person. */
const LONG_OPEN_MS = 10 * 60_000;
const MOST_LISTED = 200;

/** Lists work that waits for a person: stuck bookings and refunds, old effects, failing pay-outs, ramp orders. */
export async function listStuck({ store, clock, partnerOrdersInError }: FlightsPorts): Promise<Stuck> {
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
    .select(['effect_id', 'kind', 'subject', 'state', 'error', 'signature', 'created_at_ms', 'updated_at_ms'])
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
    .select(['payout_id', 'wallet', 'amount', 'last_error', 'attempts', 'created_at_ms'])
    // Repeats the condition of its partial index.
    .where(sql<SqlBool>`state = 'open' and attempts >= ${sql.lit(PAYOUT_TRIES)}`)
    .where('created_at_ms', '>', 0)
    .orderBy('created_at_ms')
    .limit(MOST_LISTED)
    .execute();
  return {
    bookings: bookings.map(({ updated_at_ms, ...row }) => ({ ...row, updated_at: instant(updated_at_ms) })),
    effects: effects.map(({ created_at_ms, updated_at_ms, ...row }) => ({
      ...row,
      created_at: instant(created_at_ms),
      updated_at: instant(updated_at_ms),
    })),
    refund_requests: await summariesOf(store, requests),
    affiliate_payouts: payouts.map(({ created_at_ms, ...row }) => ({ ...row, created_at: instant(created_at_ms) })),
    partner_orders: [...((await partnerOrdersInError?.()) ?? [])],
  };
}
