import { getTransferSolInstruction } from '@solana-program/system';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultOptions } from '../../../src/flights/base/ports.ts';
import { retire } from '../../../src/flights/bookings/creations.ts';
import { NO_PAYMENT } from '../../../src/flights/bookings/machine.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { type Answered, openWorld, PASSENGER, type World } from '../world.ts';

/** What somebody who pays 0.10 USDC for a lock, and never for the ticket, can take from others. */

const TICKET = 151_200_000n;
const { mostLocksPerPayer } = defaultOptions;
const HALF_AN_HOUR_MS = 30 * 60_000;
let world: World;
let offers = 0;
const nextOffer = () => `off_${++offers}`;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted', options: { mostLocksPerPayer, mostPerDay: 3n * TICKET } });
});
afterEach(() => world.close());

async function payerWith(usdc: bigint): Promise<Signer> {
  const wallet = world.newWallet();
  await world.cluster.airdropUsdc(wallet.address, usdc);
  return wallet;
}

const lock = (payer: Signer, call = world.call): Promise<Answered<CreatedIntent & { code?: string }>> =>
  world.paid('/air/intents', { offer_id: nextOffer() }, { payer, call });

test("unpaid locks take up the day's cap only while they are alive; what was paid for does all day", async () => {
  for (let n = 0; n < 3; n++) expect((await lock(await payerWith(100_000n))).status).toBe(201);
  const customer = await payerWith(1_000_000_000n);
  const refused = await lock(customer);
  expect([refused.status, refused.body.code]).toEqual([503, 'booking_disabled']);
  expect(await world.usdc(customer.address)).toBe(1_000_000_000n);

  world.clock.advance(HALF_AN_HOUR_MS + 1_000);
  await world.work(1_000);
  for (let n = 0; n < 3; n++) {
    const made = await lock(customer);
    expect(made.status).toBe(201);
    const body = { intent_id: made.body.intent_id, passengers: [PASSENGER] };
    expect((await world.paid('/air/book', body, { payer: customer })).status).toBe(200);
  }
  await world.work();
  world.clock.advance(86_400_000 - 2 * HALF_AN_HOUR_MS);
  expect((await lock(customer)).body.code).toBe('booking_disabled');
  world.clock.advance(2 * HALF_AN_HOUR_MS);
  expect((await lock(customer)).status).toBe(201);
});

test('creations under way count towards the cap of a day', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      /** The first that is sent opens the escrow. */
      async send(wire: Parameters<typeof ports.cluster.send>[0]) {
        await gate;
        return ports.cluster.send(wire);
      },
    },
  }));
  const underWay = async () =>
    (await world.store.selectFrom('intents').select('intent_id').where('opened_at_ms', 'is', null).execute()).length;
  const payers = await Promise.all(Array.from({ length: 4 }, () => payerWith(100_000n)));
  const begun = payers.slice(0, 3).map((payer) => lock(payer, slow.call));
  await expect.poll(underWay, { timeout: 20_000 }).toBe(3);
  const [, , , late] = payers as [Signer, Signer, Signer, Signer];
  const refused = await lock(late);
  expect([refused.status, refused.body.code]).toEqual([503, 'booking_disabled']);
  expect(await world.usdc(late.address)).toBe(100_000n);
  open();
  expect((await Promise.all(begun)).map(({ status }) => status)).toEqual([201, 201, 201]);
});

test('a booking that was paid for goes on before escrows of unpaid locks are closed', async () => {
  for (let n = 0; n < 2; n++) expect((await lock(await payerWith(100_000n))).status).toBe(201);
  world.clock.advance(HALF_AN_HOUR_MS + 1_000);
  const rows = await world.store.selectFrom('intents').selectAll().execute();
  await world.store.transaction().execute(async (tx) => {
    for (const row of rows) await retire(tx, row, 'intent_expired', world.clock.now());
  });
  world.clock.advance(1_000);
  const customer = await payerWith(1_000_000_000n);
  const made = (await lock(customer)).body;
  const body = { intent_id: made.intent_id, passengers: [PASSENGER] };
  expect((await world.paid('/air/book', body, { payer: customer })).status).toBe(200);
  world.clock.advance(1_000);
  const open = async () =>
    (
      await world.store
        .selectFrom('bookings')
        .select('intent_id')
        .where('payment_key', '=', NO_PAYMENT)
        .where('state', '=', 'refunding')
        .execute()
    ).length;
  const leftAtOrder: number[] = [];
  world.airline.script.before.createOrder = async () => void leftAtOrder.push(await open());
  await world.work();
  expect(leftAtOrder).toEqual([2]);
  expect(await open()).toBe(0);
  expect((await world.show(made)).status).toBe('booked');
});

