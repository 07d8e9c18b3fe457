import { type HttpResponse, json } from '../kernel/http.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import { encodeHeader, PAYMENT_REQUIRED } from './headers.ts';
import type { Quote } from './quotes.ts';

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
