import type { Address } from '@solana/kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { escrowChecks } from '../../src/client/base/escrow-terms.ts';
import { readEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { claimEscrow, escrowOnChain } from '../../src/escrow/claim.ts';
import { genesisHashOf } from '../../src/solana/cluster-settings.ts';
import type { CreatedIntent, RefundCase } from '../../src/wire/flights/index.ts';
import { isProof } from '../rounds.ts';
import { authorizing, PREFER } from './authorized.ts';
import { dump } from './dump.ts';
import { Died, mortal } from './mortal.ts';
import { openDesk } from './refund-desk.ts';
import { type Answered, openWorld, type World } from './world.ts';

/** Bookings that are paid by an authorization (x402's auth-capture) in place of a transfer into the opened escrow. */

const FEE = 100_000n;
const TICKET = 151_200_000n;
const MINUTE_MS = 60_000;

let world: World;
let client: ReturnType<typeof authorizing>;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
  client = authorizing(world);
});
afterEach(() => world.close());

/** Runs the worker, also what it sweeps every ten minutes. */
async function later(ms = 11 * MINUTE_MS, service = world.service(undefined, { sweepsAtStart: true })): Promise<void> {
  world.clock.advance(ms);
  await world.work(MINUTE_MS, service.worker);
}

const orderFails = () => {
  world.airline.script.status = 'failed';
};

/** What the treasury and the wallet have got since. */
async function since() {
  const before = await world.sums();
  return async (made: Pick<CreatedIntent, 'intent_id'>) => {
    const now = await world.sums(await world.show(made));
    return { wallet: now.wallet - before.wallet, treasury: now.treasury - before.treasury, vault: now.vault };
  };
}

const isClosed = async (...addresses: string[]) =>
  (await world.cluster.accounts(addresses as Address[])).every((account) => account === null);

const sol = async () => (await world.cluster.accounts([world.authority.address]))[0]?.lamports ?? 0n;

test('a client that prefers it authorizes, the ticket captures, and the opened escrow is closed', async () => {
  const before = await world.sums();
  const made = await client.intent('off_1');
  const booked = await client.book(made);
  expect(booked.status, JSON.stringify(booked.body)).toBe(200);
  const { address, kind } = await client.placeOf(made);
  expect(kind).toBe('authorized');
  const open = await readEscrow(world.cluster, address, [ESCROW_PROGRAM_ID]);
  expect(open).toMatchObject({ kind: 'authorization', state: 'open', amount: TICKET });
  await world.work();
  const shown = await world.show(made);
  expect(shown).toMatchObject({ status: 'booked', escrow: { address, observed_amount: Number(TICKET) } });
  expect(shown.capture_tx_hash).not.toBeNull();
  await later();
  expect(await world.sums(shown)).toEqual({
    ...{ wallet: before.wallet - FEE - TICKET, refund: before.refund, treasury: before.treasury + FEE + TICKET },
    ...{ vault: 0n, total: before.total },
  });
  expect(await world.cluster.accounts([made.escrow.address as never, made.escrow.vault_address as never])).toEqual([
    null,
    null,
  ]);
  const settled = JSON.parse(Buffer.from(booked.headers.get('payment-response') ?? '', 'base64').toString());
  expect(settled).toMatchObject({ success: true, amount: `${TICKET}`, extra: { escrow: address, state: 'open' } });
});

test('a booking that fails is voided: the price comes back to the unit, and the rents come home', async () => {
  const made = await client.intent('off_1');
  const moved = await since();
  const lamports = await sol();
  orderFails();
  await client.book(made);
  const { address, vault } = await client.placeOf(made);
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'ticketing_failed' });
  expect(await moved(made)).toEqual({ wallet: 0n, treasury: 0n, vault: 0n });
  await later();
  await later(31 * 24 * 60 * MINUTE_MS);
  expect(await isClosed(address, vault, made.escrow.address, made.escrow.vault_address)).toBe(true);
  // The rents of the opened escrow are back too; only fees were spent.
  expect(await sol()).toBeGreaterThan(lamports + 4_700_000n);
});

