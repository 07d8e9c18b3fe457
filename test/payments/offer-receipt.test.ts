import { randomBytes } from 'node:crypto';
import { getAddressEncoder, getBase58Encoder } from '@solana/kit';
import {
  createJWS,
  decodeSignedOffers,
  extractJWSHeader,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  extractReceiptPayload,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import type { OperatorKeys } from '../../src/payments/operator-keys.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { openShop, openWorld, pay, request, type Shop, type World } from './world.ts';

/** The extension `offer-receipt`, as the stock `@x402/extensions` reads, verifies and signs it. */

type Required = Parameters<typeof extractOffersFromPaymentRequired>[0];

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  shop = openShop(world);
});

const kidOf = ({ signature }: { readonly signature: string }): string => extractJWSHeader(signature).kid ?? '';

/** The Ed25519 key in a did:key. */
const keyIn = (kid: string): Uint8Array => {
  const bytes = Uint8Array.from(getBase58Encoder().encode(kid.replace('did:key:z', '')));
  expect([...bytes.subarray(0, 2)]).toEqual([0xed, 0x01]);
  return bytes.subarray(2);
};
const feePayerKey = () => Uint8Array.from(getAddressEncoder().encode(world.feePayer.address));

async function required(from: Shop, prefer?: string): Promise<Required> {
  const ask = request('/search', { a: 1 });
  if (prefer !== undefined) ask.headers.set('prefer', prefer);
  return (await (await from.fetch(ask)).json()) as Required;
}

async function offerOf(from: Shop, prefer = 'signed-offers') {
  const shown = await required(from, prefer);
  const [offer] = extractOffersFromPaymentRequired(shown);
  if (offer?.format !== 'jws') throw new Error('no signed offer');
  return { shown, offer };
}

const paidAnswer = async (path = '/search') => {
  const payment = await pay(world, shop, path, { a: 1 });
  return { answer: await shop.fetch(request(path, { a: 1 }, payment)), payment };
};

const receiptIn = (answer: Response) => {
  const receipt = extractReceiptFromResponse(answer);
  if (receipt?.format !== 'jws') throw new Error('no signed receipt');
  return receipt;
};

test.each(['signed-offers', 'respond-async, signed-offers; wait=10'])('Prefer: %s brings one offer', async (prefer) => {
  const { shown, offer } = await offerOf(shop, prefer);
  const terms = await verifyOfferSignatureJWS(offer);
  const [accepted] = shown.accepts;
  expect(terms).toMatchObject({ version: 1, resourceUrl: shown.resource.url, amount: accepted?.amount });
  expect(findAcceptsObjectFromSignedOffer(offer, shown.accepts)).toEqual(accepted);
  expect(terms.validUntil).toBeGreaterThan(Date.now() / 1000 + 100);
  expect(terms.validUntil).toBeLessThan(Date.now() / 1000 + 121);
  // The key is the fee payer's, which the challenge names and which signs each payment on the chain.
  expect(keyIn(kidOf(offer))).toEqual(feePayerKey());
  expect(accepted?.extra?.feePayer).toBe(world.feePayer.address);
});

test.each([undefined, 'signed-offers-not', 'respond-async'])(
  'Prefer: %s declares it without an offer',
  async (prefer) => {
    const shown = await required(shop, prefer);
    expect(shown.extensions?.['offer-receipt']).toMatchObject({ info: { offers: [] } });
  },
);

test('the signature is the one that the stock package makes of the same terms and key', async () => {
  const feePayer = signerFromSeed(randomBytes(32));
  const { offer } = await offerOf(openShop(world, { feePayer }));
  const kid = kidOf(offer);
  const sign = async (bytes: Uint8Array) => Buffer.from(feePayer.sign(bytes)).toString('base64url');
  const signer = { kid, format: 'jws' as const, algorithm: 'EdDSA', sign };
  expect(await createJWS(await verifyOfferSignatureJWS(offer), signer)).toBe(offer.signature);
});

