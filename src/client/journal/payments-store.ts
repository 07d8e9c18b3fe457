import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type InferResult, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { type Clock, DAY_MS, instant } from '../../kernel/clock.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { asInteger, formatUsdc } from '../../kernel/money.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { regained } from '../../store/base/index.ts';
import { type IntentToRemember, overBudget } from '../base/index.ts';
import type { ClientPaymentTable, ClientTables, StorePorts } from './store-schema.ts';

/** Identifies a request: equal identities are one payment. */
export interface RequestIdentity {
  readonly baseUrl: string;
  readonly resource: string;
  readonly body: unknown;
  /** Headers that decide the answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly wallet: string;
}

export interface NewPayment {
  readonly identity: RequestIdentity;
  readonly payload: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly payTo: string;
  readonly network: string;
  readonly lastValidBlockHeight: bigint;
  /** The earliest slot it can land in; null where not kept. */
  readonly signedAtSlot: bigint | null;
  /** Refuses the write if the last `windowMs`, this payment included, would exceed `limit` (atomic). */
  readonly budget?: { readonly limit: bigint; readonly windowMs: number } | undefined;
}

interface KeptAnswer {
  readonly body: unknown;
  /** The settling transaction, as the service reports it. */
  readonly transaction: string | null;
  /** False for an answer that is kept as it came, and never paid for again. */
  readonly isReadable: boolean;
}

export type PaymentsStore = ReturnType<typeof createPaymentsStore>;

/** The payer's journal, written before a payment leaves. */
export type PaymentJournal = Pick<
  PaymentsStore,
  'open' | 'write' | 'spent' | 'resent' | 'note' | 'answered' | 'shown' | 'close'
>;

type Database = Kysely<ClientTables> | Transaction<ClientTables>;

/** Answers that were not fetched expire after a week. */
const KEPT_MS = 7 * DAY_MS;

/** Far above the payments ever signed into one escrow. */
const MOST_TO_ONE = 500;

interface PaymentsPorts extends StorePorts {
  readonly keepIntent: (on: Database, intent: IntentToRemember) => Promise<unknown>;
}

/** Payments in the client's database. `keepIntent` joins the transaction that records an answer. */
export function createPaymentsStore(ports: PaymentsPorts) {
  const { db, secrets, clock, ids, keepIntent } = ports;
  return {
    async open(identity: RequestIdentity): Promise<OpenPayment | undefined> {
      const key = keyOf(secrets, identity);
      const row = await db.selectFrom('payments').selectAll().where('live_key', '=', key).executeTakeFirst();
      return row && openFrom(secrets, row);
    },
    /**
     * Writes a payment; null if another process just wrote one for the same request, which is then sent.
     * @throws Problem `daily_limit_reached` with nothing written or sent
     */
    async write(payment: NewPayment): Promise<OpenPayment | null> {
      const { budget, identity } = payment;
      const id = ids.next('pay');
      // Inserts first, for the write lock: two processes can't both take the day's last room.
      const row = await db.transaction().execute(async (tx) => {
        const written = await insert(tx, ports, payment, id);
        if (!written || budget === undefined) return written;
        const sinceMs = clock.now() - budget.windowMs;
        const spent = await spentSince(tx, identity.wallet, payment.network, sinceMs);
        if (spent > budget.limit) throw overBudget(payment.amount, spent - payment.amount, budget.limit);
        return written;
      });
      return row ? openFrom(secrets, row) : null;
    },
    /** Atomic units the wallet signed on the network in the last `windowMs`, whatever their outcome. */
    spent: (wallet: string, network: string, windowMs: number): Promise<bigint> =>
      spentSince(db, wallet, network, clock.now() - windowMs),
    /** Waits for the disk before a resend, since another process may have signed a moment ago. */
    resent: (id: string): Promise<void> => change(db, clock, id, {}),
    note: (id: string, state: 'sent' | 'refused', errorCode: string | null): Promise<void> =>
      change(db, clock, id, { state, error_code: errorCode }),
    /**
     * Keeps an answer until it is shown, with an intent that it created.
     * @param answer `isKept` is false if it is too old, or free to fetch again
     */
    async answered(
      id: string,
      answer: KeptAnswer & { readonly intent: IntentToRemember | null; readonly isKept: boolean },
    ): Promise<void> {
      const { body, transaction, isReadable, intent, isKept } = answer;
      const sealed = isKept ? sealedAnswer(secrets, id, body) : null;
      await db.transaction().execute(async (tx) => {
        if (intent) await keepIntent(tx, intent);
        const error = isReadable ? null : 'answer_unreadable';
        await change(tx, clock, id, { state: 'answered', transaction, error_code: error });
        // Another process may already have shown it.
        await tx
          .updateTable('payments')
          .set(sealed === null ? { live_key: null } : { answer_sealed: sealed })
          .where('payment_id', '=', id)
          .where('live_key', '>', '')
          .execute();
        await forget(tx)
          .where('updated_at_ms', '<', clock.now() - KEPT_MS)
          .execute();
      });
    },
    /** Ends payments whose answers were shown; unreadable ones stay. */
    async shown(ids: readonly string[]): Promise<void> {
      // A power cut may undo this; then the same answer is shown twice.
      if (ids.length > 0) await forget(regained(db)).where('payment_id', 'in', ids).execute();
    },
    close: (id: string, state: 'refused' | 'abandoned', errorCode: string | null): Promise<void> =>
      change(db, clock, id, { state, live_key: null, error_code: errorCode }),
    async payments(limit = 100): Promise<PaymentRecord[]> {
      return (await newest(db, limit).where('created_at_ms', '>', 0).execute()).map(recordFrom);
    },
    async paymentsTo(address: string): Promise<PaymentRecord[]> {
      return (await newest(db, MOST_TO_ONE).where('pay_to', '=', address).execute()).map(recordFrom);
    },
    async paymentOf(transaction: string): Promise<PaymentRecord | undefined> {
      const row = await shownRows(db).where('transaction', '=', transaction).limit(1).executeTakeFirst();
      return row && recordFrom(row);
    },
    async payment(id: string): Promise<PaymentRecord | undefined> {
      const row = await shownRows(db).where('payment_id', '=', id).executeTakeFirst();
      return row && recordFrom(row);
    },
    async signedPayment(id: string): Promise<SignedPayment | undefined> {
      const row = await db.selectFrom('payments').selectAll().where('payment_id', '=', id).executeTakeFirst();
      return row && signedFrom(secrets, row);
    },
  };
}

