import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { getCloseAccountInstruction } from '@solana-program/token';
import { afterEach, describe, expect, test } from 'vitest';
import { createEffects } from '../../../src/effects/index.ts';
import { readEscrow } from '../../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { watchBehind } from '../../../src/flights/base/behind.ts';
import { defaultOptions, type FlightsPorts } from '../../../src/flights/base/ports.ts';
import { createEscrows } from '../../../src/flights/bookings/escrows.ts';
import { createUpkeep } from '../../../src/flights/upkeep/index.ts';
import { sweep } from '../../../src/flights/upkeep/sweeper.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { createOutbox } from '../../../src/notify/outbox.ts';
import { createTransports } from '../../../src/notify/transports.ts';
import { associatedTokenAddress } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { openWorld, type World } from '../world.ts';

const DAY_MS = 86_400_000;
const TICKET = 151_200_000n;

let world: World;
afterEach(() => world?.close());

/** The sweeper of the world, as the worker has it. */
function upkeepOf({ purgeAfterDays = 30 } = {}) {
  const { store, cluster, secrets, clock, provider } = world;
  const common = { store, cluster, secrets, clock, provider, ids: randomIds(clock.now), log: silentLog };
  const outbox = createOutbox({ ...common, transports: async () => createTransports(world.home) });
  const ports = {
    ...common,
    authority: world.authority,
    treasury: world.treasury.address,
    mint: world.mint,
    escrowProgram: ESCROW_PROGRAM_ID,
    options: { ...defaultOptions, purgeAfterDays },
    effects: createEffects(common),
    outbox,
    isBehind: watchBehind(common),
  } as unknown as FlightsPorts;
  const escrows = createEscrows(ports);
  return { outbox, sweeper: { sweep: () => sweep(ports, escrows) }, upkeep: createUpkeep(ports, escrows) };
}

async function ended(script: Partial<World['airline']['script']> = {}) {
  world = await openWorld({ airline: 'scripted' });
  const made = await world.intent('off_1');
  await world.book(made);
  Object.assign(world.airline.script, script);
  await world.work();
  return { made, ...upkeepOf() };
}
const escrowOf = (made: CreatedIntent) =>
  readEscrow(world.cluster, made.escrow.address as Address, [ESCROW_PROGRAM_ID]);
const tasks = async () =>
  (await world.store.selectFrom('upkeep').select('task').orderBy('task').execute()).map(({ task }) => task);
const states = async () =>
  (await world.store.selectFrom('outbox').select(['dedup_key', 'state']).execute()).map(
    ({ dedup_key, state }) => `${dedup_key.split(':int_')[0]} ${state}`,
  );

test('a second payment into the vault of an ended escrow goes to the refund wallet', async () => {
  const { made, sweeper } = await ended();
  await world.cluster.airdropUsdc(made.escrow.address as Address, 7_000_000n);
  expect((await world.sums(made)).vault).toBe(7_000_000n);
  await sweeper.sweep();
  expect((await world.sums(made)).vault, 'not due yet').toBe(7_000_000n);
  world.clock.advance(15 * 60_000);
  await sweeper.sweep();
  expect(await world.sums(made)).toMatchObject({ vault: 0n, refund: 7_000_000n });
  expect(await tasks()).toEqual(['close_escrow', 'late_money', 'purge']);
});

