import { readFileSync } from 'node:fs';
import type { Address } from '@solana/kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEffects } from '../../src/effects/index.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import { type FlightsPorts, intentOf } from '../../src/flights/base/index.ts';
import { createEscrows } from '../../src/flights/bookings/escrows.ts';
import { captureHeld } from '../../src/flights/bookings/hold.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { Signer } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import type { CreatedIntent, Intent, RefundCase, RefundPlan } from '../../src/wire/flights/index.ts';
import { cases, proofTest } from '../proof-only.ts';
import { everyNth } from '../rounds.ts';
import { forgetting, openLyingCluster, sentSignature } from '../solana/lying-rpc.ts';
import { dump } from './dump.ts';
import { Died, mortal } from './mortal.ts';
import { openDesk } from './refund-desk.ts';
import { type Ports, SECOND_PROGRAM } from './world.ts';

/** A refund while the price of the ticket still lies in escrow: the penalty is captured and the rest released, at once. */

const HOUR_MS = 3_600_000;
const HOLD_MS = 5 * HOUR_MS;
/** Its owner gives a token account to another. */
async function giveAway(owner: Signer): Promise<void> {
  const { cluster, authority, mint, newWallet } = desk.world;
  const { AuthorityType, getSetAuthorityInstruction } = await import('@solana-program/token');
  const { wire } = buildTransaction({
    feePayer: authority,
    signers: [owner],
    blockhash: await cluster.latestBlockhash(),
    instructions: [
      getSetAuthorityInstruction({
        owned: await associatedTokenAddress(owner.address, mint),
        owner,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: newWallet().address,
      }),
    ],
  });
  await cluster.send(wire);
}

const PRICE = 149_370_000n;
const PENALTY = 49_370_000n;
const BACK = 100_000_000n;

type Desk = Awaited<ReturnType<typeof openDesk>>;
let desk: Desk;

async function open(penalty = '49.37', holdAfterTicketMs = HOLD_MS, program = escrowElf): Promise<void> {
  desk = await openDesk('scripted', { options: { holdAfterTicketMs }, program });
  const { script } = desk.world.airline;
  script.price = '149.37';
  script.conditions = { ...script.conditions, refund_penalty_amount: penalty } as typeof script.conditions;
}

const pathOf = ({ intent_id }: Pick<Intent, 'intent_id'>) => `/refund-requests/${intent_id}`;
const approve = (made: CreatedIntent, body: object = {}, call = desk.world.call) =>
  desk.ask<RefundCase>(`${pathOf(made)}/approve`, body, call);

/** What moved since: to the treasury and to the refund wallet. */
async function moves(made: CreatedIntent) {
  const before = await desk.world.sums(made);
  return async () => {
    const now = await desk.world.sums(made);
    return { treasury: now.treasury - before.treasury, refund: now.refund - before.refund, vault: now.vault };
  };
}

/** Signatures in the histories of both token accounts that money can go to. */
async function histories() {
  const { cluster, treasury, refundWallet, mint } = desk.world;
  const of = async (owner: Address) =>
    (await cluster.history(await associatedTokenAddress(owner, mint), {})).map(({ signature }) => signature);
  return [await of(treasury.address), await of(refundWallet.address)] as const;
}

const effects = async ({ intent_id }: CreatedIntent, ...kinds: ('capture' | 'refund' | 'payout')[]) =>
  desk.world.store
    .selectFrom('effects')
    .select(['kind', 'state', 'reference'])
    .where('subject', '=', intent_id)
    .where('kind', 'in', kinds)
    .where('state', '=', 'done')
    .execute();

/** Runs the worker, also what it sweeps every ten minutes. */
async function later(ms: number, service = desk.world.service(undefined, { sweepsAtStart: true })): Promise<void> {
  desk.world.clock.advance(ms);
  await desk.world.work(60_000, service.worker);
}

