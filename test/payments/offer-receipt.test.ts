import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { getAddressEncoder, getBase58Encoder } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import type { OperatorKeys } from '../../src/payments/operator-keys.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { type Challenge, decoded, openShop, openWorld, pay, request, type Shop, unwired, type World } from './world.ts';

/** The extension `offer-receipt`. What the stock package makes of it: test/interop/stock. */

interface Signed {
  format: string;
  signature: string;
}
type Extended<Said> = { extensions?: { 'offer-receipt'?: { info: Said } } };
type Required = Challenge & Extended<{ offers: Signed[] }>;

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  shop = openShop(world);
});

const kidOf = ({ signature }: Signed): string => unwired<{ kid: string }>(signature.split('.')[0]).kid;

/** The Ed25519 key in a did:key. */
const keyIn = (kid: string): Uint8Array => {
  const bytes = Uint8Array.from(getBase58Encoder().encode(kid.replace('did:key:z', '')));
  expect([...bytes.subarray(0, 2)]).toEqual([0xed, 0x01]);
  return bytes.subarray(2);
};

/** The payload of a compact JWS, checked by the key in its own `kid`. */
function verified(
  jws: Signed,
): Record<string, unknown> & { validUntil: number; issuedAt: number; resourceUrl: string } {
  expect(jws.format).toBe('jws');
  const [head, body, signature = ''] = jws.signature.split('.');
  const x = Buffer.from(keyIn(kidOf(jws))).toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  if (!verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url')))
    throw new Error('forged');
  return unwired(body);
}
const feePayerKey = () => Uint8Array.from(getAddressEncoder().encode(world.feePayer.address));

async function required(from: Shop, prefer?: string): Promise<Required> {
  const ask = request('/search', { a: 1 });
  if (prefer !== undefined) ask.headers.set('prefer', prefer);
  return (await (await from.fetch(ask)).json()) as Required;
}

async function offerOf(from: Shop, prefer = 'signed-offers') {
  const shown = await required(from, prefer);
  const [offer] = shown.extensions?.['offer-receipt']?.info.offers ?? [];
  if (!offer) throw new Error('no signed offer');
  return { shown, offer };
}

const paidAnswer = async (path = '/search') => {
  const payment = await pay(world, shop, path, { a: 1 });
  return { answer: await shop.fetch(request(path, { a: 1 }, payment)), payment };
};

const saidIn = ({ headers }: Response) =>
  decoded<Extended<{ receipt: Signed }>>(headers.get('payment-response')).extensions?.['offer-receipt']?.info;
const receiptIn = (answer: Response): Signed => {
  const receipt = saidIn(answer)?.receipt;
  if (!receipt) throw new Error('no signed receipt');
  return receipt;
};

test.each(['signed-offers', 'respond-async, signed-offers; wait=10'])('Prefer: %s brings one offer', async (prefer) => {
  const { shown, offer } = await offerOf(shop, prefer);
  const terms = verified(offer);
  const [accepted] = shown.accepts;
  expect(terms).toMatchObject({ version: 1, resourceUrl: shown.resource.url });
  for (const name of ['scheme', 'network', 'asset', 'payTo', 'amount'] as const)
    expect(terms[name], name).toBe(accepted?.[name]);
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

test('an offer whose terms were changed is none', async () => {
  const { offer } = await offerOf(shop);
  const [head, body = '', signature] = offer.signature.split('.');
  const cheaper = Buffer.from(Buffer.from(body, 'base64url').toString().replace('"100000"', '"1"')).toString(
    'base64url',
  );
  expect(cheaper).not.toBe(body);
  expect(() => verified({ ...offer, signature: `${head}.${cheaper}.${signature}` })).toThrow('forged');
});

test.each(['/search', '/book'])('a paid answer of %s has a receipt, the same each time', async (path) => {
  const { answer, payment } = await paidAnswer(path);
  expect(answer.status).toBe(200);
  const receipt = receiptIn(answer);
  const said = verified(receipt);
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

test('what was paid and could not be given has no receipt until it is', async () => {
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('upstream_rate_limited', { retryAfter: 1 });
  };
  const { answer, payment } = await paidAnswer('/book');
  expect([answer.status, answer.headers.has('payment-response')]).toEqual([503, true]);
  expect(saidIn(answer)).toBeUndefined();
  shop.perform = works;
  const given = await shop.fetch(request('/book', { a: 1 }, payment));
  expect(given.status).toBe(200);
  verified(receiptIn(given));
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
  verified(receipt);
  expect(keyIn(kidOf(receipt))).toEqual(feePayerKey());
});

test('a new key has a new kid, and what the old one signed still verifies by its own', async () => {
  const { offer: old } = await offerOf(shop);
  const { offer } = await offerOf(openShop(world, { feePayer: signerFromSeed(randomBytes(32)) }));
  expect(kidOf(offer)).not.toBe(kidOf(old));
  verified(old);
  verified(offer);
});
