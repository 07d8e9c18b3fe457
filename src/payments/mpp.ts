import type { HttpHeaders } from '../kernel/http.ts';
import { canonicalJson } from '../kernel/json.ts';
import { isProblem } from '../kernel/problems.ts';
import { sameSecret } from '../kernel/secrets.ts';
import { SOLANA_NETWORKS, TOKEN_PROGRAM } from '../solana/index.ts';
import type { Offer, Protocol, ProtocolPorts } from './protocol.ts';

const METHOD = 'solana';
const INTENT = 'charge';
const MOST_CREDENTIAL_CHARACTERS = 12_288;

/** The parameters from which a challenge's id is computed. The client sends them back. */
interface Bound {
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** Base64url of canonical JSON. */
  readonly request: string;
  readonly expires: string;
  /** Base64url of JSON with the quote's id, which never reaches the chain. */
  readonly opaque: string;
}

/** The challenge can be trusted once its id has been compared. */
interface Credential {
  readonly challenge: Bound & { readonly id: string };
  readonly payload: { readonly type?: unknown; readonly transaction?: unknown };
}

/**
 * MPP: the scheme Payment of HTTP authentication, with method `solana` and intent `charge` (draft-httpauth-payment-01,
 * draft-solana-charge-00). A challenge's id is an HMAC over its parameters, so that challenges need not be stored. Its
 * quote is that of the same 402.
 */
export const mpp: Protocol = {
  name: 'mpp',
  isIn: (headers) => credentialIn(headers) !== null,
  async read(headers, ports) {
    const credential = credentialIn(headers) ?? '';
    if (credential.length > MOST_CREDENTIAL_CHARACTERS) return 'the credential is too long';
    const { challenge, payload } = (decoded(credential) ?? {}) as Partial<Credential>;
    if (typeof challenge !== 'object' || challenge === null) return 'the credential is not base64url of JSON';
    if (!sameSecret(String(challenge.id), idOf(challenge, ports))) {
      return 'the challenge is not one of this service, or it was changed';
    }
    if (payload?.type === 'signature') return 'type "signature" is not accepted: send the signed transaction itself';
    if (payload?.type !== 'transaction' || typeof payload.transaction !== 'string') {
      return 'the credential has no payload of type "transaction"';
    }
    const { readTransaction } = await import('./inspection.ts');
    const transaction = readTransaction(payload.transaction);
    if (typeof transaction === 'string') return transaction;
    const { quote } = decoded(challenge.opaque) as { quote: string };
    return {
      ...transaction,
      protocol: mpp,
      header: credential,
      quoteId: quote,
      paymentId: null,
      authorization: null,
      agreesTo: (demand, url) => quote === demand.quote.quote_id && challenge.realm === realmOf(url),
    };
  },
  async challenge(offer, headers, ports) {
    const bound: Bound = {
      realm: realmOf(offer.url),
      method: METHOD,
      intent: INTENT,
      request: encoded(await requestOf(offer, 'accept-payment' in headers, ports)),
      expires: new Date(offer.quote.expires_at_ms).toISOString(),
      opaque: encoded({ quote: offer.quote.quote_id }),
    };
    const parameters = Object.entries({ id: idOf(bound, ports), ...bound, description: offer.description });
    const said = parameters.map(([name, value]) => `${name}=${quoted(value)}`).join(', ');
    return { headers: { 'www-authenticate': `Payment ${said}` } };
  },
  receipt({ row: { settle_response: settled, updated_at_ms: at }, sent: { header }, status }): HttpHeaders {
    if (settled === null || status < 200 || status > 299) return {};
    const { transaction: reference } = JSON.parse(settled) as { transaction: string };
    const { challenge } = decoded(header) as Credential;
    const { externalId } = decoded(challenge.request) as { externalId: string };
    const timestamp = new Date(at).toISOString();
    return { 'payment-receipt': encoded({ method: METHOD, status: 'success', timestamp, reference, externalId }) };
  },
};

/** Describes the transaction to sign. Its memo binds it to the quote. */
async function requestOf({ quote, network, feePayer }: Offer, speaksMpp: boolean, { cluster }: ProtocolPorts) {
  // The blockhash spares an MPP wallet its only call to a cluster; other clients have no use for it.
  const latest = speaksMpp ? await cluster.latestBlockhash().catch(unlessAway) : null;
  return {
    amount: String(quote.amount),
    currency: quote.asset,
    recipient: quote.pay_to,
    externalId: quote.memo,
    methodDetails: {
      network: NETWORK_NAMES[network] ?? network,
      decimals: 6,
      tokenProgram: TOKEN_PROGRAM,
      feePayer: true,
      feePayerKey: feePayer,
      ...(latest && { recentBlockhash: latest.blockhash }),
    },
  };
}

const NETWORK_NAMES: Readonly<Record<string, string>> = {
  [SOLANA_NETWORKS.mainnet]: 'mainnet-beta',
  [SOLANA_NETWORKS.devnet]: 'devnet',
  [SOLANA_NETWORKS.testnet]: 'testnet',
};

function unlessAway(error: unknown): null {
  if (isProblem(error, 'cluster_failed')) return null;
  throw error;
}

/** Joins the draft's fields in its order. The body's digest stays empty: the quote binds the whole request. */
const idOf = ({ realm, method, intent, request, expires, opaque }: Bound, { secrets }: ProtocolPorts): string =>
  Buffer.from(
    secrets.hmac('payment challenge', [realm, method, intent, request, expires, '', opaque].join('|')),
    'hex',
  ).toString('base64url');

const realmOf = (url: string): string => new URL(url).host;

const credentialIn = ({ authorization = '' }: HttpHeaders): string | null =>
  /(?:^|,)\s*payment\s+([^\s,]+)/i.exec(authorization)?.[1] ?? null;

const encoded = (value: unknown): string => Buffer.from(canonicalJson(value)).toString('base64url');

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

const quoted = (text: string): string => `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
