import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Clock, instant } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { canonicalJson } from '../kernel/json.ts';
import { asInteger, formatUsdc } from '../kernel/money.ts';
import type { Secrets } from '../kernel/secrets.ts';
import { openDatabase } from '../store/open.ts';
import {
  type ClientPaymentTable,
  type ClientTables,
  clientMigrations,
  type PaymentState,
} from './store-schema.ts';

export type { PaymentState } from './store-schema.ts';

/** Who asks whom for what: the same identity, the same payment. */
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
  /** The PAYMENT-SIGNATURE header. */
  readonly payload: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly payTo: string;
  readonly network: string;
  readonly lastValidBlockHeight: bigint;
}

export interface OpenPayment {
  readonly id: string;
  readonly payload: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly network: string;
  readonly lastValidBlockHeight: bigint;
  readonly createdAtMs: number;
}

/** A payment as `farelock payments` shows it. */
export interface PaymentRecord {
  readonly payment_id: string;
  readonly state: PaymentState;
  readonly host: string;
  readonly resource: string;
  readonly wallet: string;
  /** Decimal USDC. */
  readonly amount: string;
  readonly asset: string;
  readonly pay_to: string;
  readonly network: string;
  readonly transaction: string | null;
  readonly error_code: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RememberedIntent {
  readonly intentId: string;
  readonly baseUrl: string;
  readonly supportCode: string;
  /** What was locked, for lists; null until it is described. */
  readonly summary: unknown;
  readonly createdAt: string;
}

export type IntentToRemember = Pick<RememberedIntent, 'intentId' | 'baseUrl' | 'supportCode'>;

/** The payer's journal: a payment is on the disk before it leaves. */
export interface PaymentJournal {
  /** The payment of this request that was neither answered nor given up. */
  open(identity: RequestIdentity): Promise<OpenPayment | undefined>;
  /** null when another process has just opened one for the same request: that one is to be sent. */
  write(payment: NewPayment): Promise<OpenPayment | null>;
  note(id: string, state: 'sent' | 'refused', errorCode: string | null): Promise<void>;
  /** The answer has come. The intent that it created is remembered in the same step, or neither is. */
  answered(id: string, transaction: string | null, intent: IntentToRemember | null): Promise<void>;
  close(id: string, state: 'refused' | 'abandoned', errorCode: string | null): Promise<void>;
}

export interface ClientStore extends PaymentJournal {
  /** Newest first. */
  payments(limit?: number): Promise<PaymentRecord[]>;
  payment(id: string): Promise<PaymentRecord | undefined>;
  /** Keeps the support code of an intent, sealed. Remembering again changes nothing. */
  remember(intent: IntentToRemember): Promise<void>;
  describe(intentId: string, summary: unknown): Promise<void>;
  /** Keeps the lead passenger's family name, sealed: a refund request needs it. */
  rememberLead(intentId: string, familyName: string): Promise<void>;
  leadOf(intentId: string): Promise<string | null>;
  /** Newest first. */
  intents(): Promise<RememberedIntent[]>;
  intent(intentId: string): Promise<RememberedIntent | undefined>;
  shut(): Promise<void>;
}

/** Opens the client's own database (a private file under FARELOCK_HOME). */
export async function openClientStore(ports: {
  readonly path: string;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
}): Promise<ClientStore> {
  const { secrets, clock, ids } = ports;
  const db: Kysely<ClientTables> = await openDatabase(ports.path, clientMigrations);
  const keyOf = (identity: RequestIdentity) => secrets.hmac('payment journal', canonicalJson(identity));
  const place = (column: string, id: string) => `payments.${column}.${id}`;
  const leadPlace = (intentId: string) => `intents.lead_family_name_sealed.${intentId}`;
  const codePlace = (intentId: string) => `intents.support_code_sealed.${intentId}`;

  const openFrom = (row: Selectable<ClientPaymentTable>): OpenPayment => ({
    id: row.payment_id,
    payload: secrets.decrypt(place('payload_sealed', row.payment_id), row.payload_sealed),
    amount: BigInt(row.amount),
    asset: row.asset,
    network: row.network,
    lastValidBlockHeight: BigInt(row.last_valid_block_height),
    createdAtMs: row.created_at_ms,
  });

  const keepIntent = (on: Kysely<ClientTables> | Transaction<ClientTables>, intent: IntentToRemember) =>
    on
      .insertInto('intents')
      .values({
        intent_id: intent.intentId,
        base_url: intent.baseUrl,
        support_code_sealed: secrets.encrypt(codePlace(intent.intentId), intent.supportCode),
        lead_family_name_sealed: null,
        summary: null,
        created_at_ms: clock.now(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();

  const change = (
    on: Kysely<ClientTables> | Transaction<ClientTables>,
    id: string,
    fields: Partial<Pick<ClientPaymentTable, 'state' | 'live_key' | 'transaction' | 'error_code'>>,
  ) =>
    on
      .updateTable('payments')
      .set({ ...fields, updated_at_ms: clock.now() })
      .where('payment_id', '=', id)
      .execute();

  const rememberedFrom = (row: Selectable<ClientTables['intents']>): RememberedIntent => ({
    intentId: row.intent_id,
    baseUrl: row.base_url,
    supportCode: secrets.decrypt(codePlace(row.intent_id), row.support_code_sealed),
    summary: row.summary === null ? null : JSON.parse(row.summary),
    createdAt: instant(row.created_at_ms),
  });

  return {
    async open(identity) {
      const row = await db
        .selectFrom('payments')
        .selectAll()
        .where('live_key', '=', keyOf(identity))
        .executeTakeFirst();
      return row && openFrom(row);
    },
    async write(payment) {
      const id = ids.next('pay');
      const now = clock.now();
      const row = await db
        .insertInto('payments')
        .values({
          payment_id: id,
          live_key: keyOf(payment.identity),
          state: 'signed',
          base_url: payment.identity.baseUrl,
          host: new URL(payment.identity.baseUrl).host,
          resource: payment.identity.resource,
          wallet: payment.identity.wallet,
          payload_sealed: secrets.encrypt(place('payload_sealed', id), payment.payload),
          body_sealed: secrets.encrypt(
            place('body_sealed', id),
            JSON.stringify(payment.identity.body ?? null),
          ),
          amount: asInteger(payment.amount),
          asset: payment.asset,
          pay_to: payment.payTo,
          network: payment.network,
          transaction: null,
          last_valid_block_height: asInteger(payment.lastValidBlockHeight),
          error_code: null,
          created_at_ms: now,
          updated_at_ms: now,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      return row ? openFrom(row) : null;
    },
    async note(id, state, errorCode) {
      await change(db, id, { state, error_code: errorCode });
    },
    async answered(id, transaction, intent) {
      await db.transaction().execute(async (tx) => {
        if (intent) await keepIntent(tx, intent);
        await change(tx, id, { state: 'answered', live_key: null, transaction, error_code: null });
      });
    },
    async close(id, state, errorCode) {
      await change(db, id, { state, live_key: null, error_code: errorCode });
    },
    async payments(limit = 100) {
      const rows = await db
        .selectFrom('payments')
        .selectAll()
        .orderBy('created_at_ms', 'desc')
        .orderBy('payment_id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(recordFrom);
    },
    async payment(id) {
      const row = await db.selectFrom('payments').selectAll().where('payment_id', '=', id).executeTakeFirst();
      return row && recordFrom(row);
    },
    async remember(intent) {
      await keepIntent(db, intent);
    },
    async rememberLead(intentId, familyName) {
      await db
        .updateTable('intents')
        .set({ lead_family_name_sealed: secrets.encrypt(leadPlace(intentId), familyName) })
        .where('intent_id', '=', intentId)
        .execute();
    },
    async leadOf(intentId) {
      const row = await db
        .selectFrom('intents')
        .select('lead_family_name_sealed')
        .where('intent_id', '=', intentId)
        .executeTakeFirst();
      const sealed = row?.lead_family_name_sealed ?? null;
      return sealed === null ? null : secrets.decrypt(leadPlace(intentId), sealed);
    },
    async describe(intentId, summary) {
      await db
        .updateTable('intents')
        .set({ summary: JSON.stringify(summary) })
        .where('intent_id', '=', intentId)
        .execute();
    },
    async intents() {
      const rows = await db
        .selectFrom('intents')
        .selectAll()
        .orderBy('created_at_ms', 'desc')
        .orderBy('intent_id', 'desc')
        .execute();
      return rows.map(rememberedFrom);
    },
    async intent(intentId) {
      const row = await db
        .selectFrom('intents')
        .selectAll()
        .where('intent_id', '=', intentId)
        .executeTakeFirst();
      return row && rememberedFrom(row);
    },
    shut: () => db.destroy(),
  };
}

const recordFrom = (row: Selectable<ClientPaymentTable>): PaymentRecord => ({
  payment_id: row.payment_id,
  state: row.state,
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
