import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { getCloseAccountInstruction, getTransferInstruction } from '@solana-program/token';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEscrow } from '../../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { defaultOptions } from '../../../src/flights/base/ports.ts';
import { abandon } from '../../../src/flights/bookings/creations.ts';
import { isProblem, problem } from '../../../src/kernel/problems.ts';
import type { Cluster } from '../../../src/solana/cluster.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import type { BookResponse, CreatedIntent } from '../../../src/wire/flights/index.ts';
import { rounds } from '../../rounds.ts';
import { type Answered, openWorld, PASSENGER, type World } from '../world.ts';

/** What creations may cost the operator, held by an attacker's own signed payments against the service's app. */

const SOL = 1_000_000_000n;
const FEE = 100_000n;
let world: World;
let offers = 0;
const nextOffer = () => `off_${++offers}`;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(() => world.close());

const lamports = async (...of: string[]) =>
  (await world.cluster.accounts(of as Address[])).reduce((sum, one) => sum + (one?.lamports ?? 0n), 0n);
const operatorHolds = () => lamports(world.authority.address, world.facilitator.address);
const keysUnderWay = async () =>
  (await world.store.selectFrom('intents').select('creating_key').where('creating_key', 'is not', null).execute()).map(
    (row) => row.creating_key,
  );

async function send(feePayer: Signer, instructions: Parameters<typeof buildTransaction>[0]['instructions']) {
  const blockhash = await world.cluster.latestBlockhash();
  return world.cluster.send(buildTransaction({ feePayer, instructions, blockhash }).wire);
}

async function attacker(usdc: bigint): Promise<Signer> {
  const wallet = world.newWallet();
  await world.cluster.airdropUsdc(wallet.address, usdc);
  return wallet;
}

/** Moves everything that one wallet holds to another. */
async function handOn(from: Signer, to: Signer): Promise<void> {
  const { wire } = buildTransaction({
    feePayer: world.wallet,
    signers: [from],
    blockhash: await world.cluster.latestBlockhash(),
    instructions: [
      getTransferInstruction({
        source: await associatedTokenAddress(from.address, world.mint),
        destination: await associatedTokenAddress(to.address, world.mint),
        authority: from,
        amount: await world.usdc(from.address),
      }),
    ],
  });
  await world.cluster.send(wire);
}

/** Leaves the operator so many lamports in both keys that pay. */
async function leave(each: bigint): Promise<void> {
  for (const key of [world.authority, world.facilitator]) {
    const instruction = getTransferSolInstruction({
      source: key,
      destination: world.newWallet().address,
      amount: (await lamports(key.address)) - each - 5_000n,
    });
    await send(key, [instruction]);
  }
}

async function create(payer: Signer, call = world.call): Promise<Answered> {
  const body = { offer_id: nextOffer() };
  const asked = await call('/air/intents', body);
  if (asked.status !== 402) return asked;
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(asked, payer) };
  return call('/air/intents', body, { headers });
}

/** An honest client: it waits as long as it is told, and pays once. */
async function honest(): Promise<CreatedIntent> {
  const body = { offer_id: nextOffer() };
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(await world.call('/air/intents', body)) };
  for (;;) {
    const answer = await world.call<CreatedIntent>('/air/intents', body, { headers });
    if (answer.status === 201) return answer.body;
    if (answer.status !== 503) throw new Error(JSON.stringify(answer.body));
    await sleep(Number(answer.headers.get('retry-after')) * 1000);
  }
}

test('a creation that was given up while its request slept opens no escrow when it wakes', async () => {
  let isAsleep = false;
  const slow = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      /** Asked for when the escrow is about to be signed: the request sleeps here, and others come first. */
      async latestBlockhash() {
        const [row] = await world.store.selectFrom('intents').selectAll().execute();
        if (row && !isAsleep) {
          isAsleep = true;
          expect(await abandon({ ...ports, options: defaultOptions } as never, row)).toBe(true);
          await world.worker.runDue();
        }
        return ports.cluster.latestBlockhash();
      },
    },
  }));
  const holds = await world.usdc(world.wallet.address);
  const answer = await create(world.wallet, slow.call);
  expect(isAsleep).toBe(true);
  expect(answer.body).toMatchObject({ code: 'escrow_initialization_failed' });
  const [row] = await world.store.selectFrom('intents').selectAll().execute();
  expect(row).toMatchObject({ abandoned: 1, active_key: null, creating_key: null });
  expect(await readEscrow(world.cluster, row?.escrow_address as Address, [ESCROW_PROGRAM_ID])).toBeNull();
  expect(await world.usdc(world.wallet.address)).toBe(holds);
  expect((await create(world.wallet)).status).toBe(201);
});