describe('after the money has gone back the airline is asked about its order', () => {
  const PAGE = 'page:ticket_after_refund queued';
  const looks = async (sweeper: { sweep(): Promise<unknown> }, passMs: number) => {
    world.clock.advance(passMs);
    await sweeper.sweep();
  };

  test('a ticket that it issued all the same is told to a person, once', async () => {
    const { made, sweeper } = await ended({ status: 'failed' });
    expect((await world.show(made)).status).toBe('refunded');
    await looks(sweeper, 15 * 60_000);
    expect(await states()).not.toContain(PAGE);
    world.airline.script.status = 'ticketed';
    await looks(sweeper, 3_600_000);
    await looks(sweeper, 3_600_000);
    expect((await states()).filter((one) => one.startsWith('page:ticket'))).toEqual([PAGE]);
    expect(await tasks()).not.toContain('late_ticket');
    expect((await world.show(made)).status, 'the refund stands').toBe('refunded');
  });

  test('an order that it may still ticket is cancelled', async () => {
    const { made, sweeper } = await ended({ status: 'failed' });
    world.airline.script.status = 'confirmed';
    await looks(sweeper, 15 * 60_000);
    expect(world.airline.orders.get(made.intent_id)?.status).toBe('cancelled');
    expect(await states()).not.toContain(PAGE);
  });

  test('for three days, also while it is silent; then a person is told that it never answered', async () => {
    const { sweeper } = await ended({ status: 'failed' });
    world.airline.script.before.findOrder = () => {
      throw problem('provider_failed');
    };
    await looks(sweeper, 15 * 60_000);
    for (let hours = 0; hours < 66; hours += 6) await looks(sweeper, 6 * 3_600_000 + 1);
    expect(await tasks()).toContain('late_ticket');
    expect(await states()).not.toContain(PAGE);
    await looks(sweeper, DAY_MS + 1);
    expect(await tasks()).not.toContain('late_ticket');
    expect(await states()).toContain(PAGE);
  });

  test('for three days, and one that knows of no order is believed', async () => {
    const { sweeper } = await ended({ status: 'failed' });
    world.airline.orders.clear();
    for (let days = 0; days < 4; days++) await looks(sweeper, DAY_MS + 1);
    expect(await tasks()).not.toContain('late_ticket');
    expect(await states()).not.toContain(PAGE);
  });

  test('not when it was never asked for an order', async () => {
    await ended({ price: '160.00' });
    expect(await tasks()).toEqual(['close_escrow', 'late_money', 'purge']);
  });
});

test('an escrow that ended is closed after 30 days, late money first, and its rent returned', async () => {
  const { made, sweeper } = await ended({ price: '160.00' });
  expect((await escrowOf(made))?.state).toBe('refunded');
  await world.cluster.airdropUsdc(made.escrow.address as Address, 3_000_000n);
  world.clock.advance(31 * DAY_MS);
  const before = (await world.cluster.accounts([world.authority.address]))[0]?.lamports ?? 0n;
  await Promise.all([sweeper.sweep(), upkeepOf().sweeper.sweep()]);
  for (let round = 0; round < 3; round++) {
    world.clock.advance(DAY_MS + 1);
    await sweeper.sweep();
  }
  expect(await escrowOf(made)).toBeNull();
  expect((await world.sums(made)).refund).toBe(TICKET + 3_000_000n);
  expect((await world.cluster.accounts([world.authority.address]))[0]?.lamports ?? 0n).toBeGreaterThan(before);
  const closes = await world.store
    .selectFrom('effects')
    .select('state')
    .where('kind', '=', 'close_escrow')
    .where('state', '=', 'done')
    .execute();
  expect(closes).toHaveLength(1);
  expect(await tasks()).toEqual([]);
  expect(await world.show(made)).toMatchObject({ status: 'refunded' });
});

/** Whoever pays for it makes the vault of an ended escrow again. */
const remakeVault = (made: CreatedIntent) => world.cluster.airdropUsdc(made.escrow.address as Address, 0n);

test('an empty vault that somebody made again after the end keeps no escrow from being closed', async () => {
  const { made, sweeper } = await ended();
  await remakeVault(made);
  world.clock.advance(31 * DAY_MS);
  await sweeper.sweep();
  expect(await escrowOf(made)).toBeNull();
  expect(await world.cluster.accounts([made.escrow.vault_address as Address])).toEqual([null]);
  expect(await tasks()).not.toContain('close_escrow');
});

test('a vault with money in it waits for the refund account, and its escrow is closed once that is there', async () => {
  const { made, sweeper } = await ended();
  await remakeVault(made);
  await world.cluster.airdropUsdc(made.escrow.address as Address, 9n);
  const owner = world.refundWallet;
  const account = await associatedTokenAddress(owner.address, world.mint);
  const instructions = [getCloseAccountInstruction({ account, destination: owner.address, owner })];
  const blockhash = await world.cluster.latestBlockhash();
  await world.cluster.send(
    buildTransaction({ feePayer: world.authority, signers: [owner], instructions, blockhash }).wire,
  );
  world.clock.advance(31 * DAY_MS);
  await sweeper.sweep();
  expect((await escrowOf(made))?.state).toBe('captured');
  expect(await world.cluster.accounts([account])).toEqual([null]);
  await world.cluster.airdropUsdc(owner.address, 0n);
  world.clock.advance(DAY_MS + 1);
  await sweeper.sweep();
  expect(await escrowOf(made)).toBeNull();
  expect((await world.sums(made)).refund).toBe(9n);
});