/** The penalty is captured and the rest was released: nothing more moves, whatever runs and however late. */
async function expectReleased(made: CreatedIntent, moved: () => Promise<object>, kept = PENALTY): Promise<void> {
  const released = { treasury: kept, refund: PRICE - kept, vault: 0n };
  expect(await moved()).toEqual(released);
  for (const ms of [HOLD_MS, 24 * HOUR_MS, 40 * 24 * HOUR_MS]) await later(ms);
  // A case that a comparison ended is not the operator's: it is decided already.
  expect([200, 409]).toContain((await approve(made)).status);
  expect(await moved()).toEqual(released);
  expect(await effects(made, 'payout', 'refund')).toEqual([]);
  const shown = await desk.world.show(made);
  const { body } = await desk.ask<RefundCase>(pathOf(made));
  expect(shown).toMatchObject({ status: 'refunded', captured_at: null, capture_tx_hash: null });
  expect(body).toMatchObject({
    status: 'refunded',
    captured_amount: Number(PRICE),
    decision: { penalty_amount: Number(kept), payout_amount: Number(PRICE - kept) },
    payout_tx_hash: shown.refund_tx_hash,
  });
  expect(shown.refund_tx_hash).not.toBeNull();
}

/** The price was captured whole, and the treasury paid. */
async function expectPaidOut(made: CreatedIntent, moved: () => Promise<object>, back = BACK): Promise<void> {
  expect(await moved()).toEqual({ treasury: PRICE - back, refund: back, vault: 0n });
  expect(await effects(made, 'capture', 'payout')).toEqual([
    { kind: 'capture', state: 'done', reference: null },
    { kind: 'payout', state: 'done', reference: null },
  ]);
  expect((await desk.world.show(made)).captured_at).not.toBeNull();
}

afterEach(() => desk.world.close());

describe('a ticket that may be refunded for 49.37 of its 149.37', () => {
  beforeEach(() => open());

  test('is booked while its price stays in escrow, and a refund is two movements in one transaction', async () => {
    const made = await desk.requested();
    const held = await desk.world.show(made);
    expect(held).toMatchObject({ status: 'booked', captured_at: null, capture_tx_hash: null });
    expect(held.order_id).not.toBeNull();
    expect((await desk.world.sums(made)).vault).toBe(PRICE);
    const moved = await moves(made);
    const [paid, back] = await histories();
    // An empty treasury keeps nothing back: it pays nothing.
    await desk.world.drain(desk.world.treasury);
    const drained = await moves(made);

    const plan = (await desk.ask<RefundPlan>(`${pathOf(made)}/approve`, { dry_run: true })).body;
    expect(plan).toMatchObject({ paid_from: 'escrow', treasury_amount: 0, payout_amount: Number(BACK) });
    expect(plan.steps).toContain(
      `Capture 49.37 of the 149.37 USDC in escrow and release 100.00 to the refund wallet ${made.refund_wallet}, in one transaction.`,
    );
    expect((await moved()).refund).toBe(0n);
    const { body } = await approve(made, { expected_payout_amount: Number(BACK) });
    expect(body.status).toBe('refunded');

    const [paidNow, backNow] = await histories();
    expect(backNow.filter((one) => !back.includes(one))).toEqual([body.payout_tx_hash]);
    expect(paidNow.filter((one) => !paid.includes(one))[0]).toBe(body.payout_tx_hash);
    expect(desk.world.airline.script.created).toBe(1);
    await expectReleased(made, drained);
  });

  test('is captured at the end of the hold, and a refund after it is paid by the treasury', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    await later(HOLD_MS - 11 * 60_000);
    expect((await desk.world.show(made)).captured_at).toBeNull();
    await later(12 * 60_000);
    const shown = await desk.world.show(made);
    expect([shown.status, shown.capture_tx_hash]).toEqual(['booked', expect.any(String)]);
    expect(await moved()).toEqual({ treasury: PRICE, refund: 0n, vault: 0n });
    const plan = (await desk.ask<RefundPlan>(`${pathOf(made)}/approve`, { dry_run: true })).body;
    expect([plan.paid_from, plan.steps.some((step) => step.startsWith('Pay 100.00 USDC from'))]).toEqual([
      'treasury',
      true,
    ]);
    expect((await approve(made)).body.status).toBe('refunded');
    await expectPaidOut(made, moved);
    // The escrow is closed 30 days after its own end.
    await later(31 * 24 * HOUR_MS);
    expect(await desk.world.cluster.accounts([made.escrow.address as Address])).toEqual([null]);
  });

  test('is captured late by a worker that was away', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    await later(72 * HOUR_MS);
    expect((await desk.world.show(made)).captured_at).not.toBeNull();
    expect(await moved()).toEqual({ treasury: PRICE, refund: 0n, vault: 0n });
  });

  test('is refunded by the treasury where the escrow cannot release in time', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    await desk.world.drain(desk.world.treasury);
    desk.world.clock.advance(Date.parse(made.escrow.refund_after) - desk.world.clock.now() - 20 * 60_000);
    const drained = await moves(made);
    expect((await approve(made)).body.status).toBe('refunded');
    expect((await moved()).refund).toBe(BACK);
    await expectPaidOut(made, drained);
  });

  test('is refunded by the treasury where the refund wallet has given its token account away', async () => {
    const { world } = desk;
    const made = await desk.requested();
    const moved = await moves(made);
    await giveAway(world.refundWallet);
    const plan = (await desk.ask<RefundPlan>(`${pathOf(made)}/approve`, { dry_run: true })).body;
    expect([plan.paid_from, plan.steps]).toEqual([
      'treasury',
      expect.arrayContaining(['Capture the 149.37 USDC in escrow.']),
    ]);
    await approve(made);
    // What the treasury cannot pay either waits as ever, and the price is captured.
    expect(await moved()).toEqual({ treasury: PRICE, refund: 0n, vault: 0n });
    expect(await effects(made, 'capture')).toEqual([{ kind: 'capture', state: 'done', reference: null }]);
  });

  proofTest('is held at its own program, whichever opens new escrows now', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    const other = desk.world.service((ports: Ports) => ({ ...ports, escrowProgram: SECOND_PROGRAM }));
    expect((await approve(made, {}, other.call)).body.status).toBe('refunded');
    await expectReleased(made, moved);
  });

  test('is given back whole where the airline cancelled it, by the escrow alone', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    expect((await approve(made, { payout_amount: Number(PRICE), note: 'Goodwill' })).body.status).toBe('refunded');
    await expectReleased(made, moved, 0n);
  });
});

