import { createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit';
import { charge } from '@solana/mpp/client';
import { Credential, Challenge as MppChallenge, Receipt } from 'mppx';
import { Mppx } from 'mppx/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import {
  type Challenge,
  credentialOf,
  decoded,
  openShop,
  openWorld,
  payHeader,
  request,
  type Shop,
  shiftedClock,
  type World,
} from './world.ts';

/** MPP beside x402 in one 402: the stock client pays, and one journal answers both. */

const PRICE = 100_000n;
const clock = shiftedClock();
let world: World;
let shop: Shop;
let signer: KeyPairSigner;
let before: bigint;

beforeAll(async () => {
  world = await openWorld({ clock });
  signer = await createKeyPairSignerFromPrivateKeyBytes(crypto.getRandomValues(new Uint8Array(32)));
  await world.cluster.airdropUsdc(signer.address, 10_000_000n);
});
afterAll(() => world.close());
beforeEach(async () => {
  shop = openShop(world);
  before = await world.usdc(world.treasury);
});

const charged = async () => (await world.usdc(world.treasury)) - before;

/** The stock client. It asks no cluster: an address at which nothing listens is all that it is given. */
const stockClient = (fetch: (request: Request) => Promise<Response> = shop.fetch, computeUnitPrice?: bigint) =>
  Mppx.create({
    methods: [charge({ signer, rpcUrl: 'http://127.0.0.1:9', ...(computeUnitPrice ? { computeUnitPrice } : {}) })],
    polyfill: false,
    fetch: (input, init) => fetch(new Request(input as string, init)),
  });