test('money that comes after an unpaid escrow was closed is sent to the refund wallet', async () => {
  world = await openWorld({ airline: 'scripted' });
  const made = await world.intent('off_1');
  world.clock.advance(31 * 60_000);
  await world.work(60_000);
  expect(await escrowOf(made)).toBeNull();
  await world.cluster.airdropUsdc(made.escrow.address as Address, 4_000_000n);
  world.clock.advance(15 * 60_000);
  await upkeepOf().sweeper.sweep();
  expect(await world.sums(made)).toMatchObject({ vault: 0n, refund: 4_000_000n });
  expect(await world.cluster.accounts([made.escrow.vault_address as Address])).toEqual([null]);
});

test('an expired intent that holds money is refunded, and its escrow closed like any other', async () => {
  world = await openWorld({ airline: 'scripted' });
  const made = await world.intent('off_1');
  await world.cluster.airdropUsdc(made.escrow.address as Address, TICKET + 5n);
  world.clock.advance(31 * 60_000);
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'intent_expired' });
  expect(await world.sums(made)).toMatchObject({ vault: 0n, refund: TICKET + 5n });
  world.clock.advance(31 * DAY_MS);
  await upkeepOf().sweeper.sweep();
  expect(await escrowOf(made)).toBeNull();
});

test('the lead passenger is told that the booking runs and that it is booked, with the journey attached', async () => {
  const { outbox } = await ended();
  expect(await states()).toEqual(['mail:booking_requested queued', 'mail:booked queued']);
  await outbox.deliverDue();
  const folder = join(world.home, 'outbox', 'mail');
  const mails = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const booked = mails.find((mail) => /^Subject: Booked: LIS to BER, 2026-12-20$/m.test(mail.replaceAll('\r', '')));
  expect(booked).toContain('To: Ada <ada@example.org>');
  expect(booked?.replaceAll('\r', '')).toMatch(
    /Hello Ada,\n\nBooking reference: ZX7QPL\n\nYour ticket has been issued/,
  );
  const attached = /filename="?journey\.ics"?\r\n(?:[^\r]+\r\n)*\r\n([\s\S]+?)\r\n--/.exec(booked ?? '')?.[1] ?? '';
  const ics = attached.startsWith('BEGIN') ? attached : Buffer.from(attached, 'base64').toString();
  expect(ics).toContain('DTSTART:20261220T100000Z');
  // Neither of what proves an identity travels in a mail.
  expect(mails.join()).not.toMatch(/FLK-|Lovelace/);
});

test('the lead passenger is told of a refund once, and of a stuck booking the operator', async () => {
  await ended({ price: '160.00' });
  expect(await states()).toEqual(['mail:booking_requested queued', 'mail:refunded queued']);
  await world.store.updateTable('bookings').set({ state: 'refunding' }).execute();
  await world.work();
  expect(await states()).toHaveLength(2);
  await world.store.updateTable('bookings').set({ state: 'ticketing', provider_order_id: null }).execute();
  await world.work();
  expect((await states()).at(-1)).toBe('page:booking_stuck queued');
});

test('personal data goes 30 days after the last arrival; order and status stay readable', async () => {
  const { made, sweeper, outbox } = await ended();
  await outbox.deliverDue();
  const sealed = await world.store.selectFrom('bookings').select('passengers_sealed').executeTakeFirstOrThrow();
  // From 21 November the arrival on 20 December is 29 days away.
  world.clock.advance(58 * DAY_MS);
  await sweeper.sweep();
  expect(readdirSync(join(world.home, 'outbox', 'mail'))).toHaveLength(2);
  world.clock.advance(3 * DAY_MS);
  await sweeper.sweep();
  await sweeper.sweep();
  expect(readdirSync(join(world.home, 'outbox', 'mail'))).toEqual([]);
  expect(await world.store.selectFrom('bookings').select(['state', 'passengers_sealed']).execute()).toEqual([
    { state: 'booked', passengers_sealed: '' },
  ]);
  expect(await world.show(made)).toMatchObject({ status: 'booked', order_id: expect.stringMatching(/^ord_/) });
  const order = await world.store.selectFrom('orders').select('document').executeTakeFirstOrThrow();
  expect(JSON.parse(order.document)).toMatchObject({ booking_reference: 'ZX7QPL' });
  // On PostgreSQL there is no file of ours.
  const bytes = ['service.db', 'service.db-wal']
    .map((name) => join(world.home, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'latin1'))
    .join();
  expect(bytes).not.toMatch(/Lovelace|ada@example|351912345678/);
  // Not even sealed: deleted text must not stay in a freed page or in the log.
  expect(bytes).not.toContain(sealed.passengers_sealed.slice(20, 60));
});