test('an older program, which captures no part, holds nothing', async () => {
  const before = new URL('../escrow/fixtures/escrow-whole.so', import.meta.url);
  await open('49.37', HOLD_MS, () => new Uint8Array(readFileSync(before)));
  const made = await desk.requested();
  const moved = await moves(made);
  expect((await desk.world.show(made)).captured_at).not.toBeNull();
  expect((await approve(made)).body.status).toBe('refunded');
  expect(await moved()).toEqual({ treasury: -BACK, refund: BACK, vault: 0n });
});

test('without a hold a price is captured with its ticket', async () => {
  await open('49.37', 0);
  const made = await desk.requested();
  expect((await desk.world.show(made)).captured_at).not.toBeNull();
  expect((await desk.world.sums(made)).vault).toBe(0n);
});

test.each(['149.37', '200.00'])('a fare that would give nothing back (penalty %s) is not held', async (penalty) => {
  await open(penalty);
  const made = await desk.requested();
  expect((await desk.world.show(made)).captured_at).not.toBeNull();
});

/** Between the moments at which it dies, from a random first one. */
const STRIDE = everyNth(23);

describe('a process that dies', () => {
  beforeEach(() => open());

  /** Approves with a process that dies at a moment, and lets others go on, after the end of the hold or before. */
  async function dying(diesAt: number, waitMs: number): Promise<boolean> {
    const { world } = desk;
    const made = await desk.requested();
    const moved = await moves(made);
    const { wrap, died } = mortal(diesAt);
    const doomed = world.service(wrap);
    await approve(made, {}, doomed.call);
    await doomed.worker.runDue().catch((error: unknown) => {
      if (!(error instanceof Died)) throw error;
    });
    const half = await moved();
    expect([0n, BACK]).toContain(half.refund);
    expect(half.treasury + half.refund + half.vault).toBe(PRICE);
    await later(waitMs);
    await approve(made);
    await later(61_000);
    expect((await world.show(made)).status).toBe('refunded');
    expect(await moved()).toEqual({ treasury: PENALTY, refund: BACK, vault: 0n });
    const payouts = await effects(made, 'payout');
    // Once the escrow gave back its part nobody else pays, whatever ran before it was written down.
    expect(payouts.length).toBe(half.refund === 0n && (await world.show(made)).captured_at !== null ? 1 : 0);
    expect(await effects(made, 'capture')).toHaveLength(1);
    return died();
  }

  test.each(
    cases(
      [['is overtaken within the hold', 61_000]],
      [['is overtaken after it, by the capture of the whole', HOLD_MS + 11 * 60_000]],
    ),
  )(
    'at any moment of a refund %s: paid once, to the unit',
    async (_what, waitMs) => {
      let moments = 0;
      for (let diesAt = 1 + Math.floor(Math.random() * STRIDE); ; diesAt += STRIDE) {
        const died = await dying(diesAt, waitMs).catch((error: unknown) => {
          throw new Error(`died at moment ${diesAt}`, { cause: error });
        });
        if (!died) break;
        moments++;
      }
      expect(moments).toBeGreaterThan(1);
    },
    300_000,
  );

  proofTest(
    'at any moment of the capture at the end of the hold: another captures, once',
    async () => {
      const { world } = desk;
      for (let diesAt = 1 + Math.floor(Math.random() * STRIDE); ; diesAt += STRIDE) {
        const made = await desk.requested();
        const moved = await moves(made);
        world.clock.advance(HOLD_MS);
        const { wrap, died } = mortal(diesAt);
        const doomed = world.service(wrap, { sweepsAtStart: true });
        await doomed.worker.runDue().catch((error: unknown) => {
          if (!(error instanceof Died)) throw error;
        });
        await later(11 * 60_000);
        await later(11 * 60_000);
        expect([diesAt, (await world.show(made)).captured_at]).toEqual([diesAt, expect.any(String)]);
        expect(await moved()).toEqual({ treasury: PRICE, refund: 0n, vault: 0n });
        expect(await effects(made, 'capture')).toHaveLength(1);
        if (!died()) break;
      }
    },
    300_000,
  );
});

