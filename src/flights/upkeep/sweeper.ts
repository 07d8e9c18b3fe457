import type { Address } from '@solana/kit';
import { type SqlBool, sql } from 'kysely';
import { OLD_EVIDENCE, OLD_LOOKS, OLD_OFFERS } from '../../airlines/browser/index.ts';
import { loadCommitment } from '../../escrow/index.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../../solana/index.ts';
import { BITE, erasing, removeOld } from '../../store/index.ts';
import {
  CLOSE_AFTER_MS,
  type FlightsPorts,
  farthestMs,
  type IntentRow,
  lockedOffer,
  type SweeperPorts,
  type UpkeepTask,
  WRONG_CODES,
} from '../base/index.ts';
import { createOrderBook, type Escrows, journeyEndMs, lookForLateTicket } from '../bookings/index.ts';
import { COUNTED_SEARCHES, KEPT_SEARCHES } from '../offers/index.ts';

const MOST_AT_ONCE = 50;

/** A heap is taken away in bites, and quicker than it can grow. */
const SOON_MS = 1_000;

/** /ready says no until a person has ended what a restored database left open: it hears of that soon. */
const BEHIND_MS = 15_000;

type Due = IntentRow & { readonly ended_at_ms: number };

/**
 * The sweeper: what is left to do once bookings have ended. Late money goes to its refund wallet, late tickets are looked
 * for, escrows are closed, personal data is purged, dead rows are pruned. Every task is a row until it is done, and safe
 * to repeat: several sweepers at once, or one that dies anywhere, do no harm. (Expired intents are retired by the worker
 * itself.)
 */
export function createSweeper(ports: SweeperPorts, escrows: Escrows) {
  return {
    /**
     * One sweep: up to 50 tasks of each kind, and a bite of what is dead.
     * @returns `againMs`: when to sweep again, where that is sooner than usual
     */
    async sweep(): Promise<{ readonly worked: number; readonly againMs: number | null }> {
      const isMoreDead = await prune(ports);
      const { worked, isBehind } = await restored(ports);
      const counts = [
        worked,
        await lateMoney(ports, escrows),
        await lateTickets(ports),
        await closeEscrows(ports, escrows),
        await purgeDue(ports),
      ];
      return {
        worked: counts.reduce((sum, count) => sum + count, 0),
        againMs: isMoreDead || counts.some((count) => count === MOST_AT_ONCE) ? SOON_MS : isBehind ? BEHIND_MS : null,
      };
    },
  };
}

/** A cluster that does not answer keeps nothing else waiting. */
async function restored(ports: SweeperPorts): ReturnType<typeof import('./restored.ts').findRestored> {
  try {
    return await (await import('./restored.ts')).findRestored(ports);
  } catch (error) {
    if (!isProblem(error, 'cluster_failed')) throw error;
    ports.log('warn', 'chain_unread', { error_code: error.code });
    return { worked: 0, isBehind: false };
  }
}

/** Due tasks of a kind, with their intents; they are moved ahead first, so that a failing one waits its turn. */
async function take({ store, clock, options }: SweeperPorts, task: UpkeepTask): Promise<Due[]> {
  const nowMs = clock.now();
  return store.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('upkeep')
      .innerJoin('intents', 'intents.intent_id', 'upkeep.intent_id')
      .selectAll('intents')
      .select('upkeep.created_at_ms as ended_at_ms')
      .where('upkeep.task', '=', task)
      .where((due) =>
        due.or([
          due('upkeep.due_at_ms', '<=', nowMs),
          // Further ahead than any task is put: the clock was set back since.
          due('upkeep.due_at_ms', '>', nowMs + farthestMs(task, options)),
        ]),
      )
      .limit(MOST_AT_ONCE)
      .execute();
    if (rows.length > 0) {
      await tx
        .updateTable('upkeep')
        .set((column) => ({
          due_at_ms: nowMs + DAY_MS,
          attempts: column('attempts', '+', 1),
          created_at_ms: sql<number>`case when created_at_ms > ${nowMs} then ${nowMs} else created_at_ms end`,
        }))
        .where('task', '=', task)
        .where(
          'intent_id',
          'in',
          rows.map((row) => row.intent_id),
        )
        .execute();
    }
    return rows;
  });
}

