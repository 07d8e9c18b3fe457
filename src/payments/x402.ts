import type { PaymentRequirements } from '@x402/core/types';
import type { HttpHeaders } from '../kernel/http.ts';
import type { Signer } from '../solana/index.ts';
import { declared, receiptOf } from './extensions.ts';
import type { Settlement } from './journal.ts';
import type { Demand, Offer, Protocol, SentAuthorization } from './protocol.ts';

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

/** x402 version 2 on Solana. The body of a 402 equals the decoded header (CONTRACT, section 2). */
export const x402: Protocol = {
  name: 'x402',
  isIn: (headers) => PAYMENT_SIGNATURE in headers,
  async read(headers) {
    const { readPayload } = await import('./x402-payload.ts');
    const { accepted, payload, ...sent } = readPayload(headers[PAYMENT_SIGNATURE] ?? '');
    const authorizes = accepted.scheme === 'auth-capture' ? await loadAuthorizing() : null;
    const authorization = (await authorizes?.readAuthorization(accepted as PaymentRequirements, payload)) ?? null;
    const quoteId = typeof accepted.extra?.quote === 'string' ? accepted.extra.quote : null;
    return {
      ...sent,
      protocol: x402,
      quoteId,
      authorization,
      agreesTo(demand) {
        const wanted = requirementsOf(demand);
        const isQuoted = quoteId === wanted.extra.quote && TERMS.every((name) => accepted[name] === wanted[name]);
        // The payee is hashed into its address, which the paywall compares with the call's.
        if (authorization) return isQuoted && accepted.extra?.memo === wanted.extra.memo;
        return isQuoted && accepted.scheme === wanted.scheme && accepted.payTo === wanted.payTo;
      },
    };
  },
  async challenge(offer, headers, { feePayer }) {
    const body = await requiredBy(offer, headers, feePayer);
    return { headers: { [PAYMENT_REQUIRED]: encoded(body) }, body };
  },
  receipt(answered, ports): HttpHeaders {
    const { row, sent, status } = answered;
    if (row.settle_response === null) return {};
    const settled = {
      ...JSON.parse(row.settle_response),
      ...(sent.authorization && openedBy(sent.authorization, row)),
    };
    const isGiven = status >= 200 && status <= 299;
    const extensions = isGiven ? { extensions: receiptOf(answered, settled, ports) } : {};
    return { [PAYMENT_RESPONSE]: encoded({ ...settled, ...extensions }) };
  },
};

/** The authorization that a payment opened, in the scheme's fields. */
const openedBy = ({ place: { escrow, salt } }: SentAuthorization, { amount }: Settlement) => ({
  extra: {
    ...{ escrow, salt: Buffer.from(salt).toString('hex'), state: 'open' },
    ...{ capturable: `${amount}`, refundable: '0' },
  },
});

const loadAuthorizing = () => import('./authorizing.ts');

/** The terms that must be equal in either scheme. */
const TERMS = ['network', 'asset', 'amount'] as const;

/** The preference in `Prefer` for a second way to pay, which would make every challenge too long for proxies. */
const PREFERS_AUTHORIZATION = /(?:^|[,\s])auth-capture(?:[,;\s]|$)/i;

/** The ways to pay, the preferred one first: clients take the first one that they know. */
async function acceptsOf(offer: Offer, { prefer = '' }: HttpHeaders): Promise<readonly Asked[]> {
  const exact = requirementsOf(offer);
  const other = PREFERS_AUTHORIZATION.test(prefer) ? await offer.authorization() : null;
  if (!other) return [exact];
  const { requirementsToAuthorize } = await loadAuthorizing();
  return [requirementsToAuthorize({ ...offer, feePayer: other.feePayer }, other.asked), exact];
}

type Asked = Omit<Requirements, 'scheme' | 'network' | 'extra'> & {
  readonly scheme: string;
  readonly network: string;
  readonly extra: object;
};

/** Builds the challenge; `error` starts with our code. */
async function requiredBy(offer: Offer, headers: HttpHeaders, key: Signer) {
  const { url, description, refusal } = offer;
  const accepts = await acceptsOf(offer, headers);
  return {
    x402Version: 2,
    error: `${refusal.code}: ${refusal.reason}`,
    resource: { url, description, mimeType: 'application/json' },
    accepts,
    // Only indexes read the description, and they send no `Prefer`. With a second way to pay it would exceed 4 KB.
    extensions: declared(accepts.length > 1 ? { ...offer, discovery: undefined } : offer, accepts, headers, key),
  };
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
