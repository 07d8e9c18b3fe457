import { sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { asInteger } from '../kernel/money.ts';
import { regained } from '../store/regained.ts';
import type { Store } from './tables.ts';
import type { PaymentTerms } from './terms.ts';

/** A challenge that was given out: one price for one request, until it expires. */
export interface Quote {
  /** Known to the one who was challenged only. */
  readonly id: string;
  readonly resource: string;
  readonly requestDigest: string;
  readonly amount: number;
  readonly asset: string;
  readonly payTo: string;
  /** Public: it is written into the transaction. */
  readonly memo: string;
  readonly expiresAtMs: number;
}

export interface Quotes {
  give(terms: PaymentTerms, resource: string, requestDigest: string): Promise<Quote>;
  /** @param key of a payment: whether the journal knows it is asked in the same breath */
  byMemo(memo: string, key?: string | null): Promise<{ quote: Quote; isKnown: boolean } | undefined>;
}

export const QUOTE_LIFE_MS = 120_000;

export function createQuotes(ports: { store: Store; clock: Clock; ids: Ids }): Quotes {
  const { store, clock, ids } = ports;

  return {
    async give(terms, resource, requestDigest) {
      const now = clock.now();
      const quote: Quote = {
        id: ids.next('quo'),
        resource,
        requestDigest,
        amount: asInteger(typeof terms.amount === 'bigint' ? terms.amount : await terms.amount()),
        asset: terms.asset,
        payTo: terms.payTo,
        memo: ids.next('pay'),
        expiresAtMs: now + QUOTE_LIFE_MS,
      };
      // Who is asked to pay a quote that is lost is given another: nothing was signed by us.
      await regained(store)
        .insertInto('quotes')
        .values({
          quote_id: quote.id,
          resource,
          request_digest: requestDigest,
          amount: quote.amount,
          asset: quote.asset,
          pay_to: quote.payTo,
          memo: quote.memo,
          expires_at_ms: quote.expiresAtMs,
          created_at_ms: now,
        })
        .execute();
      return quote;
    },
    async byMemo(memo, key = null) {
      const row = await store
        .selectFrom('quotes')
        .selectAll()
        .select(sql<unknown>`exists (select 1 from settlements where payment_key = ${key})`.as('is_known'))
        .where('memo', '=', memo)
        .executeTakeFirst();
      return (
        row && {
          // A number or a boolean, as the database has it.
          isKnown: Boolean(Number(row.is_known)),
          quote: {
            id: row.quote_id,
            resource: row.resource,
            requestDigest: row.request_digest,
            amount: row.amount,
            asset: row.asset,
            payTo: row.pay_to,
            memo: row.memo,
            expiresAtMs: row.expires_at_ms,
          },
        }
      );
    },
  };
}