const putOff = ({ store }: SweeperPorts, intents: readonly IntentRow[], task: UpkeepTask, dueAtMs: number) =>
  store
    .updateTable('upkeep')
    .set({ due_at_ms: dueAtMs })
    .where('task', '=', task)
    .where(
      'intent_id',
      'in',
      intents.map((intent) => intent.intent_id),
    )
    .execute();

const done = ({ store }: SweeperPorts, intent: IntentRow, ...tasks: UpkeepTask[]) =>
  store.deleteFrom('upkeep').where('intent_id', '=', intent.intent_id).where('task', 'in', tasks).execute();

/** One that fails must not keep the others from their turn; it is due again in a day. */
async function each(
  { log }: SweeperPorts,
  intents: readonly Due[],
  task: UpkeepTask,
  work: (intent: Due) => Promise<void>,
): Promise<number> {
  for (const intent of intents) {
    try {
      await work(intent);
    } catch (error) {
      log('warn', 'upkeep_put_off', {
        intent_id: intent.intent_id,
        task,
        error_code: isProblem(error) ? error.code : 'unexpected',
        error_name: error instanceof Error ? error.name : 'unknown',
      });
    }
  }
  return intents.length;
}

async function lateMoney(ports: SweeperPorts, escrows: Escrows): Promise<number> {
  const onChain = createChainUpkeep(ports, escrows);
  const intents = await take(ports, 'late_money');
  if (intents.length === 0) return 0;
  const nowMs = ports.clock.now();
  for (const intent of intents) {
    await putOff(ports, [intent], 'late_money', nowMs + nextLookMs(nowMs - intent.ended_at_ms));
  }
  await each(ports, await holding(ports, intents), 'late_money', (intent) => onChain.sweepLate(intent));
  return intents.length;
}

const holding = async ({ cluster }: SweeperPorts, intents: readonly Due[]): Promise<Due[]> => {
  const full = new Set((await vaultsWithMoney(cluster, intents)).map((intent) => intent.intent_id));
  return intents.filter((intent) => full.has(intent.intent_id));
};

const lateTickets = async (ports: SweeperPorts): Promise<number> =>
  each(ports, await take(ports, 'late_ticket'), 'late_ticket', async (intent) => {
    const endedForMs = ports.clock.now() - intent.ended_at_ms;
    if (await lookForLateTicket(ports, intent, endedForMs)) await done(ports, intent, 'late_ticket');
    else await putOff(ports, [intent], 'late_ticket', ports.clock.now() + nextLookMs(endedForMs));
  });

/** The end of an escrow on chain is later than that of its booking here, never earlier by more than a clock's error. */
async function closeEscrows(ports: SweeperPorts, escrows: Escrows): Promise<number> {
  return each(ports, await take(ports, 'close_escrow'), 'close_escrow', async (intent) => {
    if (ports.clock.now() < intent.ended_at_ms + CLOSE_AFTER_MS) {
      await putOff(ports, [intent], 'close_escrow', intent.ended_at_ms + CLOSE_AFTER_MS);
      return;
    }
    // What comes later goes to the refund owner all the same (docs/escrow.md, Recover): anybody may see to it.
    if (await escrows.close(intent)) await done(ports, intent, 'close_escrow', 'late_money');
  });
}

const purgeDue = async (ports: SweeperPorts): Promise<number> =>
  each(ports, await take(ports, 'purge'), 'purge', async (intent) => {
    const againAtMs = await purge(ports, intent);
    if (againAtMs === null) await done(ports, intent, 'purge');
    else await putOff(ports, [intent], 'purge', againAtMs);
  });

/** Looks often at first, when a second payment is likeliest, and daily from then on. */
const nextLookMs = (endedForMs: number): number =>
  endedForMs < HOUR_MS ? HOUR_MS / 2 : endedForMs < DAY_MS ? 6 * HOUR_MS : DAY_MS;

