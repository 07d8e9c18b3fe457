import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isProblem, problem } from '../../src/kernel/problems.ts';
import { LEASE_MS } from '../../src/payments/journal.ts';
import { openStore } from '../../src/service/home.ts';
import type { Signer } from '../../src/solana/signer.ts';
import { proofDescribe } from '../proof-only.ts';
import { migratedStore } from '../service/migrated.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';
import { mortal } from './mortal.ts';
import {
  challengeOf,
  decoded,
  encoded,
  newWallet,
  openShop,
  openWorld,
  payHeader,
  request,
  type Shop,
  shiftedClock,
  type World,
} from './world.ts';

/** The extension `payment-identifier`, as the stock `@x402/extensions` writes and checks it. */

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

const newPaymentId = (): string => `pay_${randomBytes(16).toString('hex')}`;

/** A payment whose client echoes the declared extensions with its id. */
async function named(id: string, body: unknown = { a: 1 }, from: Shop = shop, payer: Signer = world.wallet) {
  const challenge = await challengeOf(from, '/search', body);
  const { extensions } = challenge as unknown as { extensions: Record<string, { info: object }> };
  const echoed = extensions['payment-identifier'];
  const payload = decoded<object>(await payHeader(world.cluster, payer, challenge));
  const said = { ...extensions, 'payment-identifier': { ...echoed, info: { ...echoed?.info, id } } };
  return encoded({ ...payload, extensions: said });
}

const send = (payment: string, body: unknown = { a: 1 }, to: Shop = shop) =>
  to.fetch(request('/search', body, payment));

/** What became of a payment: its status, or its code. */
const endOf = async (payment: string, body?: unknown, to?: Shop): Promise<number | string> => {
  try {
    return (await send(payment, body, to)).status;
  } catch (error) {
    if (isProblem(error)) return error.code;
    throw error;
  }
};

test('each 402 declares it, optional', async () => {
  const { extensions } = (await challengeOf(shop, '/search', { a: 1 })) as never as { extensions: object };
  expect(extensions).toMatchObject({ 'payment-identifier': { info: { required: false } } });
});

test('same id, same payment: the same answer. Same id, another payment: refused, uncharged', async () => {
  const id = newPaymentId();
  const payment = await named(id);
  const first = await send(payment);
  const text = await first.text();
  expect(first.status).toBe(200);
  expect(await (await send(payment)).text()).toBe(text);
  const another = await named(id);
  await expect(send(another)).rejects.toMatchObject({ code: 'payment_id_taken', status: 409 });
  await expect(named(id, { a: 2 }).then((other) => send(other, { a: 2 }))).rejects.toMatchObject({ status: 409 });
  expect([shop.performed.length, await charged()]).toEqual([1, 100_000n]);
  // The refused one is still good under another name.
  const { extensions: _, ...unnamed } = decoded<{ extensions: object }>(another);
  expect(await endOf(encoded(unnamed))).toBe(200);
});

test('an id is its payer’s own: another wallet may use the same', async () => {
  const id = newPaymentId();
  const stranger = newWallet();
  await world.cluster.airdropUsdc(stranger.address, 100_000n);
  expect(await endOf(await named(id, { a: 1 }, shop, stranger))).toBe(200);
  expect(await endOf(await named(id))).toBe(200);
  expect(await charged()).toBe(200_000n);
});

test('an id whose payment certainly failed is free again', async () => {
  const id = newPaymentId();
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('offer_expired');
  };
  expect(await endOf(await named(id))).toBe('offer_expired');
  shop.perform = works;
  expect(await endOf(await named(id))).toBe(200);
  expect(await charged()).toBe(100_000n);
});

test('an id of a payment that came to no end is free once that can land no more', async () => {
  const id = newPaymentId();
  shop.perform = async () => ({ status: 202, body: {}, charged: 'not_yet' });
  const first = await named(id);
  expect(await endOf(first)).toBe(202);
  expect(await endOf(await named(id))).toBe('payment_id_taken');
  clock.shift(121_000);
  expect(await endOf(await named(id))).toBe(202);
  expect(await endOf(first)).toBe(402);
  expect(await charged()).toBe(0n);
});

test.each(['short', 'x'.repeat(129), 'spaces are not allowed', 17])('an id that is none (%s) is 400', async (id) => {
  const payload = decoded<{ extensions: Record<string, { info: { id: unknown } }> }>(await named(newPaymentId()));
  const said = payload.extensions['payment-identifier'];
  if (said) said.info.id = id;
  await expect(send(encoded(payload))).rejects.toMatchObject({ code: 'invalid_payment_signature', status: 400 });
});

async function oneOfTwo(stores: readonly World['store'][]) {
  const [one, other] = stores.map((store) => openShop(world, { store })) as [Shop, Shop];
  const id = newPaymentId();
  const payments = await Promise.all([named(id, { a: 1 }, one), named(id, { a: 1 }, other)]);
  const ends = await Promise.all([endOf(payments[0], { a: 1 }, one), endOf(payments[1], { a: 1 }, other)]);
  expect(ends.map(String).sort()).toEqual(['200', 'payment_id_taken']);
  expect([one.performed.length + other.performed.length, await charged()]).toEqual([1, 100_000n]);
}

test('of two payments at once with one id, one is taken', () => oneOfTwo([world.store, world.store]));

proofDescribe.skipIf(!postgresIsInstalled)('on PostgreSQL', () => {
  test('of two payments at once with one id, at two processes, one is taken', async () => {
    const databases = await newDatabases(migratedStore);
    const url = await databases.next();
    const stores = await Promise.all([openStore(url), openStore(url)]);
    try {
      await oneOfTwo(stores);
    } finally {
      await Promise.all(stores.map((store) => store.destroy()));
    }
  });
});

test('a process may die at any step: of two payments with its id, one is charged in the end', async () => {
  const ends = new Set<string>();
  for (let n = 1; ; n++) {
    await world.cluster.airdropUsdc(world.wallet.address, 200_000n);
    const start = await world.usdc(world.treasury);
    const life = mortal(n);
    const doomed = openShop(world, { store: life.store(world.store), cluster: life.cluster(world.cluster) });
    const id = newPaymentId();
    const first = await named(id, { n });
    await send(first, { n }, doomed).catch((error: unknown) => {
      if (!life.died()) throw error;
    });
    clock.shift(LEASE_MS + 1);
    const second = await named(id, { n });
    const early = await endOf(second, { n });
    const last = [await endOf(first, { n }), await endOf(second, { n })];
    // The first is not known, or nothing stops it: either way one of them has the id, and is paid.
    expect([n, early === 200 ? last : [...last].reverse()]).toEqual([n, ['payment_id_taken', 200]]);
    expect([n, (await world.usdc(world.treasury)) - start]).toEqual([n, 100_000n]);
    ends.add(String(early));
    if (!life.died()) break;
  }
  expect([...ends].sort()).toEqual(['200', 'payment_id_taken']);
});