test('an offer whose terms were changed is none', async () => {
  const { offer } = await offerOf(shop);
  const [head, body = '', signature] = offer.signature.split('.');
  const cheaper = Buffer.from(Buffer.from(body, 'base64url').toString().replace('"100000"', '"1"')).toString(
    'base64url',
  );
  expect(cheaper).not.toBe(body);
  await expect(verifyOfferSignatureJWS({ ...offer, signature: `${head}.${cheaper}.${signature}` })).rejects.toThrow();
});

test.each(['/search', '/book'])('a paid answer of %s has a receipt, the same each time', async (path) => {
  const { answer, payment } = await paidAnswer(path);
  expect(answer.status).toBe(200);
  const receipt = receiptIn(answer);
  const said = await verifyReceiptSignatureJWS(receipt);
  const settled = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString());
  const { network, transaction } = settled as { network: string; transaction: string };
  expect(said).toEqual({
    ...{ version: 1, network, transaction, payer: world.wallet.address },
    ...{ resourceUrl: `http://shop.test${path}`, issuedAt: expect.any(Number) },
  });
  expect(Math.abs(said.issuedAt - Date.now() / 1000)).toBeLessThan(30);
  expect(keyIn(kidOf(receipt))).toEqual(feePayerKey());
  const again = receiptIn(await shop.fetch(request(path, { a: 1 }, payment)));
  expect(again).toEqual(receipt);
  const elsewhere = receiptIn(await openShop(world).fetch(request(path, { a: 1 }, payment)));
  expect(elsewhere).toEqual(receipt);
});

test('a receipt matches its offer, by the stock comparison', async () => {
  const { offer } = await offerOf(shop);
  const [terms] = decodeSignedOffers([offer]);
  if (!terms) throw new Error('no terms');
  const receipt = receiptIn((await paidAnswer()).answer);
  expect(verifyReceiptMatchesOffer(receipt, terms, [world.wallet.address])).toBe(true);
  expect(verifyReceiptMatchesOffer(receipt, terms, [world.treasury.address])).toBe(false);
  expect(extractReceiptPayload(receipt).resourceUrl).toBe(terms.resourceUrl);
});

test('what was paid and could not be given has no receipt until it is', async () => {
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('upstream_rate_limited', { retryAfter: 1 });
  };
  const { answer, payment } = await paidAnswer('/book');
  expect([answer.status, answer.headers.has('payment-response')]).toEqual([503, true]);
  expect(extractReceiptFromResponse(answer)).toBeUndefined();
  shop.perform = works;
  const given = await shop.fetch(request('/book', { a: 1 }, payment));
  expect(given.status).toBe(200);
  await verifyReceiptSignatureJWS(receiptIn(given));
});

test('while the key rotates, a receipt is by the fee payer of its own payment', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const next = signerFromSeed(randomBytes(32));
  const both = [world.feePayer, next];
  const all = both.map(({ address }) => address);
  const seen = { all, live: all, signing: all };
  const feePayers: OperatorKeys = {
    first: world.feePayer.address,
    seen: () => seen,
    look: async () => seen,
    has: (address) => all.includes(address),
    signer: (address) => both.find((one) => one.address === address) ?? next,
  };
  const rotated = openShop(world, { feePayer: next, feePayers });
  const receipt = receiptIn(await rotated.fetch(request('/search', { a: 1 }, payment)));
  await verifyReceiptSignatureJWS(receipt);
  expect(keyIn(kidOf(receipt))).toEqual(feePayerKey());
});

test('a new key has a new kid, and what the old one signed still verifies by its own', async () => {
  const { offer: old } = await offerOf(shop);
  const { offer } = await offerOf(openShop(world, { feePayer: signerFromSeed(randomBytes(32)) }));
  expect(kidOf(offer)).not.toBe(kidOf(old));
  await verifyOfferSignatureJWS(old);
  await verifyOfferSignatureJWS(offer);
});