/** Columns of lists, without signed, sent or answered data. */
const shownRows = (db: Database) =>
  db
    .selectFrom('payments')
    .select(['payment_id', 'state', 'live_key', 'host', 'resource', 'wallet', 'amount', 'asset', 'pay_to', 'network'])
    .select(['transaction', 'error_code', 'created_at_ms', 'updated_at_ms'])
    .select(sql<number>`answer_sealed is not null`.as('answer_kept'));

const newest = (db: Database, limit: number) =>
  shownRows(db).orderBy('created_at_ms', 'desc').orderBy('payment_id', 'desc').limit(limit);

type ShownRow = InferResult<ReturnType<typeof shownRows>>[number];

const keyOf = (secrets: Secrets, identity: RequestIdentity) => secrets.hmac('payment journal', canonicalJson(identity));

const place = (column: string, id: string) => `payments.${column}.${id}`;

/** Compresses answers, as searches are long, and seals them for their support codes. */
const sealedAnswer = (secrets: Secrets, id: string, body: unknown): string =>
  secrets.encrypt(
    place('answer_sealed', id),
    deflateRawSync(JSON.stringify(body ?? null), { level: 1 }).toString('base64'),
  );

function openedAnswer(secrets: Secrets, id: string, sealed: string): unknown {
  const packed = Buffer.from(secrets.decrypt(place('answer_sealed', id), sealed), 'base64');
  return JSON.parse(inflateRawSync(packed).toString('utf8'));
}

export interface OpenPayment extends Pick<NewPayment, 'payload' | 'amount' | 'asset' | 'network' | 'signedAtSlot'> {
  readonly id: string;
  readonly lastValidBlockHeight: bigint;
  readonly createdAtMs: number;
  /** An answer that was not shown yet. */
  readonly answer?: KeptAnswer | undefined;
}

const openFrom = (secrets: Secrets, row: Selectable<ClientPaymentTable>): OpenPayment => ({
  id: row.payment_id,
  payload: secrets.decrypt(place('payload_sealed', row.payment_id), row.payload_sealed),
  amount: BigInt(row.amount),
  asset: row.asset,
  network: row.network,
  lastValidBlockHeight: BigInt(row.last_valid_block_height),
  signedAtSlot: row.signed_at_slot === null ? null : BigInt(row.signed_at_slot),
  createdAtMs: row.created_at_ms,
  ...(row.answer_sealed !== null && {
    answer: {
      body: openedAnswer(secrets, row.payment_id, row.answer_sealed),
      transaction: row.transaction,
      isReadable: row.error_code === null,
    },
  }),
});