test('wallets that lock at once, at two processes, never pass the cap of a day together', async () => {
  const other = world.service();
  const payers = await Promise.all(Array.from({ length: 6 }, () => payerWith(100_000n)));
  const answers = await Promise.all(payers.map((payer, n) => lock(payer, n % 2 === 0 ? world.call : other.call)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 201, 201, 503, 503, 503]);
  for (const [n, payer] of payers.entries()) {
    expect(await world.usdc(payer.address)).toBe(answers[n]?.status === 201 ? 0n : 100_000n);
  }
});

test('a payer holds three unpaid locks; a fourth is refused free of charge until one is paid for or ends', async () => {
  await world.close();
  world = await openWorld({ airline: 'scripted', options: { mostLocksPerPayer } });
  const payer = await payerWith(1_000_000_000n);
  const made: CreatedIntent[] = [];
  for (let n = 0; n < 3; n++) made.push((await lock(payer)).body);
  const held = await world.usdc(payer.address);
  // Before a price is named, where the payer is known, and before the money moves, where only the payment says it.
  const asked = await world.call('/air/intents', { offer_id: nextOffer(), funding_wallet: payer.address });
  for (const answer of [asked, await lock(payer)]) {
    expect([answer.status, answer.body.code]).toEqual([429, 'too_many_locks']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(1_000);
  }
  expect(await world.usdc(payer.address)).toBe(held);
  expect((await lock(await payerWith(100_000n))).status).toBe(201);

  const body = { intent_id: made[0]?.intent_id, passengers: [PASSENGER] };
  expect((await world.paid('/air/book', body, { payer })).status).toBe(200);
  expect((await lock(payer)).status).toBe(201);
  expect((await lock(payer)).status).toBe(429);
  world.clock.advance(HALF_AN_HOUR_MS + 1_000);
  expect((await lock(payer)).status).toBe(201);
});

test('locks that nobody pays for page an operator before his SOL is too low for new ones, once', async () => {
  const authority = async () => (await world.cluster.accounts([world.authority.address]))[0]?.lamports ?? 0n;
  const pages = async () =>
    (await world.store.selectFrom('outbox').select('dedup_key').where('kind', '=', 'page').execute()).map(
      ({ dedup_key }) => dedup_key.split(':').slice(1, 3).join(':'),
    );
  const look = async () => {
    world.clock.advance(16_000);
    await Promise.all([world.worker.runDue(), world.service().worker.runDue()]);
  };
  // Room for the creations that are kept for, and 51 more.
  const spent = (await authority()) - 285_000_000n;
  const { wire } = buildTransaction({
    feePayer: world.authority,
    blockhash: await world.cluster.latestBlockhash(),
    instructions: [
      getTransferSolInstruction({ source: world.authority, destination: world.newWallet().address, amount: spent }),
    ],
  });
  await world.cluster.send(wire);
  await look();
  expect(await pages()).toEqual([]);
  for (let n = 0; n < 3; n++) expect((await lock(await payerWith(100_000n))).status).toBe(201);
  for (let round = 0; round < 3; round++) await look();
  expect(await pages()).toEqual(['operator_funds_ending:authority']);
  // Nothing is refused yet, and the service is ready.
  expect((await world.call('/ready')).status).toBe(200);
  await world.cluster.airdropSol(world.authority.address, 5_000_000_000n);
  await look();
  expect(await world.store.selectFrom('meta').select('key').where('key', 'like', 'operator_funds%').execute()).toEqual(
    [],
  );
});
