import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import {
  type Challenge,
  mppChallengeIn,
  mppCredential,
  newWallet,
  openShop,
  openWorld,
  payHeader,
  request,
  type Shop,
  shiftedClock,
  unwired,
  type World,
  wired,
} from './world.ts';

/** MPP beside x402 in one 402: one journal answers both. The stock client: test/interop/stock. */

const PRICE = 100_000n;
const clock = shiftedClock();
let world: World;
let shop: Shop;
let before: bigint;

beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());
beforeEach(async () => {
  shop = openShop(world);
  before = await world.usdc(world.treasury);
});

const charged = async () => (await world.usdc(world.treasury)) - before;

const asked = (path: string, body: unknown, headers: Record<string, string> = {}): Request =>
  new Request(`http://shop.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-payment': 'solana/charge', ...headers },
    body: JSON.stringify(body),
  });
const sendPaid = (credential: string, path = '/search', body: unknown = { a: 1 }) =>
  shop.fetch(asked(path, body, { Authorization: credential }));
/** A payment, unsent. */
async function credential(path = '/search', body: unknown = { a: 1 }): Promise<string> {
  return mppCredential(world.cluster, world.wallet, await shop.fetch(asked(path, body)));
}
const receiptIn = ({ headers }: Response) =>
  unwired<{ method: string; status: string; externalId: string; reference: string }>(headers.get('payment-receipt'));
const errorOf = async (response: Response) => ((await response.json()) as Challenge).error;

test('the challenge is of the same quote as the one of x402', async () => {
  const answer = await shop.fetch(asked('/search', { a: 1 }));
  expect(answer.status).toBe(402);
  const [accepted] = ((await answer.clone().json()) as Challenge).accepts;
  const challenge = mppChallengeIn(answer);
  expect(challenge).toMatchObject({ realm: 'shop.test', method: 'solana', intent: 'charge', description: 'A search.' });
  expect(unwired(challenge.request)).toMatchObject({
    amount: accepted?.amount,
    currency: accepted?.asset,
    recipient: accepted?.payTo,
    externalId: accepted?.extra.memo,
    methodDetails: { network: 'devnet', decimals: 6, feePayer: true, feePayerKey: accepted?.extra.feePayer },
  });
  expect(Date.parse(challenge.expires ?? '') - clock.now()).toBeGreaterThan(60_000);
  expect(answer.headers.get('www-authenticate')?.length).toBeLessThan(1_500);
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
  expect(unwired(mppChallengeIn(answer).request)).not.toHaveProperty('methodDetails.recentBlockhash');
  expect(questions).toBe(0);
});

test('a cluster that is away leaves the blockhash out, and the price is said all the same', async () => {
  const away = async () => Promise.reject(problem('cluster_failed'));
  shop = openShop(world, { cluster: { ...world.cluster, latestBlockhash: away } });
  expect((await shop.fetch(asked('/search', { a: 1 }))).headers.get('www-authenticate')).toMatch(/^Payment id="/);
});

test.each(['/search', '/book'])('a payment of %s has a receipt', async (path) => {
  const answer = await sendPaid(await credential(path), path);
  expect(answer.status).toBe(200);
  const receipt = receiptIn(answer);
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
const wireOf = (paid: string): Wire => unwired(paid.split(' ')[1]);
const payment = (wire: unknown): string => `Payment ${wired(wire)}`;

/** Changes one thing of a good credential. */
const changed = (how: (wire: Wire, request: Record<string, unknown>) => void) => (paid: string) => {
  const wire = wireOf(paid);
  const asks = unwired<Record<string, unknown>>(wire.challenge.request);
  const was = JSON.stringify(asks);
  how(wire, asks);
  if (JSON.stringify(asks) !== was) wire.challenge.request = wired(asks);
  return payment(wire);
};

const FORGED: Record<string, [(paid: string) => string, RegExp]> = {
  'a lower amount': [changed((_wire, asks) => Object.assign(asks, { amount: '1' })), /was changed/],
  'another recipient': [
    changed((_wire, asks) => Object.assign(asks, { recipient: world.wallet.address })),
    /was changed/,
  ],
  'another memo': [changed((_wire, asks) => Object.assign(asks, { externalId: 'pay_other' })), /was changed/],
  'another realm': [changed(({ challenge }) => Object.assign(challenge, { realm: 'other.test' })), /was changed/],
  'a later expiry': [
    changed(({ challenge }) => Object.assign(challenge, { expires: '2099-01-01T00:00:00.000Z' })),
    /was changed/,
  ],
  'another quote': [
    changed(({ challenge }) => Object.assign(challenge, { opaque: wired({ quote: 'quo_x' }) })),
    /was changed/,
  ],
  'an id of its own': [changed(({ challenge }) => Object.assign(challenge, { id: 'x'.repeat(43) })), /was changed/],
  'no challenge': [(paid) => payment({ payload: wireOf(paid).payload }), /not base64url of JSON/],
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
  expect(mppChallengeIn(refused).id).toMatch(/^[\w-]{43}$/);
  expect(mppChallengeIn(refused).id).not.toBe(wireOf(paid).challenge.id);
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
  expect(await errorOf(await sendPaid(payment(mixed)))).toMatch(/not those of the challenge/);
  expect(await charged()).toBe(0n);
  expect((await sendPaid(other)).status).toBe(200);
  // Paid now: a stranger who saw the transaction on chain, with a challenge of his own, gets nothing of its answer.
  expect(await errorOf(await sendPaid(payment(mixed)))).toMatch(/another request/);
});

test('one quote is paid once, by x402 or by MPP, also when both come at once', async () => {
  const answer = await shop.fetch(asked('/search', { a: 1 }));
  const body = (await answer.clone().json()) as Challenge;
  const another = newWallet();
  await world.cluster.airdropUsdc(another.address, PRICE);
  const byMpp = await mppCredential(world.cluster, another, answer);
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
  expect(receiptIn(answer).status).toBe('success');
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
  expect(receiptIn(done).method).toBe('solana');
  expect(await charged()).toBe(PRICE);
});

test('another scheme of Authorization is no payment, and one beside a payment is left alone', async () => {
  expect(await errorOf(await sendPaid('Bearer abc'))).toMatch(/^payment_required/);
  expect((await sendPaid(`Bearer abc, ${await credential()}`)).status).toBe(200);
});
