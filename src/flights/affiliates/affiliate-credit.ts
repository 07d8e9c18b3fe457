import { type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import { isProblem } from '../../kernel/problems.ts';
import { leaseIsOver, whileRowIsHeld } from '../../store/leases.ts';
import { nextInQueue, type Queue, queueDueAtMs } from '../../store/queue.ts';
import type { AffiliatePayoutTable } from '../../store/tables/affiliate-tables.ts';
import type { ServiceTables } from '../../store/tables/schema.ts';
import { LEASE_MS, LeaseLost, STEP_MS } from '../booking/claims.ts';
import type { FlightsPorts } from '../ports.ts';

const MOST_AT_ONCE = 20;
/** A pay-out that failed so often is one that a person looks at. */
export const PAYOUT_TRIES = 5;
const FIRST_RETRY_MS = 5_000;
const MOST_RETRY_MS = 3_600_000;
const DAY_MS = 24 * MOST_RETRY_MS;
/** A journey whose booking waits for a person is looked at again after this long. */
const LOOK_AGAIN_MS = 10 * 60_000;

const PAYOUTS: Queue = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'open'`,
  leaseMs: LEASE_MS,
  farthestMs: DAY_MS,
};

type Payout = Selectable<AffiliatePayoutTable>;

/**
 * What affiliates are paid (CONTRACT, section 8). A journey is credited once: captured, its last arrival past, not
 * refunded, and no refund of it asked for. What is paid out is the balance of all that was credited to a code, less
 * all that was ever paid: a refund after the pay-out leaves a debt, which later credit fills first.
 */
export function createAffiliateCredit(ports: FlightsPorts) {
  const { store, clock, ids, log } = ports;

  /** Journeys whose last arrival has passed. */
  const dueJourneys = () =>
    store
      .selectFrom('intents')
      .select(['intent_id', 'referrer'])
      .where('credit_due_at_ms', '<=', clock.now())
      // Those of which a refund is asked for wait until a person has decided.
      .where(
        sql<SqlBool>`not exists (select 1 from refund_requests where refund_requests.open_key = intents.intent_id)`,
      )
      .orderBy('credit_due_at_ms')
      .limit(MOST_AT_ONCE)
      .execute();

  /** Takes a due pay-out: the lease keeps others away, the fence makes older holders powerless. */
  async function claim(): Promise<Payout | null> {
    const nowMs = clock.now();
    const row = await store
      .updateTable('affiliate_payouts')
      .set((column) => ({ lease_until_ms: nowMs + LEASE_MS, fence: column('fence', '+', 1) }))
      .where('payout_id', '=', nextInQueue(PAYOUTS, nowMs))
      .where(leaseIsOver(nowMs, LEASE_MS))
      .returningAll()
      .executeTakeFirst();
    return row ?? null;
  }

  /** @throws LeaseLost when the claim is no longer ours */
  async function hold({ payout_id, fence }: Payout): Promise<void> {
    const now = await store
      .selectFrom('affiliate_payouts')
      .select('fence')
      .where('payout_id', '=', payout_id)
      .executeTakeFirst();
    if (now?.fence !== fence) throw new LeaseLost();
  }

  /** Credits one journey and orders the pay-out of the balance, all of it or nothing; or says that it never will be. */
  const judge = (intentId: string, code: string): Promise<void> =>
    store.transaction().execute(async (tx) => {
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
      if (journey.captured_at_ms === null)
        return void (await note({ credit_due_at_ms: nowMs + LOOK_AGAIN_MS }));
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
    });

  /** Whether a refund of it was asked for, and is not decided. */
  const isContested = async (tx: Transaction<ServiceTables>, intentId: string): Promise<boolean> =>
    (await tx
      .selectFrom('refund_requests')
      .select('request_id')
      .where('open_key', '=', intentId)
      .executeTakeFirst()) !== undefined;

  async function balance(tx: Transaction<ServiceTables>, code: string): Promise<number> {
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

  async function pay(payout: Payout): Promise<void> {
    if (await wouldOpenAgain(payout)) {
      log('warn', 'affiliate_account_missing', { payout_id: payout.payout_id });
      return postpone(payout, DAY_MS, 'affiliate_account_missing');
    }
    const { createPayouts } = await import('../refunds/payouts.ts');
    try {
      const { signature } = await createPayouts(ports)({
        subject: payout.payout_id,
        to: payout.wallet,
        amount: BigInt(payout.amount),
        fence: () => hold(payout),
      });
      await store
        .updateTable('affiliate_payouts')
        .set({ state: 'paid', signature, paid_at_ms: clock.now(), lease_until_ms: 0 })
        .where('payout_id', '=', payout.payout_id)
        .where('state', '=', 'open')
        .execute();
    } catch (error) {
      if (error instanceof LeaseLost) return;
      // Whatever it was, the other pay-outs and the rest of the worker's round go on.
      const code = isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown';
      log('warn', 'affiliate_unpaid', { payout_id: payout.payout_id, error_code: code });
      await postpone(payout, Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** payout.attempts), code);
    }
  }

  /**
   * The first pay-out to a wallet opens its token account at our expense, the only one that does: who closed it and
   * took the rent, which is worth more than a share of a cheap fare, opens it again alone.
   */
  async function wouldOpenAgain({ wallet, code }: Payout): Promise<boolean> {
    const before = await store
      .selectFrom('affiliate_payouts')
      .select('payout_id')
      .where('code', '=', code)
      .where('state', '=', 'paid')
      .limit(1)
      .executeTakeFirst();
    if (!before) return false;
    const { associatedTokenAddress } = await import('../../solana/token.ts');
    const account = await associatedTokenAddress(wallet as typeof ports.mint, ports.mint);
    return (await ports.cluster.tokenBalance(account)) === null;
  }

  /** Puts a pay-out off; one that keeps failing is told to an operator, once, and tried further. */
  const postpone = ({ payout_id, attempts, fence }: Payout, byMs: number, why: string): Promise<void> =>
    store.transaction().execute(async (tx) => {
      const written = await tx
        .updateTable('affiliate_payouts')
        .set({ attempts: attempts + 1, due_at_ms: clock.now() + byMs, lease_until_ms: 0, last_error: why })
        .where('payout_id', '=', payout_id)
        .where('fence', '=', fence)
        .where('state', '=', 'open')
        .executeTakeFirst();
      if (written.numUpdatedRows === 0n || attempts + 1 !== PAYOUT_TRIES) return;
      await ports.outbox.enqueue(tx, {
        kind: 'page',
        dedupKey: `page:affiliate_unpaid:${payout_id}`,
        intentId: null,
        event: 'affiliate_unpaid',
        text: `Pay-out ${payout_id} to an affiliate failed ${PAYOUT_TRIES} times, and is tried further: ${why}.`,
        fields: { payout_id, reason: why },
      });
    });

  return {
    /** Credits and pays what is due; how many steps that took. Two small reads when nothing is. Any worker may run it. */
    async runDue(): Promise<number> {
      const journeys = await dueJourneys();
      for (const { intent_id, referrer } of journeys) await judge(intent_id, referrer ?? '');
      let paid = 0;
      for (; paid < MOST_AT_ONCE; paid++) {
        const dueAtMs = await queueDueAtMs(store, PAYOUTS, clock.now());
        if (dueAtMs === null || dueAtMs > clock.now()) break;
        const payout = await claim();
        if (!payout) break;
        await whileRowIsHeld(
          ports,
          {
            table: 'affiliate_payouts',
            key: 'payout_id',
            id: payout.payout_id,
            fence: payout.fence,
            leaseMs: LEASE_MS,
            mostMs: STEP_MS,
          },
          () => pay(payout),
        );
      }
      return journeys.length + paid;
    },
  };
}
