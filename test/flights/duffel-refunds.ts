import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { CANCELLATION_BEHAVIOURS } from '../../src/sandbox/duffel/behaviours.ts';
import type { RefundCase, RefundPlan } from '../../src/wire/flights/index.ts';
import type { Books } from '../sandbox/duffel/shapes.ts';
import { type Playing, paidFor, unlessDied, whileToldOf } from './duffel-journeys.ts';
import { mortal } from './mortal.ts';

/** Refunds of booked journeys: an operator approves, the airline fails, the process dies, and somebody goes on. */

export interface RefundFault {
  /** Of the quotes and confirmations, in their order. */
  readonly cancellation: readonly string[];
  /** Of questions about the order. */
  readonly reads: readonly string[];
  /** The moment at which the process of the approval dies; null: it lives. */
  readonly diesAt: number | null;
  /** Another process approves at the same time. */
  readonly isRaced: boolean;
}

export interface Refunded {
  readonly fault: RefundFault;
  readonly intentId: string;
  readonly wanted: bigint;
  readonly paidOut: bigint;
  readonly status: RefundCase['status'];
  readonly why: string | null;
  readonly intentStatus: string;
  readonly died: boolean;
}

export function refundFaultOf(at: number, chance: () => number): RefundFault {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  const first = CANCELLATION_BEHAVIOURS[at % CANCELLATION_BEHAVIOURS.length] ?? 'normal';
  return {
    cancellation: [first, pick(['normal', ...CANCELLATION_BEHAVIOURS])],
    reads: pick([[], [], ['internal_error', 'cut'], ['rate_limited'], ['not_found']]),
    diesAt: chance() < 0.6 ? 1 + Math.floor(chance() * 120) : null,
    isRaced: chance() < 0.3,
  };
}

/** @returns one refund after the other, by one operator */
export async function openRefunds(playing: Playing) {
  const { world, duffel, service } = playing;
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const headers = { Authorization: `Bearer ${key}` };

  return async function refund(fault: RefundFault, at: number): Promise<Refunded> {
    const next = service();
    const { made, familyName } = await paidFor(playing, next, at);
    await world.work(undefined, next.worker);
    const body = { intent_id: made.intent_id, reason: 'I broke a leg.' };
    const support = { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': familyName };
    const asked = await world.paid('/air/refund-requests', body, { headers: support, call: next.call });
    if (asked.status !== 202) throw new Error(JSON.stringify(asked.body));
    const wanted = 1_000_000n + BigInt(at);
    const before = await world.usdc(world.refundWallet.address);
    const path = `/operator/refund-requests/${made.intent_id}`;

    /** Shown first, then agreed to; what goes wrong is tried again by whoever comes next. */
    async function approve(call: typeof next.call): Promise<void> {
      const terms = { payout_amount: Number(wanted), note: 'agreed by telephone' };
      const plan = await call<RefundPlan>(`${path}/approve`, { ...terms, dry_run: true }, { headers });
      if (plan.status !== 200) return;
      const { airline_quote: quote } = plan.body;
      await call(`${path}/approve`, { ...terms, ...(quote && { quote_id: quote.quote_id }) }, { headers });
    }
    const shown = async () => (await next.call<RefundCase>(path, undefined, { headers })).body;

    await duffel.admin('/behaviours', { cancellation: fault.cancellation, order_read: fault.reads });
    const { wrap, died } = mortal(fault.diesAt ?? Number.POSITIVE_INFINITY);
    const first = service(wrap);
    const others = fault.isRaced ? [service()] : [];
    await whileToldOf(duffel, () =>
      Promise.all([
        approve(first.call)
          .then(() => first.worker.runDue().then(() => undefined))
          .catch(unlessDied),
        ...others.map(({ call }) => approve(call).catch(unlessDied)),
      ]),
    );
    // Leases run out, limits end, and time does the rest.
    for (const ms of [1, 61_000, 30 * 60_000, 6 * 3_600_000]) {
      world.clock.advance(ms);
      await duffel.runDue();
      await world.work(undefined, next.worker);
    }
    await duffel.admin('/behaviours', { cancellation: 'normal', order_read: 'normal' });
    // What came back to the operator he decides anew, until there is nothing left to decide.
    for (let tries = 0; tries < 3 && (await shown()).status !== 'refunded'; tries++) {
      await approve(next.call);
      world.clock.advance(61_000);
      await world.work(undefined, next.worker);
    }
    const { status, last_error: why } = await shown();
    return {
      fault,
      intentId: made.intent_id,
      wanted,
      paidOut: (await world.usdc(world.refundWallet.address)) - before,
      status,
      why,
      intentStatus: (await world.show(made)).status,
      died: died(),
    };
  };
}

/** Faults of one refund against the airline's books, in words; none is what is wanted. */
export function refundDisagreements(ended: Refunded, books: Books): string[] {
  const { intentId, status, intentStatus, paidOut, wanted } = ended;
  const orders = books.orders.filter(({ reference }) => reference === intentId);
  const isCancelled = orders.some(({ cancelled_at }) => cancelled_at !== null);
  const isOver = status === 'refunded';
  const isRight: readonly [string, boolean][] = [
    ['one order for a reference', orders.length === 1],
    ['paid out once and to the unit, or not at all', paidOut === (isOver ? wanted : 0n)],
    ['paid out is cancelled', !isOver || isCancelled],
    ['an intent ends with its refund', (intentStatus === 'refunded') === isOver],
    ['with an airline that answers, every refund ends', isOver],
  ];
  return isRight.filter(([, holds]) => !holds).map(([rule]) => rule);
}
