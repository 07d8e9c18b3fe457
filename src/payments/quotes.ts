import { sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import { type HttpResponse, json } from '../kernel/http.ts';
import type { Ids } from '../kernel/ids.ts';
import { asInteger } from '../kernel/money.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import { regained } from '../store/base/index.ts';
import { encodeHeader, PAYMENT_REQUIRED } from './headers.ts';
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

/** What x402 calls payment requirements: one way in which a call can be paid. */
export interface Requirements {
  scheme: 'exact';
  network: `${string}:${string}`;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: { feePayer: string; memo: string; quote: string; name: string; decimals: number };
}

/** A signed transaction lives as long as its blockhash, about this many seconds. */
const TRANSACTION_LIFE_S = 60;

/**
 * The requirements of a quote. `memo` names it on chain, for all to see; `quote` never reaches the chain: a client
 * repeats it in `accepted`, and only who can do that is given the answer of a payment again.
 */
export const requirementsOf = (quote: Quote, network: string, feePayer: string): Requirements => ({
  scheme: 'exact',
  network: network as `${string}:${string}`,
  asset: quote.asset,
  amount: String(quote.amount),
  payTo: quote.payTo,
  maxTimeoutSeconds: TRANSACTION_LIFE_S,
  extra: { feePayer, memo: quote.memo, quote: quote.id, name: 'USDC', decimals: 6 },
});

export interface Refusal {
  readonly code: ProblemCode & `payment_${string}`;
  readonly reason: string;
}

/**
 * The 402: its body equals the decoded header (CONTRACT, section 2). `error` starts with our code, so that a client
 * can tell "pay first" from "that payment was not accepted".
 */
export function challengeResponse(parts: {
  readonly url: string;
  readonly description: string;
  readonly requirements: Requirements;
  readonly refusal: Refusal;
}): HttpResponse {
  const required = {
    x402Version: 2,
    error: `${parts.refusal.code}: ${parts.refusal.reason}`,
    resource: { url: parts.url, description: parts.description, mimeType: 'application/json' },
    accepts: [parts.requirements],
  };
  return json(required, 402, { [PAYMENT_REQUIRED]: encodeHeader(required), 'cache-control': 'no-store' });
}
