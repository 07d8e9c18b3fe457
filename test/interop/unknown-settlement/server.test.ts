import { getTransferInstruction } from '@solana-program/token';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { problem } from '../../../src/kernel/problems.ts';
import { LEASE_MS } from '../../../src/payments/journal.ts';
import { DEVNET_USDC } from '../../../src/solana/cluster.ts';
import { associatedTokenAddress, MEMO_PROGRAM } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import { type Challenge, decoded, payHeader } from '../../payments/world.ts';
import { isProof } from '../../rounds.ts';
import { BLIND, type Faults, openTill, outage, refused, type Settle, settled, type Till } from './till.ts';

/**
 * The unknown settlement, from the side that charges: the facilitator and the cluster behave in seven ways, and a customer
 * who asks again with the same payment is charged once, never answered unpaid, and always answered in the end.
 */

const PRICE = 100_000n;
const SLOW_MS = 150;

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till.close());
beforeEach(async () => {
  till.heal();
  await till.world.cluster.airdropUsdc(till.world.wallet.address, 2n * PRICE);
});

interface Mode {
  /** Of a cluster whose transactions this process sends. */
  readonly faults: () => Faults;
  /** Of a facilitator service, and of the cluster beside it. */
  readonly settle: Settle;
  readonly beside?: Faults;
}

/** Sends for good, then says what is given. */
const lands =
  (then: () => Promise<never>): NonNullable<Faults['send']> =>
  async (wire) => {
    await till.world.cluster.send(wire);
    return then();
  };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const MODES = {
  'accepted, then timed out': {
    faults: () => ({ send: lands(outage), signatureStatus: outage }),
    settle: async (transaction, send) => {
      await send(transaction);
      return null;
    },
  },
  'a 5xx after settling': {
    faults: () => ({ send: lands(outage), signatureStatus: async () => null }),
    settle: async (transaction, send) => {
      await send(transaction);
      return new Response('upstream', { status: 502 });
    },
  },
  'a refusal after settling': {
    // A node that lags: it has the transaction, and calls it bad.
    faults: () => {
      const late = () => Promise.reject(problem('transaction_failed', { detail: { error: 'AlreadyProcessed' } }));
      let sent = 0;
      return { send: (wire) => lands(sent++ === 0 ? outage : late)(wire), signatureStatus: async () => null };
    },
    settle: async (transaction, send) => {
      await send(transaction).catch(() => undefined);
      return refused('invalid_exact_svm_payload_transaction_simulation_failed');
    },
  },
  'a slow answer': {
    faults: () => ({
      async send(wire) {
        await sleep(SLOW_MS);
        return till.world.cluster.send(wire);
      },
    }),
    settle: async (transaction, send) => {
      await sleep(SLOW_MS);
      return settled(await send(transaction));
    },
  },
  'reconciliation unavailable': {
    faults: () => ({ ...BLIND, send: lands(outage) }),
    settle: async (transaction, send) => {
      await send(transaction).catch(() => undefined);
      return new Response('upstream', { status: 503 });
    },
    beside: BLIND,
  },
  clean: { faults: () => ({}), settle: async (transaction, send) => settled(await send(transaction)) },
} satisfies Record<string, Mode>;
type ModeName = keyof typeof MODES;

const PLACES = ['in its process', 'at another address'] as const;
const PATHS = ['/search', '/book'];
/** In the gate each mode at one of the two calls: the search in its process, the booking at another address. */
const MET = (Object.keys(MODES) as ModeName[]).flatMap((mode) => PATHS.map((path) => [mode, path] as const));
const metIn = (place: (typeof PLACES)[number]) =>
  MET.filter(([, path]) => isProof || (path === '/search') === (place === 'in its process'));

let serial = 0;
async function signed(path: string): Promise<{ body: object; payment: string; charged: () => Promise<bigint> }> {
  const { world } = till;
  const before = await world.usdc(world.treasury);
  const body = { serial: serial++ };
  const challenge = (await (await till.post(path, body)).json()) as Challenge;
  const payment = await payHeader(world.cluster, world.wallet, challenge);
  return { body, payment, charged: async () => (await world.usdc(world.treasury)) - before };
}

