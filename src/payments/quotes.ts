import { type Selectable, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { asInteger } from '../kernel/money.ts';
import { regained } from '../store/base/index.ts';
import type { QuoteTable, Store } from './tables.ts';
import type { PaymentTerms } from './terms.ts';

/** A challenge: one price for one request until it expires. Its id is the client's secret; its memo is public. */
export type Quote = Selectable<QuoteTable>;

export const QUOTE_LIFE_MS = 120_000;

export async function giveQuote(
  { store, clock, ids }: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  terms: PaymentTerms,
  resource: string,
  requestDigest: string,
): Promise<Quote> {
  const nowMs = clock.now();
  const quote: Quote = {
    quote_id: ids.next('quo'),
    resource,
    request_digest: requestDigest,
    amount: asInteger(typeof terms.amount === 'bigint' ? terms.amount : await terms.amount()),
    asset: terms.asset,
    pay_to: terms.payTo,
    memo: ids.next('pay'),
    expires_at_ms: nowMs + QUOTE_LIFE_MS,
    created_at_ms: nowMs,
  };
  // If a power cut loses the quote, the client gets another: we have signed nothing yet.
  await regained(store).insertInto('quotes').values(quote).execute();
  return quote;
}

/** @param key of a payment, which the same query looks up in the journal */
export async function quoteByMemo({ store }: { readonly store: Store }, memo: string, key: string | null) {
  const row = await store
    .selectFrom('quotes')
    .selectAll()
    .select(sql<unknown>`exists (select 1 from settlements where payment_key = ${key})`.as('is_known'))
    .where('memo', '=', memo)
    .executeTakeFirst();
  // SQLite has a number, PostgreSQL a boolean.
  return row && { quote: row, isKnown: Boolean(Number(row.is_known)) };
}
