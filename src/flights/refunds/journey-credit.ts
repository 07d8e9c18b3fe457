import { type SqlBool, sql } from 'kysely';
import type { FlightsPorts } from '../ports.ts';
import type { Tx } from '../tables.ts';

type CreditPorts = Pick<FlightsPorts, 'store' | 'clock' | 'ids'>;

/** A journey whose booking waits for a person is looked at again after this long. */
const LOOK_AGAIN_MS = 10 * 60_000;

/** Credits journeys whose last arrival has passed, up to so many. @returns how many were looked at */
export async function creditDueJourneys(ports: CreditPorts, most: number): Promise<number> {
  const journeys = await ports.store
    .selectFrom('intents')
    .select(['intent_id', 'referrer'])
    .where('credit_due_at_ms', '<=', ports.clock.now())
    // Those of which a refund is asked for wait until a person has decided.
    .where(
      sql<SqlBool>`not exists (select 1 from refund_requests where refund_requests.open_key = intents.intent_id)`,
    )
    .orderBy('credit_due_at_ms')
    .limit(most)
    .execute();
  for (const { intent_id, referrer } of journeys) {
    await ports.store.transaction().execute((tx) => credit(tx, ports, intent_id, referrer ?? ''));
  }
  return journeys.length;
}

/** Credits one journey and orders the pay-out of the balance, all of it or nothing; or says that it never will be. */
async function credit(tx: Tx, { clock, ids }: CreditPorts, intentId: string, code: string): Promise<void> {
  const nowMs = clock.now();
  // The lock on a code's balance: of two workers that credit two of its journeys, the second sees the first's.
  const affiliate = await tx
    .updateTable('affiliates')
    .set({ credited_at_ms: nowMs })
    .where('code', '=', code)
    .returning('wallet')
    .executeTakeFirst();
  const journey = await tx
    .selectFrom('intents')
    .selectAll()
    .where('intent_id', '=', intentId)
    .where('credit_due_at_ms', 'is not', null)
    .executeTakeFirst();
  if (!journey) return;
  const note = (values: { credit_due_at_ms: number | null; credited_at_ms?: number }) =>
    tx.updateTable('intents').set(values).where('intent_id', '=', intentId).execute();
  const isOver = journey.status === 'refunded' || journey.booking_requested_at_ms === null;
  if (!affiliate || isOver) return void (await note({ credit_due_at_ms: null }));
  if (await isContested(tx, intentId)) return;
  if (journey.captured_at_ms === null) return void (await note({ credit_due_at_ms: nowMs + LOOK_AGAIN_MS }));
  await note({ credit_due_at_ms: null, credited_at_ms: nowMs });
  const amount = await balance(tx, code);
  if (amount <= 0) return;
  await tx
    .insertInto('affiliate_payouts')
    .values({
      payout_id: ids.next('pay'),
      code,
      wallet: journey.referrer_wallet ?? affiliate.wallet,
      amount,
      state: 'open',
      attempts: 0,
      due_at_ms: nowMs,
      last_error: null,
      signature: null,
      created_at_ms: nowMs,
      paid_at_ms: null,
    })
    .execute();
}

/** True when a refund of it was asked for, and is not decided. */
const isContested = async (tx: Tx, intentId: string): Promise<boolean> =>
  (await tx
    .selectFrom('refund_requests')
    .select('request_id')
    .where('open_key', '=', intentId)
    .executeTakeFirst()) !== undefined;

async function balance(tx: Tx, code: string): Promise<number> {
  const credited = await tx
    .selectFrom('intents')
    .select((column) => column.fn.sum('affiliate_amount').as('sum'))
    .where('referrer', '=', code)
    .where('status', '=', 'booked')
    .where('credited_at_ms', 'is not', null)
    .executeTakeFirst();
  const ordered = await tx
    .selectFrom('affiliate_payouts')
    .select((column) => column.fn.sum('amount').as('sum'))
    .where('code', '=', code)
    .executeTakeFirst();
  return Number(credited?.sum ?? 0) - Number(ordered?.sum ?? 0);
}