/** Which of the intents' vaults hold money: one call for all of them. */
async function vaultsWithMoney(cluster: FlightsPorts['cluster'], intents: readonly IntentRow[]): Promise<IntentRow[]> {
  const accounts = await cluster.accounts(intents.map((intent) => intent.vault_address as Address));
  return intents.filter((_intent, place) => {
    const account = accounts[place];
    return account?.owner === TOKEN_PROGRAM && (decodeTokenAccount(account.data)?.amount ?? 0n) > 0n;
  });
}

interface ChainUpkeep {
  /** Sends what lies in the vault of an ended escrow to the refund wallet. */
  sweepLate(intent: IntentRow): Promise<void>;
}

/** What is done on chain after an escrow has ended. Each is an effect, and safe to repeat. */
function createChainUpkeep(ports: SweeperPorts, escrows: Escrows): ChainUpkeep {
  return {
    async sweepLate(intent) {
      const { commitsTo } = await loadCommitment();
      const hasEscrow = (await escrows.read(intent)) !== null;
      const isCommitted = commitsTo(intent.intent_id, intent.refund_wallet as Address);
      if (hasEscrow || isCommitted) {
        const went = hasEscrow ? await escrows.sweep(intent) : await escrows.recover(intent);
        if (!went) ports.log('warn', 'late_money_waits_for_account', { intent_id: intent.intent_id });
        return;
      }
      // Ids of 0.1 name no refund owner: without the state account nobody can move what the vault holds.
      await ports.store
        .transaction()
        .execute((tx) =>
          ports.outbox.enqueue(tx, {
            kind: 'page',
            dedupKey: `page:vault_without_escrow:${intent.intent_id}`,
            intentId: intent.intent_id,
            event: 'vault_without_escrow',
            text: `Money was sent to the vault of ${intent.intent_id}, whose escrow does not exist.`,
            fields: { intent_id: intent.intent_id, vault: intent.vault_address },
          }),
        );
    },
  };
}

/**
 * Purges the personal data of an intent: its passengers, the mails, the words of a refund request. The intent, its
 * order and its status stay readable; they name nobody.
 * @returns null when it is done, else when to look again (epoch ms)
 */
async function purge(ports: SweeperPorts, intent: IntentRow): Promise<number | null> {
  const { store } = ports;
  const nowMs = ports.clock.now();
  const dueMs = (await endedMs(ports, intent)) + ports.options.purgeAfterDays * DAY_MS;
  if (dueMs > nowMs) return dueMs;
  const open = await store
    .selectFrom('refund_requests')
    .select('request_id')
    .where('intent_id', '=', intent.intent_id)
    .where('state', 'in', ['settling', 'received', 'approved', 'stuck'])
    .executeTakeFirst();
  // Whoever decides about it needs the customer's words, and the way to answer him.
  if (open) return nowMs + DAY_MS;
  await erasing(store, async () => {
    await ports.outbox.forget(intent.intent_id);
    await store.transaction().execute(async (tx) => {
      await tx
        .updateTable('bookings')
        .set({ passengers_sealed: '' })
        .where('intent_id', '=', intent.intent_id)
        .execute();
      await tx
        .updateTable('browser_purchases')
        .set({ contact_sealed: '' })
        .where('reference', '=', intent.intent_id)
        .execute();
      await tx
        .updateTable('refund_notes')
        .set({ text_sealed: '' })
        .where('request_id', 'in', (query) =>
          query
            .selectFrom('refund_requests')
            .select('refund_requests.request_id')
            .where('refund_requests.intent_id', '=', intent.intent_id),
        )
        .execute();
      await tx
        .updateTable('refund_requests')
        .set({ reason_sealed: '', contact_sealed: null, decision_sealed: null })
        .where('intent_id', '=', intent.intent_id)
        .execute();
    });
  });
  ports.log('info', 'personal_data_purged', { intent_id: intent.intent_id });
  return null;
}

/** When an intent was over: the refund, the last arrival, or the end of its booking. */
async function endedMs(ports: SweeperPorts, intent: IntentRow): Promise<number> {
  if (intent.status === 'refunded') return intent.refunded_at_ms ?? intent.updated_at_ms;
  if (intent.status !== 'booked') return intent.updated_at_ms;
  // Both: a schedule change may have moved either.
  const order = await createOrderBook(ports).of(intent);
  return Math.max(journeyEndMs(order.slices), journeyEndMs(lockedOffer(intent).slices));
}