test('an escrow that a node does not show yet is not taken for none: it is closed once it is seen', async () => {
  let hides = true;
  const payer = await attacker(FEE);
  await world.cluster.airdropSol(world.wallet.address, SOL);
  const given = async () =>
    (await world.store.selectFrom('intents').selectAll().where('abandoned', '=', 1).execute())[0];
  const state = async () => (await world.store.selectFrom('bookings').select('state').executeTakeFirst())?.state;
  const behind = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      async accounts(addresses, how) {
        const hidden = hides && (await given())?.escrow_address;
        const found = await ports.cluster.accounts(addresses, how);
        return found.map((one, place) => (addresses[place] === hidden ? null : one));
      },
      /** As soon as the escrow is there, he has nothing left to pay with. */
      async send(wire) {
        const signature = await ports.cluster.send(wire);
        if ((await world.usdc(payer.address)) > 0n) await handOn(payer, world.wallet);
        return signature;
      },
    },
  }));
  expect((await create(payer, behind.call)).status).not.toBe(201);
  const escrow = async () => readEscrow(world.cluster, (await given())?.escrow_address as Address, [ESCROW_PROGRAM_ID]);
  expect(await escrow()).toMatchObject({ state: 'open' });
  await behind.worker.runDue();
  expect(await state()).toBe('refunding');
  hides = false;
  for (let tries = 0; (await state()) !== 'refunded' && tries < 100; tries++) {
    await sleep(100);
    await behind.worker.runDue();
  }
  expect(await state()).toBe('refunded');
  expect(await escrow()).toBeNull();
});

test('unpaid creations cost the operator network fees alone, and hold up no honest booking', async () => {
  await leave((6n * SOL) / 10n);
  await world.cluster.airdropSol(world.wallet.address, SOL);
  const start = await operatorHolds();
  const wallets = await Promise.all(Array.from({ length: 5 }, (_, n) => attacker(n === 0 ? FEE : 0n)));
  const [first] = wallets;
  if (!first) throw new Error('no attacker');
  const theirs = await lamports(...wallets.map((one) => one.address));
  let least = start;
  let over = false;
  const watch = (async () => {
    for (; !over; await sleep(20)) {
      const now = await operatorHolds();
      if (now < least) least = now;
    }
  })();
  const work = (async () => {
    for (; !over; await sleep(50)) await world.worker.runDue();
  })();

  const booked = (async () => {
    const made = await honest();
    const body = { intent_id: made.intent_id, passengers: [PASSENGER] };
    expect((await world.paid<BookResponse>('/air/book', body)).status).toBe(200);
    while ((await world.show(made)).status !== 'booked') await sleep(100);
  })();
  // As many requests from each wallet; whoever has the 0.10 USDC hands it on while his requests are under way.
  const requests: Promise<Answered>[] = [];
  for (const [place, wallet] of wallets.entries()) {
    requests.push(...Array.from({ length: rounds(12, 40) }, () => create(wallet)));
    await sleep(150);
    const next = wallets[place + 1];
    if (!next || (await world.usdc(wallet.address)) === 0n) continue;
    // The money may go into a payment of his before it is handed on.
    await handOn(wallet, next).catch((error: unknown) => {
      if (!isProblem(error, 'transaction_failed')) throw error;
    });
  }
  const answers = await Promise.all(requests);
  await booked;
  await world.worker.runDue();
  over = true;
  await Promise.all([watch, work]);

  expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  expect(answers.filter(({ status }) => ![201, 402, 503].includes(status))).toEqual([]);
  expect(least - start > -SOL / 20n).toBe(true);
  expect(await lamports(...wallets.map((one) => one.address))).toBe(theirs);
  expect(await keysUnderWay()).toEqual([]);
}, 120_000);

