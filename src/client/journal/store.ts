import { type Insertable, type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import { type Clock, instant } from '../../kernel/clock.ts';
import { payoutMemo, payoutMemoWithId } from '../../kernel/domain/payout-memo.ts';
import type { Ids } from '../../kernel/ids.ts';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { regained } from '../../store/base/index.ts';
import { markOnce, openDatabase, RING_PURPOSE } from '../../store/index.ts';
import type { IntentTerms, IntentToRemember, RememberedIntent } from '../base/index.ts';
import { createPaymentsStore } from './payments-store.ts';
import { type ClientTables, clientMigrations } from './store-schema.ts';
import type { ClientStore, NotedIntent } from './store-types.ts';

export type {
  ClientStore,
  KeptAnswer,
  NewAnswer,
  NewPayment,
  NotedIntent,
  OpenPayment,
  PaymentJournal,
  PaymentRecord,
  PaymentState,
  PaymentsStore,
  RequestIdentity,
  SignedPayment,
  SpendingBudget,
} from './store-types.ts';

/** The mark of the key ring that seals the rows. */
const KEY_RING = 'key_ring';

/**
 * Opens the client's own database (a private file under FARELOCK_HOME).
 * @throws Problem `database_of_another_home`: its rows were sealed with another key ring; `database_newer`; of storage
 */
export async function openClientStore(ports: {
  readonly path: string;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
}): Promise<ClientStore> {
  const { secrets, clock, ids } = ports;
  const db: Kysely<ClientTables> = await openDatabase(ports.path, clientMigrations);
  const ring = secrets.hmac(RING_PURPOSE, '');
  if ((await markOnce(db, KEY_RING, ring)) !== ring) {
    await db.destroy();
    throw problem('database_of_another_home', {
      message: `${ports.path} was sealed with another key ring than keys/client.json.`,
      fix: 'Put keys/client.json back from a backup: without it support codes and travellers cannot be read.',
      next: ['farelock doctor'],
    });
  }
  const keepIntent = async (on: Kysely<ClientTables> | Transaction<ClientTables>, intent: IntentToRemember) => {
    await on
      .insertInto('intents')
      .values(rowOf(secrets, intent, clock.now()))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  };

  const typed = createTypedStore({ db, secrets, clock });
  return {
    ...createPaymentsStore({ db, secrets, clock, ids, keepIntent }),
    keepTyped: typed.keepTyped,
    typed: typed.typed,
    async remember(intent) {
      await typed.forgetEnded();
      await keepIntent(db, intent);
    },
    async rememberLead(intentId, familyName) {
      // The payment that comes next takes it to the disk.
      await regained(db)
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
    ...createNotedIntents({ db, secrets }),
    async intent(intentId) {
      const row = await db.selectFrom('intents').selectAll().where('intent_id', '=', intentId).executeTakeFirst();
      return row && rememberedFrom(secrets, row);
    },
    travellers: async () => (await import('./travellers.ts')).createTravellers({ db, secrets, clock, ids }),
    shut: () => db.destroy(),
  };
}

const leadPlace = (intentId: string) => `intents.lead_family_name_sealed.${intentId}`;
const codePlace = (intentId: string) => `intents.support_code_sealed.${intentId}`;

const rowOf = (
  secrets: Secrets,
  { intentId, baseUrl, supportCode, terms }: IntentToRemember,
  nowMs: number,
): Insertable<ClientTables['intents']> => ({
  intent_id: intentId,
  base_url: baseUrl,
  support_code_sealed: secrets.encrypt(codePlace(intentId), supportCode),
  lead_family_name_sealed: null,
  summary: null,
  terms_sealed: terms === null ? null : secrets.encrypt(termsPlace(intentId), JSON.stringify(terms)),
  escrow_address: terms?.escrow?.address ?? '',
  created_at_ms: nowMs,
});

const rememberedFrom = (secrets: Secrets, row: Selectable<ClientTables['intents']>): RememberedIntent => ({
  intentId: row.intent_id,
  baseUrl: row.base_url,
  supportCode: secrets.decrypt(codePlace(row.intent_id), row.support_code_sealed),
  summary: row.summary === null ? null : JSON.parse(row.summary),
  terms:
    row.terms_sealed === null
      ? null
      : (JSON.parse(secrets.decrypt(termsPlace(row.intent_id), row.terms_sealed)) as IntentTerms),
  createdAt: instant(row.created_at_ms),
});

const place = (intentId: string) => `intents.typed_sealed.${intentId}`;

/** Passengers as a person has typed them, sealed, for as long as their lock lives. */
function createTypedStore({
  db,
  secrets,
  clock,
}: {
  readonly db: Kysely<ClientTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
}): Pick<ClientStore, 'keepTyped' | 'typed'> & { forgetEnded(): Promise<void> } {
  /** What was typed for a lock that has ended is of no use any more. */
  const forgetEnded = async () => {
    await db
      .updateTable('intents')
      .set({ typed_sealed: null, typed_until_ms: null })
      .where('typed_until_ms', '<=', clock.now())
      .execute();
  };
  return {
    forgetEnded,
    async keepTyped(intentId, typed, untilMs) {
      await forgetEnded();
      const kept = db.updateTable('intents').where('intent_id', '=', intentId);
      if (typed.length === 0) {
        const nothing = { typed_sealed: null, typed_until_ms: null };
        // A row that stays what it is would be written, and waited for.
        await kept.set(nothing).where('typed_sealed', 'is not', null).execute();
        return;
      }
      const sealed = secrets.encrypt(place(intentId), JSON.stringify(typed));
      await kept.set({ typed_sealed: sealed, typed_until_ms: untilMs }).execute();
    },
    async typed(intentId) {
      await forgetEnded();
      const row = await db
        .selectFrom('intents')
        .select('typed_sealed')
        .where('intent_id', '=', intentId)
        .executeTakeFirst();
      const sealed = row?.typed_sealed ?? null;
      return sealed === null ? [] : JSON.parse(secrets.decrypt(place(intentId), sealed));
    },
  };
}

const termsPlace = (intentId: string) => `intents.terms_sealed.${intentId}`;

/** Opened at a time, of those that an older version has written. */
const BITE = 200;

/** In the words of the indexes over them (store-schema.ts). */
const ORDER = sql<string>`json_extract(summary, '$.order_id')`;

const OFFER = sql<string>`json_extract(summary, '$.offer_id')`;
const IS_OPEN = sql<SqlBool>`coalesce(json_extract(summary, '$.status'), '') not in ('booked', 'refunded')`;

/** Looks for intents by what is written down in clear: nothing sealed is opened that is not asked for. */
function createNotedIntents({
  db,
  secrets,
}: {
  readonly db: Kysely<ClientTables>;
  readonly secrets: Secrets;
}): Pick<ClientStore, 'noted' | 'notedOf' | 'notedPaidOut'> {
  const all = () => db.selectFrom('intents').select(['intent_id', 'base_url', 'summary', 'created_at_ms']);

  /** Intents of older versions have their escrow in their sealed terms alone: it is written beside them once. */
  async function noteEscrows(): Promise<void> {
    for (;;) {
      const rows = await db
        .selectFrom('intents')
        .select(['intent_id', 'terms_sealed'])
        .where('escrow_address', 'is', null)
        .limit(BITE)
        .execute();
      if (rows.length === 0) return;
      await db.transaction().execute(async (tx) => {
        for (const { intent_id: id, terms_sealed: sealed } of rows) {
          const terms = sealed === null ? null : (JSON.parse(secrets.decrypt(termsPlace(id), sealed)) as IntentTerms);
          await tx
            .updateTable('intents')
            .set({ escrow_address: terms?.escrow?.address ?? '' })
            .where('intent_id', '=', id)
            .execute();
        }
      });
    }
  }

  return {
    async noted({ baseUrl, limit, open = false, sinceMs = 0 }) {
      const rows = await all()
        .where('base_url', '=', baseUrl)
        .where('created_at_ms', '>=', sinceMs)
        .$if(open, (query) => query.where(IS_OPEN))
        .orderBy('created_at_ms', 'desc')
        .orderBy('intent_id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(notedFrom);
    },
    async notedOf(what) {
      if (what.by === 'escrow') await noteEscrows();
      const column = { order: ORDER, offer: OFFER, escrow: sql<string>`escrow_address` }[what.by];
      const row = await all()
        .where(sql<SqlBool>`${column} in (${sql.join(what.is)})`)
        .orderBy('created_at_ms', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && notedFrom(row);
    },
    async notedPaidOut(memos) {
      const wanted = new Set(memos);
      const found = new Map<string, NotedIntent>();
      for (let last = ''; found.size < wanted.size; ) {
        const rows = await all().where('intent_id', '>', last).orderBy('intent_id').limit(BITE).execute();
        for (const row of rows) {
          for (const memo of [payoutMemo(row.intent_id), payoutMemoWithId(row.intent_id)])
            if (wanted.has(memo)) found.set(memo, notedFrom(row));
        }
        if (rows.length < BITE) break;
        last = rows.at(-1)?.intent_id ?? last;
      }
      return found;
    },
  };
}

const notedFrom = (row: {
  readonly intent_id: string;
  readonly base_url: string;
  readonly summary: string | null;
  readonly created_at_ms: number;
}): NotedIntent => ({
  intentId: row.intent_id,
  baseUrl: row.base_url,
  summary: row.summary === null ? null : JSON.parse(row.summary),
  createdAt: instant(row.created_at_ms),
});
