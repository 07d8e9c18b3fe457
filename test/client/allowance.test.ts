import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAllowance } from '../../src/cli/commands/mcp/allowance.ts';
import { type Allowance, NO_LIMITS } from '../../src/client/base/spending.ts';
import type { ClientStore } from '../../src/client/journal/store.ts';
import { problem } from '../../src/kernel/problems.ts';
import { openShop, openWorld, type Shop, shiftedClock, type World } from '../payments/world.ts';
import type { WebFetch as Fetch } from '../web.ts';
import { openClient } from './world.ts';

/** What a program was allowed (farelock mcp), against calls at once, lost answers, crashes and clocks. */

const clock = shiftedClock();
const hasty = { ...clock, sleep: async () => undefined };
const day = (n: number) => ({
  origin_iata: 'LIS',
  destination_iata: 'BER',
  depart_date: `2026-12-${String(n).padStart(2, '0')}`,
});

let world: World;
let shop: Shop;
let before: bigint;
let file = 0;
const opened: ClientStore[] = [];

beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());
beforeEach(async () => {
  shop = openShop(world);
  shop.perform = async () => ({ status: 200, body: { offers: [] } });
  before = await world.usdc(world.treasury);
  file++;
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.shut();
});

const charged = async () => (await world.usdc(world.treasury)) - before;
const allowed = (total: bigint | null, perPayment: bigint | null = null) => createAllowance({ total, perPayment });

async function client(
  allowance: Allowance | undefined,
  fetch: Fetch = shop.fetch,
  change: Parameters<typeof openClient>[2] = {},
) {
  const one = await openClient(world, fetch, {
    file: `allowance-${file}.db`,
    clock: hasty,
    policy: { limits: NO_LIMITS, allowance },
    ...change,
  });
  opened.push(one.store);
  return one;
}

test('calls at once that together exceed it: only those that fit are signed', async () => {
  const allowance = allowed(250_000n);
  const several = await Promise.all(Array.from({ length: 6 }, () => client(allowance)));
  const ends = await Promise.allSettled(several.map((one, n) => one.client.search(day(n + 1))));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  for (const end of ends) {
    if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'payment_above_cap' });
  }
  expect(await several[0]?.store.payments()).toHaveLength(2);
  expect(await charged()).toBe(200_000n);
});

test('nothing is signed without one, above what is left, or above what one payment may cost', async () => {
  for (const allowance of [allowed(null), allowed(0n), allowed(99_999n), allowed(5_000_000n, 99_999n)]) {
    const one = await client(allowance);
    await expect(one.client.search(day(1))).rejects.toMatchObject({ code: 'payment_above_cap' });
    expect(await one.store.payments()).toEqual([]);
  }
  expect(await charged()).toBe(0n);
});

test('a clock that is set back gives nothing back', async () => {
  const allowance = allowed(100_000n);
  await (await client(allowance)).client.search(day(1));
  clock.shift(-86_400_000);
  await expect((await client(allowance)).client.search(day(2))).rejects.toMatchObject({ code: 'payment_above_cap' });
  clock.shift(86_400_000);
  expect(await charged()).toBe(100_000n);
});

test('what was not written is there again', async () => {
  const allowance = allowed(100_000n);
  const failing = await client(allowance, shop.fetch, {
    wrap: (store) => ({
      ...store,
      write: async () => {
        throw problem('internal_error');
      },
    }),
  });
  await expect(failing.client.search(day(1))).rejects.toMatchObject({ code: 'internal_error' });
  expect(allowance.left()).toBe(100_000n);
  await (await client(allowance)).client.search(day(1));
  expect(allowance.left()).toBe(0n);
});

test('a payment whose answer was lost is sent again when nothing is left, and counts once', async () => {
  const allowance = allowed(100_000n);
  const losing: Fetch = async (request) => {
    const isPaid = request.headers.has('PAYMENT-SIGNATURE');
    const response = await shop.fetch(request);
    if (isPaid) throw new TypeError('the connection was reset');
    return response;
  };
  await expect((await client(allowance, losing)).client.search(day(1))).rejects.toMatchObject({
    code: 'network_unreachable',
  });
  expect(allowance.left()).toBe(0n);
  await (await client(allowance)).client.search(day(1));
  expect(allowance.left()).toBe(0n);
  expect(await charged()).toBe(100_000n);
});

test('a payment that an earlier server signed and never sent is sent only within what this one was allowed', async () => {
  const killed: Fetch = async (request) => {
    if (request.headers.has('PAYMENT-SIGNATURE')) throw problem('network_unreachable');
    return shop.fetch(request);
  };
  await expect((await client(allowed(100_000n), killed)).client.search(day(1))).rejects.toMatchObject({
    code: 'network_unreachable',
  });
  expect(await charged()).toBe(0n);
  for (const later of [allowed(null), allowed(50_000n), allowed(1_000_000n, 50_000n)]) {
    await expect((await client(later)).client.search(day(1))).rejects.toMatchObject({ code: 'payment_above_cap' });
  }
  expect(await charged()).toBe(0n);
  const enough = allowed(150_000n);
  await (await client(enough)).client.search(day(1));
  expect([await charged(), enough.left()]).toEqual([100_000n, 50_000n]);
});

test('the limits of the person hold beside it, over every restart', async () => {
  const policy = (allowance: Allowance) => ({ limits: { ...NO_LIMITS, perDay: 250_000n }, allowance });
  clock.shift(3 * 86_400_000);
  const restarted = () => client(undefined, shop.fetch, { policy: policy(allowed(1_000_000n)) });
  await (await restarted()).client.search(day(1));
  await (await restarted()).client.search(day(2));
  await expect((await restarted()).client.search(day(3))).rejects.toMatchObject({ code: 'daily_limit_reached' });
  expect(await charged()).toBe(200_000n);
});

describe('one payment that a person has agreed to', () => {
  const agreed = 100_000n;
  const withOne = (total: bigint, perPayment: bigint | null = null) => {
    const allowance = allowed(total, perPayment);
    return { allowance, one: allowance.withOne(agreed) };
  };

  test('is signed above the allowance, once, and leaves the rest as it was', async () => {
    const { allowance, one } = withOne(40_000n);
    const payer = await client(one);
    await payer.client.search(day(1));
    expect([await charged(), allowance.left(), one.left()]).toEqual([100_000n, 40_000n, 40_000n]);
    await expect(payer.client.search(day(2))).rejects.toMatchObject({ code: 'payment_above_cap' });
    expect(await charged()).toBe(100_000n);
  });

  test('is of its exact amount, and never above what one payment may cost', () => {
    const { one } = withOne(40_000n);
    expect([one.refusal(100_000n), one.refusal(30_000n)]).toEqual([null, null]);
    for (const other of [100_001n, 99_999n]) expect(() => one.reserve(other)).toThrow(/This costs/);
    const capped = withOne(40_000n, 99_999n).one;
    expect(capped.refusal(agreed)).not.toBeNull();
    expect(() => capped.reserve(agreed)).toThrow(/This costs/);
    expect(() => capped.resend('pay_1', agreed)).toThrow(/This costs/);
  });

  test('that was not written may be tried again; sent again, it counts once', () => {
    const { allowance, one } = withOne(0n);
    one.reserve(agreed).giveBack();
    one.reserve(agreed).spend('pay_1');
    one.resend('pay_1', agreed);
    allowance.resend('pay_1', agreed);
    expect(() => one.reserve(agreed)).toThrow(/This costs/);
    expect(allowance.left()).toBe(0n);
  });
});