const KEEP_SETTLEMENTS_MS = 7 * DAY_MS;

/** Quotes are forgotten this long after they expired. */
const KEEP_QUOTES_MS = HOUR_MS;

const QUOTES = { table: 'quotes', key: 'quote_id', at: 'expires_at_ms' } as const;

/** A quote stays as long as a payment of it is under way. */
const IS_BEING_PAID = sql<SqlBool>`exists (select 1 from settlements
  where settlements.quote_id = quotes.quote_id and settlements.state not in ('answered', 'failed'))`;

const ANSWERS = { table: 'paid_answers', key: 'payment_key', at: 'kept_at_ms' } as const;

/** Only what has not ended yet, or is kept for somebody who will ask, is older than a payment's answer may be. */
const IS_ASKED_FOR = sql<SqlBool>`exists (select 1 from settlements
  where settlements.payment_key = paid_answers.payment_key)`;

/**
 * Removes a bite of what nobody can ask for any more: dead quotes, counted searches, wrong codes, what
 * browsers saw on carriers' sites, and finished payments
 * whose answer (it can hold a support code) was kept for a week.
 * @returns whether there is more of it
 */
export async function prune(ports: Pick<FlightsPorts, 'store' | 'clock'>): Promise<boolean> {
  const { store } = ports;
  const nowMs = ports.clock.now();
  const removed = [
    await removeOld(store, COUNTED_SEARCHES, nowMs - DAY_MS),
    await removeOld(store, KEPT_SEARCHES, nowMs),
    await removeOld(store, WRONG_CODES, nowMs - 2 * DAY_MS),
    await removeOld(store, OLD_LOOKS, nowMs),
    await removeOld(store, OLD_OFFERS, nowMs),
    await removeOld(store, OLD_EVIDENCE, nowMs),
    await removeOld(store, QUOTES, nowMs - KEEP_QUOTES_MS, IS_BEING_PAID),
  ];
  const more = await pruneSettlements(ports, nowMs);
  // After the payments that they belong to.
  removed.push(await removeOld(store, ANSWERS, nowMs - KEEP_SETTLEMENTS_MS, IS_ASKED_FOR));
  return more || removed.includes(BITE);
}

/**
 * A payment that somebody still has to ask about stays: one of a booking that is not over, of an intent whose creation
 * is open, of a refund request that is being settled. It is looked at again in a week.
 */
async function pruneSettlements({ store }: Pick<FlightsPorts, 'store'>, nowMs: number): Promise<boolean> {
  const isFinished = sql<SqlBool>`settlements.state in ('answered', 'failed')`;
  const rows = await store
    .selectFrom('settlements')
    .select('payment_key')
    .where(isFinished)
    .where('updated_at_ms', '<=', nowMs - KEEP_SETTLEMENTS_MS)
    .orderBy('updated_at_ms')
    .limit(BITE)
    .execute();
  if (rows.length === 0) return false;
  const keys = rows.map((row) => row.payment_key);
  const gone = await store
    .deleteFrom('settlements')
    .where('payment_key', 'in', keys)
    .where(isFinished)
    .where(sql<SqlBool>`not exists (select 1 from bookings
      where bookings.payment_key = settlements.payment_key and bookings.state not in ('booked', 'refunded'))`)
    .where(sql<SqlBool>`not exists (select 1 from intents
      where intents.payment_key = settlements.payment_key and opened_at_ms is null and abandoned = 0)`)
    .where(sql<SqlBool>`not exists (select 1 from refund_requests
      where refund_requests.payment_key = settlements.payment_key and refund_requests.state = 'settling')`)
    .executeTakeFirst();
  if (Number(gone.numDeletedRows) < keys.length) {
    await store
      .updateTable('settlements')
      .set({ updated_at_ms: nowMs })
      .where('payment_key', 'in', keys)
      .where(isFinished)
      .execute();
  }
  return rows.length === BITE;
}
