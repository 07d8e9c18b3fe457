import { getAddressEncoder, getBase58Decoder } from '@solana/kit';
import type { HttpHeaders } from '../kernel/http.ts';
import { canonicalJson } from '../kernel/json.ts';
import type { Signer } from '../solana/index.ts';
import type { Answered, Offer, ProtocolPorts } from './protocol.ts';

/** `payment-identifier`: an id that the client chooses for its payment. */
const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
};

const OFFER_RECEIPT = 'offer-receipt';

/** A preference in the header `Prefer`. */
const ASKS_FOR_OFFERS = /(?:^|[,\s])signed-offers(?:[,;\s]|$)/i;

/**
 * Builds the x402 extensions of a 402. Signed offers are included only on request: with them the headers would exceed
 * the 4 KB that some proxies allow, and every paying client would send them back.
 */
export const declared = (offer: Offer, accepts: readonly Terms[], { prefer = '' }: HttpHeaders, key: Signer) => ({
  'payment-identifier': PAYMENT_IDENTIFIER,
  [OFFER_RECEIPT]: {
    info: {
      offers: ASKS_FOR_OFFERS.test(prefer)
        ? accepts.map((terms, acceptIndex) => ({ ...signed(key, offered(offer, terms)), acceptIndex }))
        : [],
    },
    schema: { type: 'object', required: ['offers'] },
  },
  ...(offer.discovery && { bazaar: offer.discovery }),
});

/** Builds the receipt of a paid answer, equal for every copy and signed by the payment's own fee payer. */
export function receiptOf({ row, sent, url }: Answered, settled: Settled, { feePayer, feePayers }: ProtocolPorts) {
  const [named] = sent.signers;
  const key = named && feePayers?.has(named) ? feePayers.signer(named) : feePayer;
  return {
    [OFFER_RECEIPT]: {
      info: { receipt: signed(key, received(row.updated_at_ms, url, settled)) },
      schema: { type: 'object', properties: { receipt: { type: 'object' } }, required: ['receipt'] },
    },
  };
}

interface Terms {
  readonly scheme: string;
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
}

export interface Settled {
  readonly payer: string;
  readonly network: string;
  readonly transaction: string;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

const offered = ({ url, quote }: Offer, { scheme, network, asset, payTo, amount }: Terms) => ({
  ...{ version: 1, resourceUrl: url, scheme, network, asset, payTo, amount },
  validUntil: seconds(quote.expires_at_ms),
});

const received = (atMs: number, resourceUrl: string, { payer, network, transaction }: Settled) => ({
  ...{ version: 1, network, resourceUrl, payer, issuedAt: seconds(atMs), transaction },
});

/** Signs a compact JWS. Its `kid` is the public key as a did:key: the fee payer that the challenge names. */
function signed(key: Signer, payload: object) {
  const header = { alg: 'EdDSA', kid: didOf(key) };
  const input = [JSON.stringify(header), canonicalJson(payload)].map(base64url).join('.');
  return { format: 'jws', signature: `${input}.${base64url(key.sign(Buffer.from(input)))}` };
}

/** Encodes Multicodec's prefix for Ed25519 and the key in base58. */
const didOf = ({ address }: Signer): string =>
  `did:key:z${getBase58Decoder().decode(new Uint8Array([0xed, 0x01, ...getAddressEncoder().encode(address)]))}`;

const base64url = (value: string | Uint8Array): string => Buffer.from(value as Uint8Array).toString('base64url');