/** A cluster on which the payer's money is gone right after its payment was verified, once the escrow is open. */
const draining = (cluster: Cluster, payer: Signer, also: () => Promise<void> = async () => {}): Cluster => {
  let sends = 0;
  return {
    ...cluster,
    async send(wire) {
      // The opening, then the payment.
      if (++sends === 2) {
        await world.drain(payer);
        await also();
      }
      return cluster.send(wire);
    },
  };
};

test('when settling fails every rent is back with the operator in the same request', async () => {
  const payer = await attacker(FEE);
  const before = await operatorHolds();
  const unlucky = world.service((ports) => ({ ...ports, cluster: draining(ports.cluster, payer) }));
  expect((await create(payer, unlucky.call)).status).toBe(402);
  // Two transactions of the authority, and the test's own that drained the wallet.
  expect(before - (await operatorHolds())).toBeLessThan(50_000n);
  expect(await keysUnderWay()).toEqual([]);
});

test('of one payer one creation is under way at a time; another is told to ask again, free of charge', async () => {
  const payer = await attacker(1_000_000n);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let sends = 0;
  const slow = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      async send(wire) {
        if (sends++ === 0) await held;
        return ports.cluster.send(wire);
      },
    },
  }));
  const first = create(payer, slow.call);
  while (sends === 0) await sleep(5);
  const body = { offer_id: nextOffer() };
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(await world.call('/air/intents', body), payer) };
  const second = () => world.service().call('/air/intents', body, { headers });
  const refused = await second();
  expect([refused.status, refused.body.code]).toEqual([503, 'creation_under_way']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  // Another payer is not held up.
  expect((await create(await attacker(FEE))).status).toBe(201);
  release();
  expect((await first).status).toBe(201);
  expect((await second()).status).toBe(201);
  expect(await world.usdc(payer.address)).toBe(1_000_000n - 2n * FEE);
});

test('a creation whose process died lets the payer create again, and its escrow is closed', async () => {
  const payer = await attacker(1_000_000n);
  const dying = world.service((ports) => ({
    ...ports,
    cluster: { ...ports.cluster, send: () => new Promise<never>(() => {}) },
  }));
  void create(payer, dying.call);
  while ((await keysUnderWay()).length === 0) await sleep(5);
  expect((await create(payer)).body.code).toBe('creation_under_way');
  world.clock.advance(3 * 60_000);
  await world.work(5 * 60_000);
  expect((await create(payer)).status).toBe(201);
  world.clock.advance(10 * 60_000);
  await world.work(10 * 60_000);
  expect(await keysUnderWay()).toEqual([]);
});

/** Sends one signed creation, and the same one again, through a service whose cluster can be cut off. */
async function cutCreation(lands: boolean) {
  let cut = true;
  let sends = 0;
  const away = () => Promise.reject(problem('cluster_failed'));
  const service = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      latestBlockhash: () => (cut && sends > 0 ? away() : ports.cluster.latestBlockhash()),
      signatureStatus: (signature) => (cut && sends > 0 ? away() : ports.cluster.signatureStatus(signature)),
      async send(wire) {
        sends++;
        if (!cut) return ports.cluster.send(wire);
        if (lands) await ports.cluster.send(wire);
        return away();
      },
    },
  }));
  const body = { offer_id: nextOffer() };
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(await service.call('/air/intents', body)) };
  return {
    body,
    service,
    ask: () => service.call<CreatedIntent>('/air/intents', body, { headers }),
    mend: () => {
      cut = false;
    },
  };
}