async function change(
  on: Database,
  clock: Clock,
  id: string,
  fields: Partial<Pick<ClientPaymentTable, 'state' | 'live_key' | 'transaction' | 'error_code'>>,
): Promise<void> {
  await on
    .updateTable('payments')
    .set({ ...fields, updated_at_ms: clock.now() })
    .where('payment_id', '=', id)
    .execute();
}

// Counts every signature, even a refused one or one that a wrong clock dated in the future: signed money is out of
// hand.
async function spentSince(on: Database, wallet: string, network: string, sinceMs: number): Promise<bigint> {
  const row = await on
    .selectFrom('payments')
    .select(sql<number | null>`sum(amount)`.as('spent'))
    .where('wallet', '=', wallet)
    .where('network', '=', network)
    .where('created_at_ms', '>', sinceMs)
    .executeTakeFirst();
  return BigInt(row?.spent ?? 0);
}

/** Ends kept answers except unreadable ones, which would be paid for again. */
const forget = (on: Database) =>
  on
    .updateTable('payments')
    .set({ live_key: null, answer_sealed: null })
    .where('live_key', '>', '')
    .where('state', '=', 'answered')
    .where('error_code', 'is', null);

const insert = (on: Database, { secrets, clock }: PaymentsPorts, payment: NewPayment, id: string) => {
  const { identity } = payment;
  const now = clock.now();
  const sealed = (column: string, clear: string) => secrets.encrypt(place(column, id), clear);
  return on
    .insertInto('payments')
    .values({
      payment_id: id,
      live_key: keyOf(secrets, identity),
      state: 'signed',
      base_url: identity.baseUrl,
      host: new URL(identity.baseUrl).host,
      resource: identity.resource,
      wallet: identity.wallet,
      payload_sealed: sealed('payload_sealed', payment.payload),
      body_sealed: sealed('body_sealed', JSON.stringify(identity.body ?? null)),
      headers_sealed: sealed('headers_sealed', JSON.stringify(identity.headers)),
      answer_sealed: null,
      amount: asInteger(payment.amount),
      asset: payment.asset,
      pay_to: payment.payTo,
      network: payment.network,
      transaction: null,
      last_valid_block_height: asInteger(payment.lastValidBlockHeight),
      signed_at_slot: payment.signedAtSlot === null ? null : asInteger(payment.signedAtSlot),
      error_code: null,
      created_at_ms: now,
      updated_at_ms: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
};

export type SignedPayment = ReturnType<typeof signedFrom>;

function signedFrom(secrets: Secrets, row: Selectable<ClientPaymentTable>) {
  const opened = (column: 'body_sealed' | 'headers_sealed', sealed: string): unknown =>
    JSON.parse(secrets.decrypt(place(column, row.payment_id), sealed));
  const { headers_sealed: headers } = row;
  return {
    record: recordFrom({ ...row, answer_kept: row.answer_sealed === null ? 0 : 1 }),
    payment: openFrom(secrets, row),
    isOpen: isOpen(row),
    request: {
      baseUrl: row.base_url,
      resource: row.resource,
      body: opened('body_sealed', row.body_sealed),
      /** Null in payments of older versions. */
      headers: headers === null ? null : (opened('headers_sealed', headers) as Readonly<Record<string, string>>),
    },
  };
}

const isOpen = ({ live_key, state }: Pick<ShownRow, 'live_key' | 'state'>): boolean =>
  live_key !== null && state !== 'answered';

/** The view of `farelock payments`. */
export type PaymentRecord = Readonly<ReturnType<typeof recordFrom>>;

const recordFrom = (row: ShownRow) => ({
  payment_id: row.payment_id,
  state: row.state,
  /** Unanswered: the same command or `payments resume` resends it. */
  open: isOpen(row),
  /** Answered but not shown: the same command or `payments resume` shows it for free. */
  answer_kept: row.answer_kept === 1,
  host: row.host,
  resource: row.resource,
  wallet: row.wallet,
  /** Decimal USDC. */
  amount: formatUsdc(BigInt(row.amount)),
  asset: row.asset,
  pay_to: row.pay_to,
  network: row.network,
  transaction: row.transaction,
  error_code: row.error_code,
  created_at: instant(row.created_at_ms),
  updated_at: instant(row.updated_at_ms),
});