const asked = (path: string, body: unknown, headers: Record<string, string> = {}): Request =>
  new Request(`http://shop.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-payment': 'solana/charge', ...headers },
    body: JSON.stringify(body),
  });
const sendPaid = (credential: string, path = '/search', body: unknown = { a: 1 }) =>
  shop.fetch(asked(path, body, { Authorization: credential }));
/** A credential of the stock client, unsent. */
async function credential(path = '/search', body: unknown = { a: 1 }): Promise<string> {
  return stockClient().createCredential(await shop.fetch(asked(path, body)));
}
const errorOf = async (response: Response) => ((await response.json()) as Challenge).error;

test('the challenge stands beside the one of x402, of the same quote, and the stock client reads it', async () => {
  const answer = await shop.fetch(asked('/search', { a: 1 }));
  expect(answer.status).toBe(402);
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
  expect(Date.parse(challenge.expires ?? '') - clock.now()).toBeGreaterThan(60_000);
  expect(MppChallenge.serialize(challenge).length).toBeLessThan(1_500);
});

test('a client of x402 alone costs no question to the cluster', async () => {
  let questions = 0;
  const cluster: Cluster = {
    ...world.cluster,
    latestBlockhash: () => {
      questions++;
      return world.cluster.latestBlockhash();
    },
  };
  shop = openShop(world, { cluster });
  const answer = await shop.fetch(request('/search', { a: 1 }));
  expect(MppChallenge.fromResponse(answer).request.methodDetails).not.toHaveProperty('recentBlockhash');
  expect(questions).toBe(0);
});

test('a cluster that is away leaves the blockhash out, and the price is said all the same', async () => {
  const away = async () => Promise.reject(problem('cluster_failed'));
  shop = openShop(world, { cluster: { ...world.cluster, latestBlockhash: away } });
  expect((await shop.fetch(asked('/search', { a: 1 }))).headers.get('www-authenticate')).toMatch(/^Payment id="/);
});

test.each(['/search', '/book'])('the stock client pays %s, and reads its receipt', async (path) => {
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

test('a credential that is sent again gets the same answer and receipt, from any process, and is charged once', async () => {
  const paid = await credential();
  const first = await sendPaid(paid);
  const text = await first.text();
  expect(first.status).toBe(200);
  for (const again of [shop, openShop(world, { secrets: openSecrets(`${world.home}/keys.json`) })]) {
    clock.shift(200_000);
    const answer = await again.fetch(asked('/search', { a: 1 }, { Authorization: paid }));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(text);
    expect(answer.headers.get('payment-receipt')).toBe(first.headers.get('payment-receipt'));
  }
  expect(await charged()).toBe(PRICE);
});

test('a challenge outlives the process that gave it', async () => {
  const paid = await credential();
  shop = openShop(world, { secrets: openSecrets(`${world.home}/keys.json`) });
  expect((await sendPaid(paid)).status).toBe(200);
  expect(await charged()).toBe(PRICE);
});

type Wire = { challenge: Record<string, string>; payload: Record<string, unknown> };
const wireOf = (paid: string): Wire => JSON.parse(Buffer.from(paid.split(' ')[1] ?? '', 'base64url').toString());
const wired = (wire: unknown): string => `Payment ${Buffer.from(JSON.stringify(wire)).toString('base64url')}`;

/** Changes one thing of a good credential. */
const changed = (how: (wire: Wire, request: Record<string, unknown>) => void) => (paid: string) => {
  const wire = wireOf(paid);
  const asks = JSON.parse(Buffer.from(wire.challenge.request ?? '', 'base64url').toString()) as Record<string, unknown>;
  const was = JSON.stringify(asks);
  how(wire, asks);
  if (JSON.stringify(asks) !== was) wire.challenge.request = Buffer.from(JSON.stringify(asks)).toString('base64url');
  return wired(wire);
};

const FORGED: Record<string, [(paid: string) => string, RegExp]> = {
  'a lower amount': [changed((_wire, asks) => Object.assign(asks, { amount: '1' })), /was changed/],
  'another recipient': [changed((_wire, asks) => Object.assign(asks, { recipient: signer.address })), /was changed/],
  'another memo': [changed((_wire, asks) => Object.assign(asks, { externalId: 'pay_other' })), /was changed/],
  'another realm': [changed(({ challenge }) => Object.assign(challenge, { realm: 'other.test' })), /was changed/],
  'a later expiry': [
    changed(({ challenge }) => Object.assign(challenge, { expires: '2099-01-01T00:00:00.000Z' })),
    /was changed/,
  ],
  'another quote': [
    changed(({ challenge }) =>
      Object.assign(challenge, { opaque: Buffer.from('{"quote":"quo_x"}').toString('base64url') }),
    ),
    /was changed/,
  ],
  'an id of its own': [changed(({ challenge }) => Object.assign(challenge, { id: 'x'.repeat(43) })), /was changed/],
  'no challenge': [(paid) => wired({ payload: wireOf(paid).payload }), /not base64url of JSON/],
  'no JSON': [() => 'Payment bm8', /not base64url of JSON/],
  'null as its JSON': [() => 'Payment bnVsbA', /not base64url of JSON/],
  'too many letters': [() => `Payment ${'A'.repeat(20_000)}`, /too long/],
  'a signature of a sent transaction': [
    changed(({ payload }) => Object.assign(payload, { type: 'signature', signature: 'x' })),
    /type "signature" is not accepted/,
  ],
  'a payload of no type': [changed(({ payload }) => Object.assign(payload, { type: 'other' })), /no payload of type/],
  'a transaction that is none': [
    changed(({ payload }) => Object.assign(payload, { transaction: 'AAAA' })),
    /not a Solana/,
  ],
};

test.each(Object.keys(FORGED))('%s is refused with a new challenge, and nothing is charged', async (name) => {
  const [forge, reason] = FORGED[name] ?? [];
  const paid = await credential();
  const refused = await sendPaid(forge?.(paid) ?? '');
  expect(refused.status).toBe(402);
  const fresh = MppChallenge.fromResponse(refused);
  expect(fresh.id).not.toBe(Credential.deserialize(paid).challenge.id);
  expect(refused.headers.has('payment-receipt')).toBe(false);
  const error = await errorOf(refused);
  expect(error).toMatch(/^payment_verification_failed: /);
  expect(error).toMatch(reason ?? /never/);
  expect(shop.performed).toEqual([]);
  expect(await charged()).toBe(0n);
});

test('a challenge of another host is refused there, though the key is the same', async () => {
  const paid = await credential();
  const elsewhere = asked('/search', { a: 1 }, { Authorization: paid });
  const answer = await shop.fetch(new Request('http://other.test/search', elsewhere));
  expect(await errorOf(answer)).toMatch(/not those of the challenge/);
  expect(await charged()).toBe(0n);
});

test('a credential of another call, or of an expired challenge, is refused, and nothing is charged', async () => {
  const paid = await credential();
  expect(await errorOf(await sendPaid(paid, '/book'))).toMatch(/another request/);
  expect(await errorOf(await sendPaid(paid, '/search', { a: 2 }))).toMatch(/another request/);
  clock.shift(121_000);
  expect(await errorOf(await sendPaid(paid))).toMatch(/expired/);
  expect(shop.performed).toEqual([]);
  expect(await charged()).toBe(0n);
});

test('a challenge of one quote pays no other with the transaction of the other', async () => {
  const [mine, other] = [await credential(), await credential()];
  const mixed = { challenge: wireOf(mine).challenge, payload: wireOf(other).payload };
  expect(await errorOf(await sendPaid(wired(mixed)))).toMatch(/not those of the challenge/);
  expect(await charged()).toBe(0n);
  expect((await sendPaid(other)).status).toBe(200);
  // Paid now: a stranger who saw the transaction on chain, with a challenge of his own, gets nothing of its answer.
  expect(await errorOf(await sendPaid(wired(mixed)))).toMatch(/another request/);
});

test('one quote is paid once, by x402 or by MPP, also when both come at once', async () => {
  const answer = await shop.fetch(asked('/search', { a: 1 }));
  const body = (await answer.clone().json()) as Challenge;
  const byMpp = await stockClient().createCredential(answer);
  const byX402 = await payHeader(world.cluster, world.wallet, body);
  const answers = await Promise.all([sendPaid(byMpp), shop.fetch(request('/search', { a: 1 }, byX402))]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402]);
  const loser = answers.find(({ status }) => status === 402);
  expect(loser && (await errorOf(loser))).toMatch(/paid already/);
  expect(await charged()).toBe(PRICE);
});

test('two copies at once: one charge, one answer', async () => {
  const paid = await credential();
  const answers = await Promise.all([1, 2, 3, 4].map(() => sendPaid(paid)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(await Promise.all(answers.map((one) => one.text()))).size).toBe(1);
  expect(await charged()).toBe(PRICE);
});

test('an unknown outcome is 503 with Retry-After and no challenge; the same credential is answered later', async () => {
  const outage = async () => Promise.reject(problem('cluster_failed'));
  let isBlind = true;
  const cluster: Cluster = {
    ...world.cluster,
    async send(wire) {
      await world.cluster.send(wire);
      return isBlind ? outage() : world.cluster.send(wire);
    },
    signatureStatus: (signature) => (isBlind ? outage() : world.cluster.signatureStatus(signature)),
  };
  shop = openShop(world, { cluster, patienceMs: 100 });
  const paid = await credential();
  for (let times = 0; times < 2; times++) {
    await expect(sendPaid(paid)).rejects.toMatchObject({ code: 'payment_pending', status: 503, retryAfter: 2 });
  }
  isBlind = false;
  const answer = await sendPaid(paid);
  expect(answer.status).toBe(200);
  expect(Receipt.fromResponse(answer).status).toBe('success');
  expect(await charged()).toBe(PRICE);
});

test('a paid call that cannot be done yet says so without a receipt, and its credential goes on', async () => {
  const paid = await credential('/book');
  shop.perform = async () => Promise.reject(problem('provider_failed'));
  const failed = await sendPaid(paid, '/book');
  expect(failed.status).toBe(502);
  expect(failed.headers.has('payment-receipt')).toBe(false);
  shop.perform = async () => ({ status: 200, body: {} });
  const done = await sendPaid(paid, '/book');
  expect(done.status).toBe(200);
  expect(Receipt.fromResponse(done).method).toBe('solana');
  expect(await charged()).toBe(PRICE);
});

test('the priority fee is bound as units times price: 10,000 lamports, not one more microlamport', async () => {
  const [answer, other] = [await shop.fetch(asked('/search', { a: 1 })), await shop.fetch(asked('/search', { a: 1 }))];
  // 200,000 units of the stock client.
  const above = await stockClient(shop.fetch, 50_001n).createCredential(answer);
  expect(await errorOf(await sendPaid(above))).toMatch(/priority fee is too high/);
  expect(await charged()).toBe(0n);
  expect((await sendPaid(await stockClient(shop.fetch, 50_000n).createCredential(other))).status).toBe(200);
});

test('another scheme of Authorization is no payment, and one beside a payment is left alone', async () => {
  expect(await errorOf(await sendPaid('Bearer abc'))).toMatch(/^payment_required/);
  expect((await sendPaid(`Bearer abc, ${await credential()}`)).status).toBe(200);
});

test('a transaction in the order of x402 pays by MPP too', async () => {
  const answer = await shop.fetch(asked('/search', { a: 1 }));
  const header = await payHeader(world.cluster, world.wallet, (await answer.clone().json()) as Challenge);
  const { payload } = decoded<{ payload: { transaction: string } }>(header);
  expect((await sendPaid(credentialOf(answer, payload.transaction))).status).toBe(200);
});
