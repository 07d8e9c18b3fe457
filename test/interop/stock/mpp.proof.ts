import { createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit';
import { charge } from '@solana/mpp/client';
import { Challenge as MppChallenge, Receipt } from 'mppx';
import { Mppx } from 'mppx/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Challenge, openShop, openWorld, request, type Shop, type World } from '../../payments/world.ts';

/** The stock client of MPP before our paywall. Its rules: test/payments/mpp.test.ts. */

const PRICE = 100_000n;
let world: World;
let shop: Shop;
let signer: KeyPairSigner;
let before: bigint;

beforeAll(async () => {
  world = await openWorld();
  signer = await createKeyPairSignerFromPrivateKeyBytes(crypto.getRandomValues(new Uint8Array(32)));
  await world.cluster.airdropUsdc(signer.address, 10_000_000n);
});
afterAll(() => world.close());
beforeEach(async () => {
  shop = openShop(world);
  before = await world.usdc(world.treasury);
});

const charged = async () => (await world.usdc(world.treasury)) - before;

/** It asks no cluster: an address at which nothing listens is all that it is given. */
const stockClient = (computeUnitPrice?: bigint) =>
  Mppx.create({
    methods: [charge({ signer, rpcUrl: 'http://127.0.0.1:9', ...(computeUnitPrice ? { computeUnitPrice } : {}) })],
    polyfill: false,
    fetch: (input, init) => shop.fetch(new Request(input as string, init)),
  });

const asked = (headers: Record<string, string> = {}): Request => {
  const one = request('/search', { a: 1 });
  for (const [name, value] of Object.entries({ 'accept-payment': 'solana/charge', ...headers }))
    one.headers.set(name, value);
  return one;
};

test('it reads the challenge, which is of the same quote as the one of x402', async () => {
  const answer = await shop.fetch(asked());
  const [accepted] = ((await answer.clone().json()) as Challenge).accepts;
  const challenge = MppChallenge.fromResponse(answer);
  expect(challenge).toMatchObject({ realm: 'shop.test', method: 'solana', intent: 'charge', description: 'A search.' });
  expect(challenge.request).toMatchObject({
    amount: accepted?.amount,
    currency: accepted?.asset,
    recipient: accepted?.payTo,
    externalId: accepted?.extra.memo,
    methodDetails: { network: 'devnet', decimals: 6, feePayer: true, feePayerKey: accepted?.extra.feePayer },
  });
  expect(MppChallenge.serialize(challenge).length).toBeLessThan(1_500);
});

test.each(['/search', '/book'])('it pays %s, and reads its receipt', async (path) => {
  const answer = await stockClient().fetch(`http://shop.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stock: path }),
  });
  expect(answer.status).toBe(200);
  const receipt = Receipt.fromResponse(answer);
  expect(receipt).toMatchObject({ method: 'solana', status: 'success', externalId: expect.stringMatching(/^pay_/) });
  const landed = await world.cluster.signatureStatus(receipt.reference as never);
  expect(landed?.err).toBeNull();
  expect(answer.headers.has('payment-response')).toBe(false);
  expect(await charged()).toBe(PRICE);
});

test('its priority fee is bound as units times price: 10,000 lamports, not one more microlamport', async () => {
  const [answer, other] = [await shop.fetch(asked()), await shop.fetch(asked())];
  // The client asks for 200,000 units.
  const above = await stockClient(50_001n).createCredential(answer);
  const refused = (await (await shop.fetch(asked({ authorization: above }))).json()) as Challenge;
  expect(refused.error).toMatch(/priority fee is too high/);
  expect(await charged()).toBe(0n);
  const most = await stockClient(50_000n).createCredential(other);
  expect((await shop.fetch(asked({ authorization: most }))).status).toBe(200);
});
