import type { Address } from '@solana/kit';
import { type SqlBool, sql } from 'kysely';
import { OLD_EVIDENCE, OLD_LOOKS, OLD_OFFERS } from '../../airlines/browser/index.ts';
import { loadAddress } from '../../escrow/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { journeyEndMs } from '../../kernel/domain/ics.ts';
import { tokenIn } from '../../solana/index.ts';
import { inTurn } from '../../store/base/index.ts';
import { BITE, erasing, removeOld } from '../../store/index.ts';
import { type FlightsPorts, type IntentRow, lockedOffer, pageAlone, WRONG_CODES } from '../base/index.ts';
import {
  CLOSE_AFTER_MS,
  captureHeld,
  type Escrows,
  type EscrowTerms,
  keptOrder,
  lookForLateTicket,
  planTasks,
} from '../bookings/index.ts';
import { COUNTED_SEARCHES, KEPT_SEARCHES } from '../offers/index.ts';
import { lookForRestored } from './restored.ts';
import { type Due, done, eachTask, MOST_AT_ONCE, putOff } from './tasks.ts';

/** The pause between sweeps while work is left: short, so that it shrinks faster than it can grow. */
const SOON_MS = 1_000;

/** Works on due tasks, and removes some dead rows. @returns `againMs` if the next sweep should come early */
export async function sweep(ports: FlightsPorts, escrows: Escrows) {
  const isMoreDead = await prune(ports);
  if ((await lookForRestored(ports)) === 'behind') return { worked: 0, againMs: null };
  const counts = [
    await heldCaptures(ports, escrows),
    await unusedEscrows(ports, escrows),
    await lateMoney(ports, escrows),
    await lateTickets(ports),
    await closeEscrows(ports, escrows),
    await purgeDue(ports),
  ];
  return {
    worked: counts.reduce((sum, count) => sum + count, 0),
    againMs: isMoreDead || counts.some((count) => count === MOST_AT_ONCE) ? SOON_MS : null,
  };
}

const CAPTURE_AGAIN_MS = 10 * 60_000;

const heldCaptures = (ports: FlightsPorts, escrows: Escrows): Promise<number> =>
  eachTask(ports, 'capture', (intent) => captureHeld(ports, escrows, intent), { againMs: CAPTURE_AGAIN_MS });

/** Clears the escrow that was not used: its money goes back to the customer, and its rents to us. */
const unusedEscrows = (ports: FlightsPorts, escrows: Escrows): Promise<number> =>
  eachTask(
    ports,
    'unused_escrow',
    async (intent) => {
      const againAtMs = await escrows.clear(await escrows.other(intent));
      return againAtMs === null
        ? done(ports, intent, 'unused_escrow')
        : putOff(ports, intent, 'unused_escrow', againAtMs + MINUTE_MS);
    },
    { againMs: CAPTURE_AGAIN_MS },
  );

const lateMoney = (ports: FlightsPorts, escrows: Escrows): Promise<number> =>
  eachTask(ports, 'late_money', (intent: Place) => sweepLate(ports, escrows, intent), {
    async among(intents) {
      const nowMs = ports.clock.now();
      for (const intent of intents) {
        await putOff(ports, intent, 'late_money', nowMs + nextLookMs(nowMs - intent.ended_at_ms));
      }
      return withMoney(ports, escrows, intents);
    },
  });

const lateTickets = (ports: FlightsPorts): Promise<number> =>
  eachTask(ports, 'late_ticket', async (intent) => {
    const endedForMs = ports.clock.now() - intent.ended_at_ms;
    if (await lookForLateTicket(ports, intent, endedForMs)) await done(ports, intent, 'late_ticket');
    else await putOff(ports, intent, 'late_ticket', ports.clock.now() + nextLookMs(endedForMs));
  });

/** Closes escrows. On chain they ended before their bookings here, but for clock errors, which the margin covers. */
const closeEscrows = (ports: FlightsPorts, escrows: Escrows): Promise<number> =>
  eachTask(ports, 'close_escrow', async (intent) => {
    const closesAtMs = intent.ended_at_ms + CLOSE_AFTER_MS;
    if (ports.clock.now() < closesAtMs) return putOff(ports, intent, 'close_escrow', closesAtMs);
    // Anybody may send money that arrives later to the refund owner (docs/escrow.md, Recover).
    return (await escrows.close(intent)) && done(ports, intent, 'close_escrow', 'late_money');
  });

const purgeDue = (ports: FlightsPorts): Promise<number> =>
  eachTask(ports, 'purge', async (intent) => {
    const againAtMs = await purge(ports, intent);
    return againAtMs === null ? done(ports, intent, 'purge') : putOff(ports, intent, 'purge', againAtMs);
  });

/** Looks often at first, when a second payment is most likely, and later daily. */
const nextLookMs = (endedForMs: number): number =>
  endedForMs < HOUR_MS ? HOUR_MS / 2 : endedForMs < DAY_MS ? 6 * HOUR_MS : DAY_MS;

/** An escrow that may hold money of an ended intent: its own one, or the one of the other kind. */
type Place = Due & EscrowTerms;

