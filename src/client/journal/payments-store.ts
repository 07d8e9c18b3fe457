import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { type Clock, DAY_MS, instant } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { asInteger, formatUsdc } from '../../kernel/money.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { regained } from '../../store/base/index.ts';
import { type IntentToRemember, overBudget } from '../base/index.ts';
import type { ClientPaymentTable, ClientTables } from './store-schema.ts';
import type {
  NewPayment,
  OpenPayment,
  PaymentRecord,
  PaymentsStore,
  RequestIdentity,
  SignedPayment,
} from './store-types.ts';

/** Answers as the journal keeps them: compressed, for a search is long, and sealed, for some hold a support code. */

const answerPlace = (paymentId: string) => `payments.answer_sealed.${paymentId}`;

const sealedAnswer = (secrets: Secrets, paymentId: string, body: unknown): string =>
  secrets.encrypt(
    answerPlace(paymentId),
    deflateRawSync(JSON.stringify(body ?? null), { level: 1 }).toString('base64'),
  );

const openedAnswer = (secrets: Secrets, paymentId: string, sealed: string): unknown =>
  JSON.parse(inflateRawSync(Buffer.from(secrets.decrypt(answerPlace(paymentId), sealed), 'base64')).toString('utf8'));

type Database = Kysely<ClientTables> | Transaction<ClientTables>;

/** An answer that nobody has asked for again in a week is of no use any more. */
const KEPT_MS = 7 * DAY_MS;

/** Far more than are ever signed into one escrow. */
const MOST_TO_ONE = 500;

interface PaymentsPorts {
  readonly db: Kysely<ClientTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keepIntent: (on: Database, intent: IntentToRemember) => Promise<unknown>;
}

/** The journal of payments in the client's own database. `keepIntent` joins the step that closes a payment. */
export function createPaymentsStore(ports: PaymentsPorts): PaymentsStore {
  const { db, secrets, clock, ids, keepIntent } = ports;
  const rowOf = (id: string) => db.selectFrom('payments').selectAll().where('payment_id', '=', id).executeTakeFirst();

  return {
    async open(identity) {
      const row = await db
        .selectFrom('payments')
        .selectAll()
        .where('live_key', '=', keyOf(secrets, identity))
        .executeTakeFirst();
      return row && openFrom(secrets, row);
    },
    async write(payment) {
      const { budget, identity } = payment;
      const id = ids.next('pay');
      // The write lock is taken first: two processes can't both find room for the last payment of the day.
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
    spent: (wallet, network, windowMs) => spentSince(db, wallet, network, clock.now() - windowMs),
    resent: (id) => change(db, clock, id, {}),
    async note(id, state, errorCode) {
      await change(db, clock, id, { state, error_code: errorCode });
    },
    async answered(id, { body, transaction, isReadable, intent, isKept }) {
      const sealed = isKept ? sealedAnswer(secrets, id, body) : null;
      await db.transaction().execute(async (tx) => {
        if (intent) await keepIntent(tx, intent);
        const error = isReadable ? null : 'answer_unreadable';
        await change(tx, clock, id, { state: 'answered', transaction, error_code: error });
        // Another process may have shown the same answer by now: it is not kept again.
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
    async shown(ids) {
      // A power cut may bring it back: then the same answer is shown once more.
      if (ids.length > 0) await forget(regained(db)).where('payment_id', 'in', ids).execute();
    },
    async close(id, state, errorCode) {
      await change(db, clock, id, { state, live_key: null, error_code: errorCode });
    },
    async payments(limit = 100) {
      const rows = await shownRows(db)
        .where('created_at_ms', '>', 0)
        .orderBy('created_at_ms', 'desc')
        .orderBy('payment_id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(recordFrom);
    },
    async paymentsTo(address) {
      const rows = await shownRows(db)
        .where('pay_to', '=', address)
        .orderBy('created_at_ms', 'desc')
        .orderBy('payment_id', 'desc')
        .limit(MOST_TO_ONE)
        .execute();
      return rows.map(recordFrom);
    },
    async paymentOf(transaction) {
      const row = await shownRows(db).where('transaction', '=', transaction).limit(1).executeTakeFirst();
      return row && recordFrom(row);
    },
    async payment(id) {
      const row = await shownRows(db).where('payment_id', '=', id).executeTakeFirst();
      return row && recordFrom(row);
    },
    async signedPayment(id) {
      const row = await rowOf(id);
      return row && signedFrom(secrets, row);
    },
  };
}

/** Columns of a list of payments: nothing that was signed, sent or answered is read. */
const shownRows = (db: Database) =>
  db
    .selectFrom('payments')
    .select([
      'payment_id',
      'state',
      'live_key',
      'host',
      'resource',
      'wallet',
      'amount',
      'asset',
      'pay_to',
      'network',
      'transaction',
      'error_code',
      'created_at_ms',
      'updated_at_ms',
    ])
    .select(sql<number>`answer_sealed is not null`.as('answer_kept'));

type ShownRow = Pick<
  Selectable<ClientPaymentTable>,
  Exclude<keyof ClientPaymentTable, `${string}_sealed` | 'base_url' | 'last_valid_block_height' | 'signed_at_slot'>
> & { readonly answer_kept: number };

const keyOf = (secrets: Secrets, identity: RequestIdentity) => secrets.hmac('payment journal', canonicalJson(identity));

const place = (column: string, id: string) => `payments.${column}.${id}`;

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

// A signature is money out of hand, also where the service said that it did not take it: all of them count. Those
// that a clock which was set back has left in the future count too.
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

/** Ends answers that were kept, but for those that can't be read: they would be paid for again. */
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

function signedFrom(secrets: Secrets, row: Selectable<ClientPaymentTable>): SignedPayment {
  const opened = (column: 'body_sealed' | 'headers_sealed', sealed: string): unknown =>
    JSON.parse(secrets.decrypt(place(column, row.payment_id), sealed));
  return {
    record: recordFrom({ ...row, answer_kept: row.answer_sealed === null ? 0 : 1 }),
    payment: openFrom(secrets, row),
    isOpen: isOpen(row),
    request: {
      baseUrl: row.base_url,
      resource: row.resource,
      body: opened('body_sealed', row.body_sealed),
      headers:
        row.headers_sealed === null ? null : (opened('headers_sealed', row.headers_sealed) as Record<string, string>),
    },
  };
}

const isOpen = ({ live_key, state }: Pick<ShownRow, 'live_key' | 'state'>): boolean =>
  live_key !== null && state !== 'answered';

const recordFrom = (row: ShownRow): PaymentRecord => ({
  payment_id: row.payment_id,
  state: row.state,
  open: isOpen(row),
  answer_kept: row.answer_kept === 1,
  host: row.host,
  resource: row.resource,
  wallet: row.wallet,
  amount: formatUsdc(BigInt(row.amount)),
  asset: row.asset,
  pay_to: row.pay_to,
  network: row.network,
  transaction: row.transaction,
  error_code: row.error_code,
  created_at: instant(row.created_at_ms),
  updated_at: instant(row.updated_at_ms),
});
