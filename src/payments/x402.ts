import type { HttpHeaders } from '../kernel/http.ts';
import type { Signer } from '../solana/index.ts';
import { declared, receiptOf } from './extensions.ts';
import type { Demand, Offer, Protocol } from './protocol.ts';

/** Headers of x402 version 2, each base64 of JSON. */
const PAYMENT_REQUIRED = 'payment-required';
const PAYMENT_SIGNATURE = 'payment-signature';
const PAYMENT_RESPONSE = 'payment-response';

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

export const requirementsOf = ({ quote, network, feePayer }: Demand): Requirements => ({
  scheme: 'exact',
  network: network as `${string}:${string}`,
  asset: quote.asset,
  amount: String(quote.amount),
  payTo: quote.pay_to,
  maxTimeoutSeconds: TRANSACTION_LIFE_S,
  extra: { feePayer, memo: quote.memo, quote: quote.quote_id, name: 'USDC', decimals: 6 },
});

/** x402 version 2, `exact` on Solana. The body of a 402 is its own: it equals the decoded header (CONTRACT, section 2). */
export const x402: Protocol = {
  name: 'x402',
  isIn: (headers) => PAYMENT_SIGNATURE in headers,
  async read(headers) {
    const { readPayload } = await import('./x402-payload.ts');
    const { accepted, ...sent } = readPayload(headers[PAYMENT_SIGNATURE] ?? '');
    const quoteId = typeof accepted.extra?.quote === 'string' ? accepted.extra.quote : null;
    return {
      ...sent,
      protocol: x402,
      quoteId,
      agreesTo(demand) {
        const wanted = requirementsOf(demand);
        const names = ['scheme', 'network', 'asset', 'amount', 'payTo'] as const;
        return names.every((name) => accepted[name] === wanted[name]) && quoteId === wanted.extra.quote;
      },
    };
  },
  async challenge(offer, headers, { feePayer }) {
    const body = requiredBy(offer, headers, feePayer);
    return { headers: { [PAYMENT_REQUIRED]: encoded(body) }, body };
  },
  receipt(answered, ports): HttpHeaders {
    const { row, status } = answered;
    if (row.settle_response === null) return {};
    const settled = JSON.parse(row.settle_response);
    const isGiven = status >= 200 && status <= 299;
    const extensions = isGiven ? { extensions: receiptOf(answered, settled, ports) } : {};
    return { [PAYMENT_RESPONSE]: encoded({ ...settled, ...extensions }) };
  },
};

/** `error` starts with our code. */
function requiredBy(offer: Offer, headers: HttpHeaders, key: Signer) {
  const { url, description, refusal } = offer;
  const requirements = requirementsOf(offer);
  return {
    x402Version: 2,
    error: `${refusal.code}: ${refusal.reason}`,
    resource: { url, description, mimeType: 'application/json' },
    accepts: [requirements],
    extensions: declared(offer, requirements, headers, key),
  };
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