describe.each(PLACES)('a service whose facilitator is %s', (place) => {
  test.each(metIn(place))('%s, %s: charged once, answered in the end', async (name, path) => {
    const mode: Mode = MODES[name];
    const shop = till.open(place);
    const { body, payment, charged } = await signed(path);
    till.lie(place === 'in its process' ? mode.faults() : (mode?.beside ?? {}), mode?.settle ?? till.heal);
    // Two at once, then one more: a customer who does not wait.
    const early = await Promise.all([till.post(path, body, payment), till.post(path, body, payment)]);
    for (const answer of [...early, await till.post(path, body, payment)]) {
      expect([200, 503]).toContain(answer.status);
      if (answer.status === 200) expect(await charged()).toBe(PRICE);
      else {
        expect(await answer.json()).toMatchObject({ code: 'payment_pending' });
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
    }
    till.heal();
    // Long after nothing can land any more, and after a restart, it is the same.
    const answers = [await till.post(path, body, payment)];
    till.clock.shift(120_000);
    till.open(place);
    answers.push(await till.post(path, body, payment));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [first, second] = await Promise.all(answers.map((one) => one.text()));
    expect(second).toBe(first);
    expect(shop.performed).toHaveLength(1);
    expect(shop.undone).toEqual([]);
    expect(till.shop().performed).toEqual([]);
    expect(await charged()).toBe(PRICE);
  });

  test.each(PATHS)('declared safe, %s: not charged, not answered, and a new payment buys it', async (path) => {
    const shop = till.open(place);
    const { body, payment, charged } = await signed(path);
    till.lie({ send: outage }, async () => new Response('upstream', { status: 502 }));
    // While it may land, nobody is asked for another one.
    expect((await till.post(path, body, payment)).status).toBe(503);
    till.clock.shift(120_000);
    const over = await till.post(path, body, payment);
    expect(over.status).toBe(402);
    const challenge = (await over.json()) as Challenge;
    expect(challenge.error).toMatch(/^payment_settlement_failed: /);
    expect(shop.undone).toHaveLength(1);
    expect(await charged()).toBe(0n);
    till.heal();
    const { cluster, wallet } = till.world;
    const again = await payHeader(cluster, wallet, challenge);
    expect((await till.post(path, body, again)).status).toBe(200);
    // The old one stays refused, although everybody would take it now.
    expect((await till.post(path, body, payment)).status).toBe(402);
    expect(await charged()).toBe(PRICE);
  });

  test('a customer who never comes back is charged once, and his answer waits', async () => {
    const shop = till.open(place);
    const { body, payment, charged } = await signed('/search');
    const { faults, settle, beside } = MODES['reconciliation unavailable'];
    till.lie(place === 'in its process' ? faults() : beside, settle);
    expect((await till.post('/search', body, payment)).status).toBe(503);
    till.clock.shift(LEASE_MS + 1);
    expect(await shop.paywall.recover()).toMatchObject({ finished: 0, waiting: 1 });
    till.heal();
    till.clock.shift(120_000);
    expect(await shop.paywall.recover()).toMatchObject({ finished: 1, waiting: 0 });
    expect(await charged()).toBe(PRICE);
    expect((await till.post('/search', body, payment)).status).toBe(200);
    expect(shop.performed).toHaveLength(1);
  });
});

test('another transaction with the memo of a payment is not taken for it', async () => {
  const shop = till.open('at another address');
  const { body, payment, charged } = await signed('/book');
  const { cluster, wallet, feePayer } = till.world;
  const { accepted } = decoded<{ accepted: Challenge['accepts'][number] }>(payment);
  till.lie({}, async () => new Response('upstream', { status: 502 }));
  expect((await till.post('/book', body, payment)).status).toBe(503);
  // A cheat pays himself, under the memo that his payment has.
  const own = await associatedTokenAddress(wallet.address, DEVNET_USDC);
  const { wire } = buildTransaction({
    feePayer,
    signers: [wallet],
    instructions: [
      getTransferInstruction({ source: own, destination: own, authority: wallet, amount: 1n }),
      { programAddress: MEMO_PROGRAM, data: new TextEncoder().encode(accepted.extra.memo) },
    ],
    blockhash: await cluster.latestBlockhash(),
  });
  await cluster.send(wire);
  expect(await cluster.signaturesWithMemo(accepted.extra.memo, own)).toHaveLength(1);
  for (const ms of [0, 120_000]) {
    till.clock.shift(ms);
    expect((await till.post('/book', body, payment)).status).toBe(503);
  }
  expect(shop.performed).toEqual([]);
  expect(await charged()).toBe(0n);
});