/** Finds the escrows whose vaults hold money, in one call. */
async function withMoney({ cluster }: FlightsPorts, escrows: Escrows, intents: readonly Due[]): Promise<Place[]> {
  const others = await Promise.all(intents.map(async (intent) => ({ ...intent, ...(await escrows.other(intent)) })));
  const places: readonly Place[] = [...intents, ...others];
  const accounts = await cluster.accounts(places.map(({ vault_address }) => vault_address as Address));
  return places.filter((_one, at) => (tokenIn(accounts[at])?.amount ?? 0n) > 0n);
}

/** Sends the vault of an ended escrow to the refund wallet, as an effect that is safe to repeat. */
async function sweepLate(ports: FlightsPorts, escrows: Escrows, place: Place): Promise<void> {
  const { intent_id, vault_address: vault, escrow_kind, subject } = place;
  const escrow = await escrows.read(place);
  if (escrow?.state === 'open' && subject !== undefined) {
    // Opened or paid in addition to the escrow that counts.
    return inTurn(ports.store, [], (tx) => planTasks(tx, intent_id, ports.clock.now(), { unused_escrow: 0 }));
  }
  const { commitsTo } = await loadAddress();
  if (escrow || escrow_kind === 'authorized' || commitsTo(intent_id, place.refund_wallet as Address)) {
    const went = escrow ? await escrows.sweep(place) : await escrows.recover(place);
    if (!went) ports.log('warn', 'late_money_waits_for_account', { intent_id });
    return;
  }
  // Ids of 0.1 name no refund owner: without the state account, the vault's money cannot be moved.
  const text = `Money was sent to the vault of ${intent_id}, whose escrow does not exist.`;
  const fields = { intent_id, vault };
  await pageAlone(ports, 'vault_without_escrow', intent_id, { intentId: intent_id, text, fields });
}

/** Purges passengers, mails and refund requests' words. @returns when to look again (epoch ms), or null if done */
async function purge(ports: FlightsPorts, intent: IntentRow): Promise<number | null> {
  const { store } = ports;
  const { intent_id } = intent;
  const nowMs = ports.clock.now();
  const dueMs = (await endedMs(ports, intent)) + ports.options.purgeAfterDays * DAY_MS;
  if (dueMs > nowMs) return dueMs;
  const open = await store
    .selectFrom('refund_requests')
    .select('request_id')
    .where('intent_id', '=', intent_id)
    .where('state', 'in', ['settling', 'received', 'approved', 'stuck'])
    .executeTakeFirst();
  // The decision needs the customer's words and contact.
  if (open) return nowMs + DAY_MS;
  await erasing(store, async () => {
    await ports.outbox.forget(intent_id);
    await inTurn(store, [`intents:${intent_id}`], async (tx) => {
      await tx.updateTable('bookings').set({ passengers_sealed: '' }).where('intent_id', '=', intent_id).execute();
      await tx
        .updateTable('browser_purchases')
        .set({ contact_sealed: '' })
        .where('reference', '=', intent_id)
        .execute();
      await tx
        .updateTable('refund_notes')
        .set({ text_sealed: '' })
        .where('request_id', 'in', (query) =>
          query
            .selectFrom('refund_requests')
            .select('refund_requests.request_id')
            .where('refund_requests.intent_id', '=', intent_id),
        )
        .execute();
      await tx
        .updateTable('refund_requests')
        .set({ reason_sealed: '', contact_sealed: null, decision_sealed: null })
        .where('intent_id', '=', intent_id)
        .execute();
    });
  });
  ports.log('info', 'personal_data_purged', { intent_id });
  return null;
}

/** When an intent ended: its refund, its last arrival, or the end of its booking. */
async function endedMs({ store }: FlightsPorts, intent: IntentRow): Promise<number> {
  if (intent.status === 'refunded') return intent.refunded_at_ms ?? intent.updated_at_ms;
  if (intent.status !== 'booked') return intent.updated_at_ms;
  // The later of the two, as a schedule change may have moved the journey.
  const order = await keptOrder(store, intent);
  return Math.max(journeyEndMs(order.slices), journeyEndMs(lockedOffer(intent).slices));
}

const KEEP_SETTLEMENTS_MS = 7 * DAY_MS;
const KEEP_QUOTES_MS = HOUR_MS;

const QUOTES = { table: 'quotes', key: 'quote_id', at: 'expires_at_ms' } as const;

/** True while a payment of the quote is under way. A subquery for each row, as a join could read the whole journal. */
const IS_BEING_PAID = sql<SqlBool>`coalesce(
  (select settlements.state from settlements where settlements.quote_id = quotes.quote_id), 'failed')
  not in ('answered', 'failed')`;

const ANSWERS = { table: 'paid_answers', key: 'payment_key', at: 'kept_at_ms' } as const;

/** True while the answer's payment is kept. */
const IS_ASKED_FOR = sql<SqlBool>`exists (select 1 from settlements
  where settlements.payment_key = paid_answers.payment_key)`;

/** Removes a limited number of dead rows; answers of payments stay a week. @returns true if more may be left */
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
  // Runs after the removal of payments, which keep their answers.
  removed.push(await removeOld(store, ANSWERS, nowMs - KEEP_SETTLEMENTS_MS, IS_ASKED_FOR));
  return more || removed.includes(BITE);
}

/** Removes finished payments. Those that an open booking, creation or refund request needs stay another week. */
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