describe('what is asked for', () => {
  const schemes = async (made: CreatedIntent, headers = PREFER, call = world.call) =>
    ((await client.ask(made, headers, call)).body.accepts as { scheme: string }[]).map(({ scheme }) => scheme);

  test('is exact alone, unless the client prefers authorizations and its program and the wallet allow it', async () => {
    const made = await client.intent('off_1');
    expect(await schemes(made, {})).toEqual(['exact']);
    expect(await schemes(made)).toEqual(['auth-capture', 'exact']);
    const drained = world.service((ports) => ({
      ...ports,
      cluster: new Proxy(ports.cluster, {
        get: (target, name) =>
          name === 'accounts'
            ? async (asked: readonly Address[]) =>
                (await target.accounts(asked)).map((one) =>
                  one?.address === world.authority.address ? { ...one, lamports: 45_000_000n } : one,
                )
            : target[name as 'accounts'],
      }),
    }));
    expect(await schemes(made, PREFER, drained.call)).toEqual(['exact']);
  });

  test.each([
    ['less', (accepted: { amount: string }) => ({ amount: String(BigInt(accepted.amount) - 1n) })],
    ['more', (accepted: { amount: string }) => ({ amount: String(BigInt(accepted.amount) + 1n) })],
    [
      'an earlier deadline',
      ({ extra }: { extra: { captureDeadline: number } }) => ({
        extra: { ...extra, captureDeadline: extra.captureDeadline - 3_600 },
      }),
    ],
    [
      'an operator of its own',
      ({ extra }: { extra: object }) => ({
        extra: { ...extra, captureAuthorizer: world.wallet.address, receiverAuthorizer: world.wallet.address },
      }),
    ],
    ['itself as the payee', () => ({ payTo: world.refundWallet.address })],
  ])('is refused unpaid with %s', async (_what, change) => {
    const made = await client.intent('off_1');
    const before = await world.sums();
    const asked = await client.ask(made);
    const [accepted] = asked.body.accepts as never[];
    const answer = await client.ask(made, await client.sign(asked, change(accepted as never)));
    expect([answer.status, answer.body.error]).toEqual([402, expect.stringMatching(/^payment_verification_failed: /)]);
    expect(await world.sums()).toEqual(before);
  });

  test('is paid by the refund wallet alone, and not once the intent has expired', async () => {
    const other = await world.intent('off_1');
    const refused = await client.book(other);
    expect([refused.status, refused.body.error]).toEqual([402, expect.stringContaining('can authorize')]);
    const made = await client.intent('off_2');
    const signed = await client.sign(await client.ask(made));
    const before = await world.sums();
    world.clock.advance(31 * MINUTE_MS);
    for (const headers of [signed, PREFER]) expect((await client.ask(made, headers)).body.code).toBe('intent_expired');
    expect(await world.sums()).toEqual(before);
  });
});