test('a refunded booking is purged 30 days after the refund, an option moves that', async () => {
  await ended({ price: '160.00' });
  const purged = async () =>
    (await world.store.selectFrom('bookings').select('passengers_sealed').executeTakeFirstOrThrow())
      .passengers_sealed === '';
  world.clock.advance(4 * DAY_MS);
  await upkeepOf({ purgeAfterDays: 5 }).sweeper.sweep();
  expect(await purged()).toBe(false);
  world.clock.advance(2 * DAY_MS);
  await upkeepOf({ purgeAfterDays: 5 }).sweeper.sweep();
  expect(await purged()).toBe(true);
});

test('what a purchase on a web site knows of a traveller is purged with the booking', async () => {
  const { made } = await ended();
  const purchase = (reference: string) => ({
    ...{ reference, run: 'run_1', state: 'pressed', carrier: 'X9', recipe_version: 1, offer_id: 'lcc_1' },
    ...{ passenger_count: 1, contact_sealed: 'sealed name and address', misfits: 0 },
    ...{ created_at_ms: 0, updated_at_ms: 0 },
  });
  const contacts = async () =>
    Object.fromEntries(
      (await world.store.selectFrom('browser_purchases').select(['reference', 'contact_sealed']).execute()).map(
        (row) => [row.reference, row.contact_sealed],
      ),
    );
  await world.store
    .insertInto('browser_purchases')
    .values([purchase(made.intent_id), purchase('int_another')] as never)
    .execute();
  world.clock.advance(200 * DAY_MS);
  await upkeepOf().sweeper.sweep();
  expect(await contacts()).toEqual({ [made.intent_id]: '', int_another: 'sealed name and address' });
});

test('finished payments go after a week; one that a booking still needs stays', async () => {
  const { sweeper } = await ended();
  const keys = async () =>
    (await world.store.selectFrom('settlements').select('payment_key').execute()).map((row) => row.payment_key);
  const booking = await world.store.selectFrom('bookings').select('payment_key').executeTakeFirstOrThrow();
  await world.store.updateTable('bookings').set({ state: 'stuck' }).execute();
  world.clock.advance(6 * DAY_MS);
  await sweeper.sweep();
  expect((await keys()).length).toBeGreaterThan(1);
  world.clock.advance(2 * DAY_MS);
  await sweeper.sweep();
  expect(await keys()).toEqual([booking.payment_key]);
  expect(await world.store.selectFrom('quotes').select('quote_id').execute()).toEqual([]);
  // One that has to stay is looked at again in a week.
  await world.store.updateTable('bookings').set({ state: 'booked' }).execute();
  world.clock.advance(8 * DAY_MS);
  await sweeper.sweep();
  expect(await keys()).toEqual([]);
});

test('a sweep runs at most every ten minutes, in whatever process, also after the clock was set back', async () => {
  world = await openWorld({ airline: 'scripted' });
  const made = await world.intent('off_1');
  await world.book(made);
  await world.work();
  const swept = () =>
    world.store.selectFrom('meta').select('value').where('key', '=', 'sweep_due_at_ms').executeTakeFirst();
  await upkeepOf().upkeep();
  const first = await swept();
  await upkeepOf().upkeep();
  expect(await swept()).toEqual(first);
  world.clock.advance(11 * 60_000);
  await world.store.updateTable('upkeep').set({ due_at_ms: world.clock.now() }).execute();
  expect((await Promise.all([upkeepOf().upkeep(), upkeepOf().upkeep()])).filter((count) => count > 0)).toHaveLength(1);
  expect(await swept()).not.toEqual(first);
  await world.store
    .updateTable('meta')
    .set({ value: String(world.clock.now() + DAY_MS) })
    .where('key', '=', 'sweep_due_at_ms')
    .execute();
  await upkeepOf().upkeep();
  expect(Number((await swept())?.value)).toBeLessThan(world.clock.now() + DAY_MS / 2);
});
