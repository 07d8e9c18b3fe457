import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import type { CreatedIntent, RefundCase, RefundPlan } from '../../src/wire/flights/index.ts';
import type { Books } from '../sandbox/duffel/shapes.ts';
import type { Playing } from './duffel-journeys.ts';

/** How booked journeys end: their airline cancels, or their travellers do, and its quote changes before it is taken. */

export const AFTERS = ['flown', 'airline_cancels', 'airline_cancels_late', 'cheaper', 'dearer', 'voucher'] as const;
export type After = (typeof AFTERS)[number];

export interface Returned {
  readonly after: After;
  /** What the operator was shown before, and agreed to in the end. */
  readonly seen: Quote | null;
  readonly agreed: Quote | null;
  readonly cancelledBy: string | null;
  /** The code of an approval of the quote that was no longer the airline's. */
  readonly overtaken: string | null;
  readonly wanted: bigint;
  /** Units that reached the refund wallet, and left the treasury. */
  readonly paidOut: bigint;
  readonly paidFrom: bigint;
  readonly status: string;
  readonly intentStatus: string;
}

type Quote = NonNullable<RefundPlan['airline_quote']>;

/** A refund of a booked journey, agreed to by an operator; null for a journey that is flown. */
export async function played(
  { world, duffel, service }: Playing,
  { made, familyName, after }: { made: CreatedIntent; familyName: string; after: After },
): Promise<Returned | null> {
  if (after === 'flown') return null;
  const { call, worker } = service();
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const headers = { Authorization: `Bearer ${key}` };
  const path = `/operator/refund-requests/${made.intent_id}`;
  const approve = <T>(body: object) => call<T>(`${path}/approve`, body, { headers });
  const amount = BigInt(made.escrow.amount);
  const before = await world.sums(made);
  const cancel = async () => {
    const { orders } = await duffel.admin('/orders');
    const order = orders.find(({ reference }) => reference === made.intent_id);
    await duffel.admin(`/orders/${order?.order_id}/airline_cancellation`, {});
    await duffel.runDue();
  };

  if (after === 'airline_cancels') await cancel();
  const support = { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': familyName };
  const body = { intent_id: made.intent_id, reason: 'I broke a leg.' };
  const asked = await world.paid('/air/refund-requests', body, { headers: support, call });
  if (asked.status !== 202) throw new Error(JSON.stringify(asked.body));

  const override = { payout_amount: Number((amount * 7n) / 10n), note: 'agreed by telephone' };
  const terms = after.startsWith('airline') ? {} : override;
  const show = async (): Promise<RefundPlan> => {
    const plan = await approve<RefundPlan>({ ...terms, dry_run: true });
    if (plan.status !== 200) throw new Error(JSON.stringify(plan.body));
    return plan.body;
  };
  const agreeTo = (quote: Quote | null, more: object = terms) =>
    approve<{ code?: string }>({ ...more, ...(quote && { quote_id: quote.quote_id }) });

  // The first look is at an ordinary quote, by the operator's own terms where the fare's rule may say nothing.
  const seen = after === 'airline_cancels' ? null : (await approve<RefundPlan>({ ...override, dry_run: true })).body;
  let overtaken: string | null = null;
  if (after === 'airline_cancels_late') {
    await cancel();
    overtaken = (await agreeTo(seen?.airline_quote ?? null, override)).body.code ?? null;
  } else if (seen) {
    await duffel.admin('/behaviours', { cancellation: after });
    await show();
    overtaken = (await agreeTo(seen.airline_quote)).body.code ?? null;
  }
  const plan = await show();
  if (plan.cancelled_by === null) await agreeTo(plan.airline_quote);
  else await agreeTo(null, { expected_payout_amount: plan.payout_amount });
  world.clock.advance(61_000);
  await duffel.runDue();
  await world.work(undefined, worker);
  await duffel.admin('/behaviours', { cancellation: 'normal' });
  const now = await world.sums(made);
  return {
    after,
    seen: seen?.airline_quote ?? null,
    agreed: plan.airline_quote,
    cancelledBy: plan.cancelled_by,
    overtaken,
    wanted: after.startsWith('airline') ? amount : BigInt(override.payout_amount),
    paidOut: now.refund - before.refund,
    paidFrom: before.treasury - now.treasury,
    status: (await call<RefundCase>(path, undefined, { headers })).body.status,
    intentStatus: (await world.show(made)).status,
  };
}

/** What the request of a refund costs: the treasury gets it. */
const FEE = 100_000n;

/** Rules of a journey that was given back, against the airline's books. */
export function wrongReturns(
  { after, seen, agreed, cancelledBy, overtaken, wanted, paidOut, paidFrom, status, intentStatus }: Returned,
  amount: bigint,
  order: Books['orders'][number] | undefined,
): [string, boolean][] {
  const byAirline = after.startsWith('airline');
  const taken = order?.refund ?? null;
  const isTaken =
    taken?.to === agreed?.refund_to &&
    taken?.amount === agreed?.refund_amount_decimal &&
    (taken?.amount == null || taken.currency === agreed?.refund_currency);
  return [
    ['every refund ends', status === 'refunded' && intentStatus === 'refunded'],
    ['paid out once, and to the unit', paidOut === wanted && paidFrom === wanted - FEE],
    ['nothing is kept where the airline cancelled', !byAirline || wanted === amount],
    ['everybody learns who cancelled', cancelledBy === (byAirline ? 'airline' : null)],
    ['what the airline cancelled is not cancelled again', !byAirline || taken === null],
    ['the quote that was agreed to is the one that was taken', byAirline || isTaken],
    ['a quote that was overtaken is not taken', after === 'airline_cancels' || overtaken === 'plan_changed'],
    [
      'the quote changed',
      byAirline ||
        seen?.refund_amount_decimal !== agreed?.refund_amount_decimal ||
        seen?.refund_to !== agreed?.refund_to,
    ],
  ];
}
