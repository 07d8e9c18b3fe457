import { type Selectable, type SqlBool, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { loadToken } from '../../solana/index.ts';
import { inTurn } from '../../store/base/index.ts';
import { type OpenQueue, openQueue, type Queue, queueDue, type RetryPolicy } from '../../store/index.ts';
import type { AffiliatePayoutTable, FlightsDatabase, FlightsPorts, Tx } from '../base/index.ts';
import { changeIntent, page } from '../base/index.ts';
import { LEASE_MS, STEP_MS } from '../bookings/index.ts';

const MOST_AT_ONCE = 20;
/** After this many failures a pay-out needs a person's attention. */
export const PAYOUT_TRIES = 5;

/** A failing pay-out pages an operator once, and is retried all the same. */
const RETRY: RetryPolicy = {
  firstMs: 5_000,
  factor: 2,
  mostMs: HOUR_MS,
  jitter: 'none',
  tellAfter: PAYOUT_TRIES,
  giveUp: { after: 'never' },
};

const DAILY: RetryPolicy = { ...RETRY, firstMs: DAY_MS, factor: 1, mostMs: DAY_MS };

export const PAYOUTS: Queue<FlightsDatabase, 'affiliate_payouts'> = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'open'`,
  leaseMs: LEASE_MS,
  mostMs: STEP_MS,
  farthestMs: DAY_MS,
  counts: 'failures',
  retry: RETRY,
};

type Payout = Selectable<AffiliatePayoutTable>;
type Payouts = OpenQueue<FlightsDatabase, 'affiliate_payouts'>;

class AccountMissing extends Error {
  override readonly name = 'affiliate_account_missing';
}

/**
 * Pays affiliates (CONTRACT, section 8): a captured, flown journey without a refund is credited once. A pay-out is all
 * credit less all earlier pay-outs: a refund after a pay-out leaves a debt, which later credit pays off first.
 */
export function createAffiliateCredit(ports: FlightsPorts) {
  const queue = openQueue(ports, PAYOUTS);
  const work = {
    perform: (payout: Payout) => pay(ports, queue, payout),
    failed: (payout: Payout, error: unknown) => putOff(ports, queue, payout, error),
  };
  return {
    /** SQL values: when the next journey is to be credited, and the next pay-out made (epoch ms). */
    due: () => ({
      credit: sql<number | null>`${dueJourneys(ports, 1).select('credit_due_at_ms')}`,
      payouts: queueDue(ports, PAYOUTS),
    }),
    /** Credits and pays what is due. Any worker may run it. @returns the number of steps done */
    async runDue(): Promise<number> {
      const credited = await creditDueJourneys(ports, MOST_AT_ONCE);
      return credited + (await queue.runDue(work, MOST_AT_ONCE)).worked;
    },
  };
}

async function pay(ports: FlightsPorts, queue: Payouts, payout: Payout): Promise<void> {
  if (await wouldOpenAgain(ports, payout)) throw new AccountMissing();
  const { createPayouts } = await import('./payouts.ts');
  const { signature } = await createPayouts(ports)({
    subject: payout.payout_id,
    to: payout.wallet,
    amount: BigInt(payout.amount),
    fence: () => queue.check(payout),
  });
  await queue.finish(payout, { state: 'paid', signature, paid_at_ms: ports.clock.now() });
}

/** True if a pay-out would open the token account again. We pay its rent only once: it can exceed a small share. */
async function wouldOpenAgain({ store, cluster, mint }: FlightsPorts, { wallet, code }: Payout): Promise<boolean> {
  const before = await store
    .selectFrom('affiliate_payouts')
    .select('payout_id')
    .where('code', '=', code)
    .where('state', '=', 'paid')
    .limit(1)
    .executeTakeFirst();
  if (!before) return false;
  const { associatedTokenAddress } = await loadToken();
  const account = await associatedTokenAddress(wallet as typeof mint, mint);
  return (await cluster.tokenBalance(account)) === null;
}

function putOff(ports: FlightsPorts, queue: Payouts, payout: Payout, error: unknown): Promise<void> {
  const isMissing = error instanceof AccountMissing;
  const { payout_id } = payout;
  return queue.postpone(
    payout,
    error,
    ({ code, failures, tells }) => ({
      change: { last_error: code },
      also: tells
        ? (tx) =>
            ports.outbox.enqueue(
              tx,
              page('affiliate_unpaid', payout_id, {
                text: `Pay-out ${payout_id} to an affiliate failed ${failures} times and will be tried again: ${code}.`,
                fields: { payout_id, reason: code },
              }),
            )
        : undefined,
      log: () =>
        isMissing
          ? ports.log('warn', 'affiliate_account_missing', { payout_id })
          : ports.log('warn', 'affiliate_unpaid', { payout_id, error_code: code }),
    }),
    isMissing ? DAILY : RETRY,
  );
}

type CreditPorts = Pick<FlightsPorts, 'store' | 'clock' | 'ids'>;

/** How long a journey without a captured price waits for the next look. */
const LOOK_AGAIN_MS = 10 * 60_000;

/** Credits at most `most` journeys whose last arrival has passed. @returns how many were looked at */
async function creditDueJourneys(ports: CreditPorts, most: number): Promise<number> {
  const journeys = await dueJourneys(ports, most).select(['intent_id', 'referrer']).execute();
  for (const { intent_id, referrer } of journeys) {
    const turns = [`intents:${intent_id}`, `affiliates:${referrer}`];
    await inTurn(ports.store, turns, (tx) => credit(tx, ports, intent_id, referrer ?? ''));
  }
  return journeys.length;
}

const dueJourneys = ({ store, clock }: CreditPorts, most: number) =>
  store
    .selectFrom('intents')
    .where('credit_due_at_ms', '<=', clock.now())
    // Journeys with an open refund request wait until a person has decided.
    .where(sql<SqlBool>`not exists (select 1 from refund_requests where refund_requests.open_key = intents.intent_id)`)
    .orderBy('credit_due_at_ms')
    .limit(most);

/** Credits a journey and queues a pay-out of the balance, in one transaction. Drops a journey that earns no credit. */
async function credit(tx: Tx, { clock, ids }: CreditPorts, intentId: string, code: string): Promise<void> {
  const nowMs = clock.now();
  // Locks the code's balance: a second worker that credits another of its journeys sees this credit.
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
    changeIntent(tx, intentId, values);
  const isOver = journey.status === 'refunded' || journey.booking_requested_at_ms === null;
  if (!affiliate || isOver) return void (await note({ credit_due_at_ms: null }));
  const contest = await tx
    .selectFrom('refund_requests')
    .select('request_id')
    .where('open_key', '=', intentId)
    .executeTakeFirst();
  if (contest) return;
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
      created_at_ms: nowMs,
    })
    .execute();
}

async function balance(tx: Tx, code: string): Promise<number> {
  const { rows } = await sql<{ amount: number | string }>`select
    coalesce((select sum(affiliate_amount) from intents
      where referrer = ${code} and status = 'booked' and credited_at_ms is not null), 0)
    - coalesce((select sum(amount) from affiliate_payouts where code = ${code}), 0) as amount`.execute(tx);
  return Number(rows[0]?.amount ?? 0);
}