describe('a refund and the capture at the end of the hold', () => {
  beforeEach(() => open());

  /** A process whose transactions land, and which hears nothing of it. */
  async function deaf() {
    const { world } = desk;
    const liar = await openLyingCluster(world, world.clock.advance);
    let landed: string | null = null;
    let isDeaf = true;
    const amnesia = forgetting(() => (isDeaf ? landed : null), false);
    liar.tell = async (call, honest) => {
      if (!isDeaf || call.method !== 'sendTransaction' || landed !== null) return amnesia(call, honest);
      await honest();
      landed = sentSignature(call);
      return new Response('', { status: 502 });
    };
    const service = world.service((ports) => ({ ...ports, cluster: liar.cluster }), { sweepsAtStart: true });
    return { service, hear: () => (isDeaf = false) };
  }

  test('the refund landed and its answer was lost: the end of the hold captures nothing, and pays nothing', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    const { service } = await deaf();
    await approve(made, {}, service.call);
    expect(await moved()).toEqual({ treasury: PENALTY, refund: BACK, vault: 0n });
    expect((await desk.world.show(made)).status).toBe('booked');
    // Another amount is not agreed to any more.
    expect((await approve(made, { payout_amount: 120_000_000, note: 'More' })).status).toBe(409);
    await later(HOLD_MS);
    await expectReleased(made, moved);
  });

  proofTest(
    'the refund landed, and the hold ends before it goes on: no capture is noted, and nothing is paid again',
    async () => {
      const { world } = desk;
      const made = await desk.requested();
      const moved = await moves(made);
      const { service } = await deaf();
      await approve(made, {}, service.call);
      const acts = createEffects({ ...world, ids: randomIds(world.clock.now), log: silentLog });
      const treasury = world.treasury.address;
      const ports = { ...world, effects: acts, treasury, escrowProgram: ESCROW_PROGRAM_ID } as unknown as FlightsPorts;
      const intent = await intentOf(world.store, made.intent_id);
      world.clock.advance(HOLD_MS);
      await captureHeld(ports, createEscrows(ports), intent);
      expect(await world.show(made)).toMatchObject({ status: 'booked', captured_at: null });
      await later(60_000);
      await expectReleased(made, moved);
    },
  );

  test('the capture landed and its answer was lost: the refund is paid by the treasury, once', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    const { service } = await deaf();
    await later(HOLD_MS, service);
    expect(await moved()).toEqual({ treasury: PRICE, refund: 0n, vault: 0n });
    expect((await desk.world.show(made)).captured_at).toBeNull();
    expect((await approve(made)).body.status).toBe('refunded');
    await later(HOLD_MS);
    await expectPaidOut(made, moved);
  });

  test('at one moment in two processes: one of them lands, and the treasury pays the rest or nothing', async () => {
    const { world } = desk;
    for (const lag of [0, 1, 2, 3]) {
      const made = await desk.requested();
      const moved = await moves(made);
      world.clock.advance(HOLD_MS);
      const worker = world.service(undefined, { sweepsAtStart: true }).worker;
      const first = lag % 2 === 0 ? worker.runDue() : null;
      for (let turn = 0; turn < lag * 20; turn++) await Promise.resolve();
      await Promise.all([first, approve(made), first ?? worker.runDue()]);
      await later(61_000);
      await approve(made);
      await later(11 * 60_000);
      expect(await moved()).toEqual({ treasury: PENALTY, refund: BACK, vault: 0n });
      expect((await world.show(made)).status).toBe('refunded');
      expect(await effects(made, 'capture')).toHaveLength(1);
      const isWhole = (await effects(made, 'capture'))[0]?.reference === null;
      expect(await effects(made, 'payout')).toHaveLength(isWhole ? 1 : 0);
    }
  });
});