test('one payment counts: the same one again is answered alike, another one, or a transfer, is refused unpaid', async () => {
  const made = await client.intent('off_1');
  const moved = await since();
  const asked = [await client.ask(made), await client.ask(made)] as const;
  const signed = [await client.sign(asked[0]), await client.sign(asked[1])] as const;
  const transfer = { 'PAYMENT-SIGNATURE': await world.sign(await client.ask(made, {})) };
  const answers = await Promise.all([...signed, signed[0], transfer].map((headers) => client.ask(made, headers)));
  const paid = answers.filter(({ status }) => status === 200);
  expect(paid.length).toBeGreaterThan(0);
  expect(new Set(paid.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  await world.work();
  await later();
  expect(await moved(made)).toEqual({ wallet: -TICKET, treasury: TICKET, vault: 0n });
  for (const headers of [...signed, transfer])
    expect([200, 402, 409]).toContain((await client.ask(made, headers)).status);
  expect(await moved(made)).toEqual({ wallet: -TICKET, treasury: TICKET, vault: 0n });
});

test('money in the escrow that is not used, whichever it is, comes back by itself', async () => {
  const made = await client.intent('off_1');
  const moved = await since();
  await client.book(made);
  // Somebody pays into the opened escrow as well, before and after it is closed.
  await world.cluster.airdropUsdc(made.escrow.address as Address, TICKET + 5n);
  await world.work();
  await later();
  await world.cluster.airdropUsdc(made.escrow.address as Address, 7n);
  for (const _look of [1, 2, 3]) await later(25 * 60 * MINUTE_MS);
  expect(await moved(made)).toEqual({ wallet: 12n, treasury: TICKET, vault: 0n });

  // An authorization beside a transfer that paid.
  const paid = await client.intent('off_2');
  const again = await since();
  await client.authorizeAlone(await client.ask(paid));
  await world.book(paid);
  await world.work();
  for (const _look of [1, 2, 3]) await later(25 * 60 * MINUTE_MS);
  expect(await again(paid)).toEqual({ wallet: -TICKET, treasury: TICKET, vault: 0n });
  expect((await client.placeOf(paid)).kind).toBe('opened');
});

test('without the service the chain shows the authorization by the intent alone, and anybody gives it back in time', async () => {
  const made = await client.intent('off_1');
  const moved = await since();
  world.airline.script.status = 'pending';
  await client.book(made);
  const { cluster, clock } = world;
  const id = made.intent_id;
  const find = () => escrowOnChain(cluster, id, [ESCROW_PROGRAM_ID]);
  const { address } = await client.placeOf(made);
  expect((await find())?.escrow.address).toBe(address);
  await later();
  expect(await isClosed(made.escrow.address)).toBe(true);
  const found = await find();
  if (!found) throw new Error('not found');
  const record = await world.show(made);
  const verify = async (paidOn?: string) =>
    (await escrowChecks(cluster, record, paidOn === undefined ? {} : { paidOn })).filter(({ ok }) => !ok);
  expect(await verify(genesisHashOf(cluster))).toEqual([]);
  expect((await verify(ESCROW_PROGRAM_ID)).map(({ check }) => check)).toEqual(['address']);
  // Before it pays, a client takes the opened escrow alone.
  expect((await verify()).map(({ check }) => check)).toEqual(['program', 'address']);
  const stranger = world.newWallet();
  await cluster.airdropSol(stranger.address, 1_000_000_000n);
  await expect(claimEscrow(cluster, stranger, id, found)).rejects.toMatchObject({ code: 'refund_not_due' });
  clock.advance(Date.parse(record.escrow.refund_after) - clock.now() + 2_000);
  expect(await claimEscrow(cluster, stranger, id, found)).toMatchObject({ outcome: 'refunded', amount: TICKET });
  expect(await moved(made)).toEqual({ wallet: 0n, treasury: 0n, vault: 0n });
});

test('a ticket that comes after the deadline waits for a person, and the money goes back', async () => {
  const made = await client.intent('off_1');
  world.airline.script.status = 'pending';
  await client.book(made);
  await world.work(MINUTE_MS);
  const { escrow } = await world.show(made);
  world.clock.advance(Date.parse(escrow.refund_after) - world.clock.now() + 2_000);
  world.airline.script.status = 'ticketed';
  await world.work();
  const shown = await world.show(made);
  expect([shown.status, shown.captured_at, shown.operator_review_since]).toEqual(['active', null, expect.any(String)]);
  const found = await escrowOnChain(world.cluster, made.intent_id, [ESCROW_PROGRAM_ID]);
  expect(found).toMatchObject({ held: TICKET, escrow: { state: 'open' } });
});

describe('a refund', () => {
  const HOLD_MS = 5 * 60 * MINUTE_MS;
  const BACK = 100_000_000n;

  async function requested(holdAfterTicketMs: number) {
    const desk = await openDesk('scripted', { options: { holdAfterTicketMs } });
    await world.close();
    world = desk.world;
    client = authorizing(world);
    world.airline.script.price = '149.37';
    world.airline.script.conditions = { ...world.airline.script.conditions, refund_penalty_amount: '49.37' } as never;
    const moved = await since();
    const made = await desk.requested({ refund_wallet: world.wallet.address }, (one) => client.book(one));
    const fees = 2n * FEE;
    const plan = `/refund-requests/${made.intent_id}/approve`;
    return { made, approve: () => desk.ask<RefundCase>(plan, { expected_payout_amount: Number(BACK) }), moved, fees };
  }

  test('of a held price is one transaction with two movements', async () => {
    const { made, approve, moved, fees } = await requested(HOLD_MS);
    const { address } = await client.placeOf(made);
    expect(await world.show(made)).toMatchObject({ status: 'booked', captured_at: null, escrow: { address } });
    const { body } = await approve();
    expect(body.status).toBe('refunded');
    const ended = await readEscrow(world.cluster, address, [ESCROW_PROGRAM_ID]);
    expect(ended).toMatchObject({ state: 'captured', captured: 49_370_000n, refunded: 0n });
    expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_tx_hash: body.payout_tx_hash });
    for (const ms of [HOLD_MS, 26 * 60 * MINUTE_MS, 40 * 24 * 60 * MINUTE_MS]) await later(ms);
    expect(await moved(made)).toEqual({ wallet: -49_370_000n - fees, treasury: 49_370_000n + fees, vault: 0n });
    expect(await isClosed(address, made.escrow.address)).toBe(true);
  });

  test('of a captured price comes from the treasury', async () => {
    const { made, approve, moved, fees } = await requested(0);
    expect((await world.show(made)).captured_at).not.toBeNull();
    expect((await approve()).body.status).toBe('refunded');
    await later();
    expect(await moved(made)).toEqual({ wallet: -49_370_000n - fees, treasury: 49_370_000n + fees, vault: 0n });
  });
});

