import { type Selectable, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import { type HttpResponse, json } from '../kernel/http.ts';
import type { Ids } from '../kernel/ids.ts';
import { asInteger } from '../kernel/money.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import { regained } from '../store/base/index.ts';
import type { QuoteTable, Store } from './tables.ts';
import type { PaymentTerms } from './terms.ts';

/** Headers of x402 version 2, each base64 of JSON. */
const PAYMENT_REQUIRED = 'PAYMENT-REQUIRED';
export const PAYMENT_SIGNATURE = 'PAYMENT-SIGNATURE';
export const PAYMENT_RESPONSE = 'PAYMENT-RESPONSE';

export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

export function decodeHeader(header: string): unknown {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return undefined;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}

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
  // The client of a lost quote is given another: nothing was signed by us.
  await regained(store).insertInto('quotes').values(quote).execute();
  return quote;
}

/** @param key of a payment, looked for in the journal by the same query */
export async function quoteByMemo({ store }: { readonly store: Store }, memo: string, key: string | null) {
  const row = await store
    .selectFrom('quotes')
    .selectAll()
    .select(sql<unknown>`exists (select 1 from settlements where payment_key = ${key})`.as('is_known'))
    .where('memo', '=', memo)
    .executeTakeFirst();
  // A number or a boolean, as the database has it.
  return row && { quote: row, isKnown: Boolean(Number(row.is_known)) };
}

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

/** The requirements of a quote. `quote` never reaches the chain: only a client that repeats it gets an answer again. */
export const requirementsOf = (quote: Quote, network: string, feePayer: string): Requirements => ({
  scheme: 'exact',
  network: network as `${string}:${string}`,
  asset: quote.asset,
  amount: String(quote.amount),
  payTo: quote.pay_to,
  maxTimeoutSeconds: TRANSACTION_LIFE_S,
  extra: { feePayer, memo: quote.memo, quote: quote.quote_id, name: 'USDC', decimals: 6 },
});

export interface Refusal {
  readonly code: ProblemCode & `payment_${string}`;
  readonly reason: string;
}

/** The 402: its body equals the decoded header (CONTRACT, section 2). `error` starts with our code. */
export function challengeResponse(
  url: string,
  description: string,
  requirements: Requirements,
  { code, reason }: Refusal,
): HttpResponse {
  const required = {
    x402Version: 2,
    error: `${code}: ${reason}`,
    resource: { url, description, mimeType: 'application/json' },
    accepts: [requirements],
  };
  return json(required, 402, { [PAYMENT_REQUIRED]: encodeHeader(required), 'cache-control': 'no-store' });
}
