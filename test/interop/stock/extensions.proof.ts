import { randomBytes } from 'node:crypto';
import {
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar';
import {
  createJWS,
  decodeSignedOffers,
  extractJWSHeader,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  generatePaymentId,
  isPaymentIdentifierRequired,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signerFromSeed } from '../../../src/solana/signer.ts';
import { openPaidCalls } from '../../flights/paid-calls.ts';
import {
  challengeOf,
  decoded,
  encoded,
  openShop,
  openWorld,
  pay,
  payHeader,
  request,
  type Shop,
  type World,
} from '../../payments/world.ts';

/** The extensions of x402, as the stock `@x402/extensions` reads, verifies and makes them. */

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type Required = Parameters<typeof extractOffersFromPaymentRequired>[0];

async function offerOf(from: Shop) {
  const ask = request('/search', { a: 1 });
  ask.headers.set('prefer', 'signed-offers');
  const shown = (await (await from.fetch(ask)).json()) as Required;
  const [offer] = extractOffersFromPaymentRequired(shown);
  if (offer?.format !== 'jws') throw new Error('no signed offer');
  return { shown, offer };
}

test('an offer is verified, and is of the terms beside it', async () => {
  const { shown, offer } = await offerOf(openShop(world));
  const terms = await verifyOfferSignatureJWS(offer);
  expect(terms).toMatchObject({ version: 1, resourceUrl: shown.resource.url, amount: shown.accepts[0]?.amount });
  expect(findAcceptsObjectFromSignedOffer(offer, shown.accepts)).toEqual(shown.accepts[0]);
});

test('an offer’s signature is the one that the package makes of the same terms and key', async () => {
  const feePayer = signerFromSeed(randomBytes(32));
  const { offer } = await offerOf(openShop(world, { feePayer }));
  const kid = extractJWSHeader(offer.signature).kid ?? '';
  const sign = async (bytes: Uint8Array) => Buffer.from(feePayer.sign(bytes)).toString('base64url');
  const signer = { kid, format: 'jws' as const, algorithm: 'EdDSA', sign };
  expect(await createJWS(await verifyOfferSignatureJWS(offer), signer)).toBe(offer.signature);
});

test('a receipt is verified, and matches its offer', async () => {
  const shop = openShop(world);
  const [terms] = decodeSignedOffers([(await offerOf(shop)).offer]);
  const answer = await shop.fetch(request('/search', { a: 1 }, await pay(world, shop, '/search', { a: 1 })));
  const receipt = extractReceiptFromResponse(answer);
  if (!terms || receipt?.format !== 'jws') throw new Error('no terms, or no receipt');
  expect(await verifyReceiptSignatureJWS(receipt)).toMatchObject({
    ...{ version: 1, resourceUrl: terms.resourceUrl, payer: world.wallet.address },
  });
  expect(verifyReceiptMatchesOffer(receipt, terms, [world.wallet.address])).toBe(true);
  expect(verifyReceiptMatchesOffer(receipt, terms, [world.treasury.address])).toBe(false);
});

test('each 402 declares payment-identifier as the package does, optional; its names are taken', async () => {
  const shop = openShop(world);
  const challenge = await challengeOf(shop, '/search', { a: 1 });
  const { extensions } = challenge as unknown as { extensions: Record<string, unknown> };
  const said = extensions['payment-identifier'];
  // Without the dialect, which is that of JSON Schema's draft 2020-12 in each extension: a head is short.
  const { info, schema } = declarePaymentIdentifierExtension();
  const { $schema: _, ...short } = schema;
  expect(said).toEqual({ info, schema: short });
  expect(validatePaymentIdentifier(said)).toEqual({ valid: true });
  expect(isPaymentIdentifierRequired(said)).toBe(false);

  const named = async (id: string) => {
    const payload = decoded<object>(await payHeader(world.cluster, world.wallet, challenge));
    const echoed = appendPaymentIdentifierToExtensions(structuredClone(extensions), id);
    return shop.fetch(request('/search', { a: 1 }, encoded({ ...payload, extensions: echoed })));
  };
  expect((await named(generatePaymentId())).status).toBe(200);
});

test('bazaar: the description of each call is valid, and is found', async () => {
  const calls = await openPaidCalls();
  try {
    for (const [route, { body }] of await calls.challenges()) {
      const { bazaar } = body.extensions;
      expect(validateDiscoveryExtension(bazaar as never), route).toEqual({ valid: true });
      expect(validateDiscoveryExtensionSpec(bazaar as never), route).toEqual({ valid: true });
      const [method, path = ''] = route.split(' ');
      const found = extractDiscoveryInfo({ ...body, x402Version: 2, payload: {} } as never, {} as never);
      expect(found, route).toMatchObject({ method, discoveryInfo: bazaar.info });
      expect(new URL(found?.resourceUrl ?? '').pathname).toBe(path.replace('{order_id}', ':order_id'));
    }
  } finally {
    await calls.world.close();
  }
});
