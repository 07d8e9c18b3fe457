import { type Selectable, type SqlBool, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { loadToken } from '../../solana/index.ts';
import { type OpenQueue, openQueue, type Queue, type RetryPolicy } from '../../store/index.ts';
import type { AffiliatePayoutTable, FlightsDatabase, FlightsPorts, Tx } from '../base/index.ts';
import { LEASE_MS, STEP_MS } from '../bookings/index.ts';

const MOST_AT_ONCE = 20;

/** A pay-out that failed so often is one that a person looks at. */
export const PAYOUT_TRIES = 5;

/** One that keeps failing is told to an operator, once, and tried further. */
const RETRY: RetryPolicy = {
  firstMs: 5_000,
  factor: 2,
  mostMs: HOUR_MS,
  jitter: 'none',
  tellAfter: PAYOUT_TRIES,
  giveUp: { after: 'never' },
};

/** A wallet without a token account is its owner's to mend. */
const DAILY: RetryPolicy = { ...RETRY, firstMs: DAY_MS, factor: 1, mostMs: DAY_MS };

const PAYOUTS: Queue<FlightsDatabase, 'affiliate_payouts'> = {
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
 * What affiliates are paid (CONTRACT, section 8). A journey is credited once: captured, its last arrival past, not
 * refunded, and no refund of it asked for. What is paid out is the balance of all that was credited to a code, less
 * all that was ever paid: a refund after the pay-out leaves a debt, which later credit fills first.
 */
export function createAffiliateCredit(ports: FlightsPorts) {
  const queue = openQueue(ports, PAYOUTS);
  const work = {
    perform: (payout: Payout) => pay(ports, queue, payout),
    failed: (payout: Payout, error: unknown) => putOff(ports, queue, payout, error),
  };
  return {
    /** Credits and pays what is due; how many steps that took. Two small reads when nothing is. Any worker may run it. */
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

/**
 * The first pay-out to a wallet opens its token account at our expense, the only one that does: who closed it and
 * took the rent, which is worth more than a share of a cheap fare, opens it again alone.
 */
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

/** Puts a pay-out off. Whatever it was, the other pay-outs and the rest of the worker's round go on. */
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
            ports.outbox.enqueue(tx, {
              kind: 'page',
              dedupKey: `page:affiliate_unpaid:${payout_id}`,
              intentId: null,
              event: 'affiliate_unpaid',
              text: `Pay-out ${payout_id} to an affiliate failed ${failures} times and will be tried again: ${code}.`,
              fields: { payout_id, reason: code },
            })
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

/** A journey whose booking waits for a person is looked at again after this long. */
const LOOK_AGAIN_MS = 10 * 60_000;

/** Credits journeys whose last arrival has passed, up to so many. @returns how many were looked at */
async function creditDueJourneys(ports: CreditPorts, most: number): Promise<number> {
  const journeys = await ports.store
    .selectFrom('intents')
    .select(['intent_id', 'referrer'])
    .where('credit_due_at_ms', '<=', ports.clock.now())
    // Those of which a refund is asked for wait until a person has decided.
    .where(sql<SqlBool>`not exists (select 1 from refund_requests where refund_requests.open_key = intents.intent_id)`)
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
  (await tx.selectFrom('refund_requests').select('request_id').where('open_key', '=', intentId).executeTakeFirst()) !==
  undefined;

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
