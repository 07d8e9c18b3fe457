import { type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { payoutMemo, payoutMemoWithId, subjectsOf } from '../../kernel/domain/payout-names.ts';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { regained } from '../../store/base/index.ts';
import { markOnce, openDatabase, RING_PURPOSE } from '../../store/index.ts';
import type { IntentTerms, IntentToRemember, RememberedIntent } from '../base/index.ts';
import { createPaymentsStore } from './payments-store.ts';
import { type ClientTables, clientMigrations, type StorePorts } from './store-schema.ts';
import type { TravellerFields } from './travellers.ts';

const KEY_RING = 'key_ring';

export type ClientStore = Awaited<ReturnType<typeof openClientStore>>;

/**
 * Opens the private database under FARELOCK_HOME.
 * @throws Problem `database_of_another_home` (sealed with another key ring), `database_newer`, and those of storage
 */
export async function openClientStore({ path, ...rest }: Omit<StorePorts, 'db'> & { readonly path: string }) {
  const { secrets, clock } = rest;
  const db: Kysely<ClientTables> = await openDatabase(path, clientMigrations);
  const ports: StorePorts = { db, ...rest };
  const ring = secrets.hmac(RING_PURPOSE, '');
  if ((await markOnce(db, KEY_RING, ring)) !== ring) {
    await db.destroy();
    throw problem('database_of_another_home', {
      message: `${path} was sealed with another key ring than keys/client.json.`,
      fix: 'Put keys/client.json back from a backup: without it support codes and travellers cannot be read.',
      next: [farelock`doctor`],
    });
  }
  const keepIntent = async (on: Kysely<ClientTables> | Transaction<ClientTables>, intent: IntentToRemember) => {
    const { intentId, terms } = intent;
    await on
      .insertInto('intents')
      .values({
        intent_id: intentId,
        base_url: intent.baseUrl,
        support_code_sealed: secrets.encrypt(place('support_code_sealed', intentId), intent.supportCode),
        lead_family_name_sealed: null,
        summary: null,
        terms_sealed: terms === null ? null : secrets.encrypt(place('terms_sealed', intentId), JSON.stringify(terms)),
        escrow_address: terms?.escrow?.address ?? '',
        created_at_ms: clock.now(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  };
  return {
    ...createPaymentsStore({ ...ports, keepIntent }),
    ...typedPassengers(ports),
    ...notedIntents(ports),
    /** Keeps an intent's sealed support code; repeating changes nothing. */
    async remember(intent: IntentToRemember): Promise<void> {
      await forgetEnded(ports);
      await keepIntent(db, intent);
    },
    /** Keeps the lead's sealed family name, which a refund request needs. */
    async rememberLead(intentId: string, familyName: string): Promise<void> {
      const sealed = secrets.encrypt(place('lead_family_name_sealed', intentId), familyName);
      // Not synced: the next payment takes it to the disk.
      await updateIntent(regained(db), intentId).set({ lead_family_name_sealed: sealed }).execute();
    },
    leadOf: (intentId: string): Promise<string | null> => openedOf(ports, intentId, 'lead_family_name_sealed'),
    async describe(intentId: string, summary: unknown): Promise<void> {
      await updateIntent(db, intentId)
        .set({ summary: JSON.stringify(summary) })
        .execute();
    },
    async intent(intentId: string): Promise<RememberedIntent | undefined> {
      const row = await db.selectFrom('intents').selectAll().where('intent_id', '=', intentId).executeTakeFirst();
      if (!row) return undefined;
      const supportCode = secrets.decrypt(place('support_code_sealed', intentId), row.support_code_sealed);
      return { ...notedFrom(row), supportCode, terms: termsIn(secrets, row) };
    },
    travellers: async () => (await import('./travellers.ts')).createTravellers(ports),
    watches: async () => (await import('./watches.ts')).createWatches(ports),
    shut: () => db.destroy(),
  };
}

type Sealed = 'lead_family_name_sealed' | 'support_code_sealed' | 'terms_sealed' | 'typed_sealed';

const place = (column: Sealed, intentId: string) => `intents.${column}.${intentId}`;

const updateIntent = (db: Kysely<ClientTables>, intentId: string) =>
  db.updateTable('intents').where('intent_id', '=', intentId);

async function openedOf({ db, secrets }: StorePorts, intentId: string, column: Sealed): Promise<string | null> {
  const row = await db.selectFrom('intents').select(column).where('intent_id', '=', intentId).executeTakeFirst();
  const sealed = row?.[column] ?? null;
  return sealed === null ? null : secrets.decrypt(place(column, intentId), sealed);
}

const termsIn = (
  secrets: Secrets,
  { intent_id: id, terms_sealed: sealed }: Pick<Selectable<ClientTables['intents']>, 'intent_id' | 'terms_sealed'>,
): IntentTerms | null =>
  sealed === null ? null : (JSON.parse(secrets.decrypt(place('terms_sealed', id), sealed)) as IntentTerms);

/** Forgets typed passengers of ended locks. */
const forgetEnded = ({ db, clock }: StorePorts) =>
  db
    .updateTable('intents')
    .set({ typed_sealed: null, typed_until_ms: null })
    .where('typed_until_ms', '<=', clock.now())
    .execute();

const typedPassengers = (ports: StorePorts) => ({
  /** Keeps typed passengers; an empty list forgets them. Intents made elsewhere keep none. */
  async keepTyped(intentId: string, typed: readonly TravellerFields[], untilMs: number): Promise<void> {
    await forgetEnded(ports);
    const kept = updateIntent(ports.db, intentId);
    if (typed.length === 0) {
      const nothing = { typed_sealed: null, typed_until_ms: null };
      // Skips unchanged rows, which would wait for the disk.
      await kept.set(nothing).where('typed_sealed', 'is not', null).execute();
      return;
    }
    const sealed = ports.secrets.encrypt(place('typed_sealed', intentId), JSON.stringify(typed));
    await kept.set({ typed_sealed: sealed, typed_until_ms: untilMs }).execute();
  },
  async typed(intentId: string): Promise<TravellerFields[]> {
    await forgetEnded(ports);
    return JSON.parse((await openedOf(ports, intentId, 'typed_sealed')) ?? '[]');
  },
});

const BITE = 200;

/** Spelled as in the indexes (store-schema.ts), to use them. */
const COLUMNS = {
  order: sql<string>`json_extract(summary, '$.order_id')`,
  offer: sql<string>`json_extract(summary, '$.offer_id')`,
  escrow: sql<string>`escrow_address`,
};
const IS_OPEN = sql<SqlBool>`coalesce(json_extract(summary, '$.status'), '') not in ('booked', 'refunded')`;

/** Finds intents by clear fields, without opening sealed ones. */
function notedIntents({ db, secrets }: StorePorts) {
  const all = () => db.selectFrom('intents').select(['intent_id', 'base_url', 'summary', 'created_at_ms']);

  /** Copies the escrow out of older intents' sealed terms, once. */
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
        for (const row of rows) {
          const escrow_address = termsIn(secrets, row)?.escrow?.address ?? '';
          await updateIntent(tx, row.intent_id).set({ escrow_address }).execute();
        }
      });
    }
  }

  return {
    /** A service's newest intents for lists; `open`: neither booked nor refunded when last seen. */
    async noted(query: {
      readonly baseUrl: string;
      readonly limit: number;
      readonly open?: boolean;
      readonly sinceMs?: number;
    }): Promise<NotedIntent[]> {
      const rows = await all()
        .where('base_url', '=', query.baseUrl)
        .where('created_at_ms', '>=', query.sinceMs ?? 0)
        .$if(query.open ?? false, (those) => those.where(IS_OPEN))
        .orderBy('created_at_ms', 'desc')
        .orderBy('intent_id', 'desc')
        .limit(query.limit)
        .execute();
      return rows.map(notedFrom);
    },
    async notedOf(what: {
      readonly by: keyof typeof COLUMNS;
      readonly is: readonly string[];
    }): Promise<NotedIntent | undefined> {
      if (what.by === 'escrow') await noteEscrows();
      const row = await all()
        .where(sql<SqlBool>`${COLUMNS[what.by]} in (${sql.join(what.is)})`)
        .orderBy('created_at_ms', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && notedFrom(row);
    },
    /** Finds the intents of on-chain pay-outs by their memos. */
    async notedPaidOut(memos: readonly string[]): Promise<ReadonlyMap<string, NotedIntent>> {
      const wanted = new Set(memos);
      const found = new Map<string, NotedIntent>();
      for (let last = ''; found.size < wanted.size; ) {
        const rows = await all().where('intent_id', '>', last).orderBy('intent_id').limit(BITE).execute();
        for (const row of rows) {
          for (const memo of subjectsOf(row.intent_id, countIn(row)).flatMap(memosOf))
            if (wanted.has(memo)) found.set(memo, notedFrom(row));
        }
        if (rows.length < BITE) break;
        last = rows.at(-1)?.intent_id ?? last;
      }
      return found;
    },
  };
}

const memosOf = (subject: string): string[] => [payoutMemo(subject), payoutMemoWithId(subject)];

/** Number of travellers in an intent's summary, which leaves out the number 1. */
const countIn = ({ summary }: Pick<Selectable<ClientTables['intents']>, 'summary'>): number =>
  Number((summary === null ? null : (JSON.parse(summary) as { passengers?: unknown }))?.passengers ?? 1);

/** An intent without sealed fields. */
export type NotedIntent = Pick<RememberedIntent, 'intentId' | 'baseUrl' | 'summary' | 'createdAt'>;

const notedFrom = (
  row: Pick<Selectable<ClientTables['intents']>, 'intent_id' | 'base_url' | 'summary' | 'created_at_ms'>,
): NotedIntent => ({
  intentId: row.intent_id,
  baseUrl: row.base_url,
  summary: row.summary === null ? null : JSON.parse(row.summary),
  createdAt: instant(row.created_at_ms),
});