test('a database that was put back finds authorizations again by their intents, and what is unknown goes on too', async () => {
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000n);
  const [booked, failed, waiting] = [
    await client.intent('off_1'),
    await client.intent('off_2'),
    await client.intent('off_3'),
  ];
  world.clock.advance(MINUTE_MS);
  const restore = await dump(world);
  world.clock.advance(MINUTE_MS);
  const moved = await since();
  await client.book(booked);
  await world.work();
  await later();
  const forgotten = await client.intent('off_4');
  await client.book(forgotten);
  await world.work();
  world.airline.script.status = 'failed';
  await client.book(failed);
  await world.work();
  world.airline.script.status = 'pending';
  const ordered = await client.intent('off_5');
  await client.book(ordered);
  await client.book(waiting);
  await world.work(MINUTE_MS);
  const places = await Promise.all([booked, forgotten, failed, ordered, waiting].map((made) => client.placeOf(made)));
  await restore();
  world.airline.script.status = 'ticketed';

  const next = world.service(undefined, { sweepsAtStart: true });
  const found = await next.reconcile({ isDryRun: false });
  const outcomes = found.findings.map(({ kind, subject, outcome }) => [kind, subject, outcome].join(' '));
  expect(outcomes).toEqual(
    expect.arrayContaining([
      `captured ${booked.intent_id} carried_on`,
      `escrow_acts ${booked.intent_id} noted`,
      `refunded ${failed.intent_id} carried_on`,
      `order_adopted ${forgotten.intent_id} carried_on`,
      `order_adopted ${ordered.intent_id} carried_on`,
      `booking_forgotten ${waiting.intent_id} carried_on`,
    ]),
  );
  expect(found.findings.filter(({ outcome }) => outcome === 'person')).toEqual([]);
  for (const ms of [2_000, 11 * MINUTE_MS, 11 * MINUTE_MS]) await later(ms, next);
  const all = [booked, forgotten, failed, ordered, waiting];
  const shown = await Promise.all(all.map((made) => world.show(made)));
  expect(shown.map(({ status }) => status)).toEqual(['booked', 'booked', 'refunded', 'booked', 'booked']);
  expect(shown.map(({ escrow: { address } }) => address)).toEqual(places.map(({ address }) => address));
  // Two intents were made after the backup.
  expect(await moved(booked)).toEqual({ wallet: -4n * TICKET - 2n * FEE, treasury: 4n * TICKET + 2n * FEE, vault: 0n });
  expect(await isClosed(...all.map(({ escrow }) => escrow.address))).toBe(true);
  world.clock.advance(2_000);
  expect((await next.reconcile({ isDryRun: true })).findings).toEqual([]);
});

/** Every n-th moment of a journey, from a random first one. */
const STRIDE = isProof ? 5 : 47;

test('a service that dies at any moment leaves an authorization that is captured or voided, once', async () => {
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  let moments = 0;
  for (let diesAt = 1 + Math.floor(Math.random() * STRIDE); ; diesAt += STRIDE) {
    const made = await client.intent(`off_${diesAt}`);
    const [moved, ordered] = [await since(), world.airline.script.created];
    const { wrap, died } = mortal(diesAt);
    const [doomed, next] = [
      world.service(wrap, { sweepsAtStart: true }),
      world.service(undefined, { sweepsAtStart: true }),
    ];
    const booked = await insist(made, doomed.call, next.call);
    expect([200, 409], `died at ${diesAt}`).toContain(booked.status);
    await doomed.worker.runDue().catch((error: unknown) => {
      if (!(error instanceof Died)) throw error;
    });
    for (const ms of [61_000, 11 * MINUTE_MS, 11 * MINUTE_MS]) await later(ms, next);
    const shown = await world.show(made);
    const back = shown.status === 'refunded';
    expect([diesAt, shown.status]).toEqual([diesAt, expect.stringMatching(/^(booked|refunded)$/)]);
    expect([diesAt, await moved(made)]).toEqual([
      diesAt,
      { wallet: back ? 0n : -TICKET, treasury: back ? 0n : TICKET, vault: 0n },
    ]);
    expect(world.airline.script.created - ordered).toBe(1);
    expect(await isClosed(made.escrow.address, made.escrow.vault_address), `died at ${diesAt}`).toBe(true);
    if (!died()) break;
    moments++;
  }
  expect(moments).toBeGreaterThan(1);
}, 600_000);

/** One request of a client that signs once and repeats what it signed until it knows how it ended. */
async function insist(made: CreatedIntent, first: World['call'], then: World['call']): Promise<Answered> {
  let headers: Record<string, string> = PREFER;
  let call = first;
  for (let tries = 0; tries < 12; tries++) {
    const answer = await client.ask(made, headers, call);
    if (answer.status === 402) headers = await client.sign(answer);
    else if (answer.status < 500) return answer;
    else {
      call = then;
      world.clock.advance(5_000);
    }
  }
  throw new Error('it never ended');
}
