import { type Kysely, type SqlBool, sql } from 'kysely';
import { payoutMemo, payoutMemoWithId } from '../../domain/payout-memo.ts';
import { instant } from '../../kernel/clock.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { ClientTables } from './store-schema.ts';
import type { ClientStore, IntentTerms, NotedIntent } from './store-types.ts';

export const termsPlace = (intentId: string) => `intents.terms_sealed.${intentId}`;

/** Opened at a time, of those that an older version has written. */
const BITE = 200;

/** In the words of the indexes over them (store-schema.ts). */
const ORDER = sql<string>`json_extract(summary, '$.order_id')`;
const OFFER = sql<string>`json_extract(summary, '$.offer_id')`;
const IS_OPEN = sql<SqlBool>`coalesce(json_extract(summary, '$.status'), '') not in ('booked', 'refunded')`;

/** Looks for intents by what is written down in clear: nothing sealed is opened that is not asked for. */
export function createNotedIntents({
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
          const terms =
            sealed === null ? null : (JSON.parse(secrets.decrypt(termsPlace(id), sealed)) as IntentTerms);
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