for (const lands of [false, true]) {
  test(`a cluster cut off while an escrow is ${lands ? 'opened' : 'sent'} is no refusal: the same payment goes on once it is back`, async () => {
    const had = await world.usdc(world.wallet.address);
    const { ask, mend } = await cutCreation(lands);
    for (let tries = 0; tries < 2; tries++) {
      const refused = await ask();
      expect([refused.status, refused.body]).toMatchObject([503, { code: 'payment_pending' }]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await world.usdc(world.wallet.address)).toBe(had);
    mend();
    const made = await ask();
    expect(made.status).toBe(201);
    expect((await ask()).body).toEqual(made.body);
    expect(had - (await world.usdc(world.wallet.address))).toBe(FEE);
    expect(await world.store.selectFrom('intents').select('abandoned').execute()).toEqual([{ abandoned: 0 }]);
    expect(await readEscrow(world.cluster, made.body.escrow.address as Address, [ESCROW_PROGRAM_ID])).toMatchObject({
      state: 'open',
    });
  });
}

test('a payment that goes on is not counted twice towards the most of a day', async () => {
  await world.close();
  world = await openWorld({ airline: 'scripted', options: { mostPerDay: 200_000_000n } });
  const { ask, mend } = await cutCreation(false);
  expect((await ask()).status).toBe(503);
  mend();
  expect((await ask()).status).toBe(201);
  expect((await create(world.wallet)).body.code).toBe('booking_disabled');
});

test('a payment that expires while the cluster is cut off is answered as unpaid, and its escrow is closed', async () => {
  const had = await world.usdc(world.wallet.address);
  const held = await operatorHolds();
  const { ask, mend, service } = await cutCreation(true);
  expect((await ask()).status).toBe(503);
  world.clock.advance(3 * 60_000);
  mend();
  const ended = await ask();
  expect([ended.status, ended.body]).toMatchObject([
    402,
    { error: expect.stringMatching(/^payment_settlement_failed/) },
  ]);
  expect(await world.usdc(world.wallet.address)).toBe(had);
  await world.work(10 * 60_000, service.worker);
  expect(await keysUnderWay()).toEqual([]);
  expect(held - (await operatorHolds())).toBeLessThan(50_000n);
  expect((await create(world.wallet)).status).toBe(201);
});

test('beyond the bound a creation waits for a place, then is told to come back', async () => {
  await world.close();
  world = await openWorld({ airline: 'scripted', options: { mostUnpaidCreations: 2, creationWaitMs: 300 } });
  const stopped = world.service((ports) => ({
    ...ports,
    cluster: { ...ports.cluster, send: () => new Promise<never>(() => {}) },
  }));
  for (let n = 1; n <= 2; n++) {
    void create(await attacker(FEE), stopped.call);
    while ((await keysUnderWay()).length < n) await sleep(5);
  }
  const third = await attacker(FEE);
  const answer = await create(third);
  expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([503, 'creations_busy', '5']);
  expect(await world.usdc(third.address)).toBe(FEE);
});

async function closeAccount(owner: Signer): Promise<void> {
  const account = await associatedTokenAddress(owner.address, world.mint);
  const { wire } = buildTransaction({
    feePayer: world.authority,
    signers: [owner],
    blockhash: await world.cluster.latestBlockhash(),
    instructions: [getCloseAccountInstruction({ account, destination: owner.address, owner })],
  });
  await world.cluster.send(wire);
}

test('a unit of dust makes the operator pay for no token account: the refund waits until it is there again', async () => {
  const payer = await attacker(FEE);
  const body = { offer_id: nextOffer() };
  const made = (await world.paid<CreatedIntent>('/air/intents', body, { payer })).body;
  await closeAccount(payer);
  const had = await lamports(payer.address);
  await world.cluster.airdropUsdc(made.escrow.address as Address, 1n);
  world.clock.advance(31 * 60_000);
  await world.work(60_000);
  expect(await lamports(payer.address)).toBe(had);
  expect(await world.show(made)).toMatchObject({ status: 'active', refund_reason: 'refund_account_missing' });
  const pages = await world.store.selectFrom('outbox').select('dedup_key').execute();
  expect(pages.map((page) => page.dedup_key)).toContain(`page:refund_waits:${made.intent_id}`);
  // Anybody opens the account again, and the refund follows.
  await world.cluster.airdropUsdc(payer.address, 0n);
  await world.work(11 * 60_000);
  expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'intent_expired' });
  expect(await world.usdc(payer.address)).toBe(1n);
  expect(await readEscrow(world.cluster, made.escrow.address as Address, [ESCROW_PROGRAM_ID])).toBeNull();
});

test('a ticket is captured though its vault holds dust and the refund account is gone', async () => {
  const made = await world.intent(nextOffer());
  await closeAccount(world.refundWallet);
  await world.cluster.airdropUsdc(made.escrow.address as Address, 1n);
  await world.book(made);
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'booked' });
  expect(await world.cluster.accounts([await associatedTokenAddress(world.refundWallet.address, world.mint)])).toEqual([
    null,
  ]);
});