describe('a database that was put back', () => {
  beforeEach(() => open());

  async function reconciled(restore: () => Promise<void>) {
    const { world } = desk;
    await restore();
    const next = world.service(undefined, { sweepsAtStart: true });
    const { findings } = await next.reconcile({ isDryRun: false });
    await world.work(60_000, next.worker);
    world.clock.advance(2_000);
    expect((await next.reconcile({ isDryRun: false })).findings).toEqual([]);
    return findings.map(({ kind, outcome }) => [kind, outcome]);
  }

  test.each([
    ['its penalty', '49.37', PENALTY],
    ['the whole price', '0.00', 0n],
  ])('to before a refund of all but %s learns of it, and pays nothing', async (_what, penalty, kept) => {
    if (kept === 0n) {
      await desk.world.close();
      await open(penalty);
    }
    const made = await desk.requested();
    const moved = await moves(made);
    desk.world.clock.advance(60_000);
    const restore = await dump(desk.world);
    desk.world.clock.advance(60_000);
    expect((await approve(made)).body.status).toBe('refunded');
    expect(await reconciled(restore)).toContainEqual(['refund_paid', 'carried_on']);
    await expectReleased(made, moved, kept);
  });

  test('to before its ticket learns of ticket and refund, and pays nothing', async () => {
    const { world } = desk;
    const made = await world.intent('off_put_back');
    world.clock.advance(60_000);
    const restore = await dump(world);
    world.clock.advance(60_000);
    await world.book(made);
    await world.work();
    const moved = await moves(made);
    await world.paid(
      '/air/refund-requests',
      { intent_id: made.intent_id, reason: 'I broke a leg.' },
      { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
    );
    const fee = (await moved()).treasury;
    expect((await approve(made)).body.status).toBe('refunded');
    expect(await reconciled(restore)).toContainEqual(['refund_paid', 'carried_on']);
    for (const ms of [HOLD_MS, 40 * 24 * HOUR_MS]) await later(ms);
    expect(await moved()).toEqual({ treasury: PENALTY + fee, refund: BACK, vault: 0n });
    expect(await world.show(made)).toMatchObject({ status: 'refunded', captured_at: null });
  });

  test('without a comparison, an approval finds on the chain what was given back', async () => {
    const made = await desk.requested();
    const moved = await moves(made);
    const restore = await dump(desk.world);
    expect((await approve(made)).body.status).toBe('refunded');
    await restore();
    await approve(made);
    await later(HOLD_MS);
    expect(await moved()).toEqual({ treasury: PENALTY, refund: BACK, vault: 0n });
    expect(await effects(made, 'payout')).toEqual([]);
  });
});
