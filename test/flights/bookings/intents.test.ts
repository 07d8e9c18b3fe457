import type { Address } from '@solana/kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEscrow } from '../../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { openInstructions } from '../../../src/escrow/program.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { openStore } from '../../../src/service/home.ts';
import type { Cluster } from '../../../src/solana/cluster.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { buildTransaction, refused, signatureOf } from '../../../src/solana/transaction.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { createdIntent, intent as intentSchema } from '../../../src/wire/flights/schema.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

const FEE = 100_000n;

let world: World;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(() => world.close());

const request = (offerId = 'off_1') => ({
  funding_wallet: world.wallet.address,
  refund_wallet: world.refundWallet.address,
  offer_id: offerId,
});
const spent = async (before: bigint) => before - (await world.usdc(world.wallet.address));
const escrowOf = (made: CreatedIntent) =>
  readEscrow(world.cluster, made.escrow.address as Address, [ESCROW_PROGRAM_ID]);

test('a created intent shows the escrow as the chain has it, and its code once', async () => {
  const before = await world.usdc(world.wallet.address);
  const made = await world.intent('off_1');
  expect(createdIntent.parse(made)).toEqual(made);
  expect(made.customer_support_code).toMatch(/^FLK(-[0-9A-HJKMNP-TV-Z]{4}){4}$/);
  expect(await spent(before)).toBe(FEE);
  const escrow = await escrowOf(made);
  expect(escrow).toMatchObject({
    state: 'open',
    authority: world.authority.address,
    treasury: world.treasury.address,
    refundOwner: world.refundWallet.address,
    mint: made.escrow.mint,
    vault: made.escrow.vault_address,
    programId: made.escrow.program_id,
    amount: BigInt(made.escrow.amount),
  });
  expect(Number(escrow?.refundAfter) * 1000).toBe(Date.parse(made.escrow.refund_after));
  const shown = await world.show(made);
  expect(intentSchema.parse(shown)).toEqual(shown);
  expect(shown).not.toHaveProperty('customer_support_code');
  const { customer_support_code: code, ...rest } = made;
  expect(shown).toEqual(rest);
  // The code is nowhere on the disk in clear.
  const rows = JSON.stringify(await world.store.selectFrom('intents').selectAll().execute());
  expect(rows).not.toContain(code);
});

test('an intent lives as long as its offer, at most 30 minutes, and is refundable 24 hours later', async () => {
  world.airline.script.lifeMs = 10 * 60_000;
  const short = await world.intent('off_1');
  world.airline.script.lifeMs = 3 * 3_600_000;
  const long = await world.intent('off_2');
  const life = (made: CreatedIntent) => Date.parse(made.expires_at) - Date.parse(made.created_at);
  expect(life(short)).toBeLessThanOrEqual(10 * 60_000);
  expect(life(long)).toBe(30 * 60_000);
  for (const made of [short, long]) {
    const wait = Date.parse(made.escrow.refund_after) - Date.parse(made.expires_at);
    expect(wait).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(wait).toBeLessThan(24 * 3_600_000 + 1000);
  }
});

test('the refund wallet defaults to the funding wallet', async () => {
  const answer = await world.paid('/air/intents', {
    funding_wallet: world.wallet.address,
    offer_id: 'off_1',
    referrer: 'nobody',
  });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ refund_wallet: world.wallet.address });
  expect(answer.body).not.toHaveProperty('referrer');
});

test('the same payment again gets the same answer and is charged once', async () => {
  const before = await world.usdc(world.wallet.address);
  const payment = await world.sign(await world.call('/air/intents', request()));
  const headers = { 'PAYMENT-SIGNATURE': payment };
  const first = await world.call('/air/intents', request(), { headers });
  const second = await world.service().call('/air/intents', request(), { headers });
  expect(first.status).toBe(201);
  expect(second.body).toEqual(first.body);
  expect(await spent(before)).toBe(FEE);
});

test('of two processes that show one paid creation, one gives its support code out', async () => {
  const asked = await world.call('/air/intents', request());
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(asked) };
  let wake = () => {};
  let asleep = () => {};
  const sleeping = new Promise<void>((resolve) => {
    asleep = resolve;
  });
  const own = await openStore(world.database);
  const settled = new WeakSet<object>();
  const slow = world.service((ports) => ({
    ...ports,
    store: own.withPlugin({
      transformQuery({ node, queryId }) {
        if (node.kind === 'RawNode' && JSON.stringify(node).includes('settle_response')) settled.add(queryId);
        return node;
      },
      // It has noted the payment as settled, is about to show the intent, and is held up there.
      async transformResult({ result, queryId }) {
        if (settled.has(queryId) && result.numAffectedRows === 1n) {
          asleep();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        return result;
      },
    }),
  }));
  const late = slow.call<CreatedIntent>('/air/intents', request(), { headers });
  await sleeping;
  world.clock.advance(5_000);
  const made = await world.call<CreatedIntent>('/air/intents', request(), { headers });
  expect(made.status).toBe(201);
  wake();
  expect(await late).toMatchObject({ status: 503, body: { code: 'payment_pending' } });
  expect((await slow.call('/air/intents', request(), { headers })).body).toEqual(made.body);
  const show = await world.call(`/air/intents/${made.body.intent_id}`, undefined, {
    headers: { 'X-Customer-Support-Code': made.body.customer_support_code },
  });
  expect(show.status).toBe(200);
  await own.destroy();
});

test('of two creations at once for the same pair one wins, and only one is paid', async () => {
  const before = await world.usdc(world.wallet.address);
  const payments = await Promise.all(
    [1, 2, 3].map(async () => world.sign(await world.call('/air/intents', request()))),
  );
  const services = payments.map(() => world.service());
  const answers = await Promise.all(
    payments.map((payment, index) =>
      services[index]?.call('/air/intents', request(), { headers: { 'PAYMENT-SIGNATURE': payment } }),
    ),
  );
  const won = answers.filter((answer) => answer?.status === 201);
  const lost = answers.filter((answer) => answer?.status === 409);
  expect([won.length, lost.length]).toEqual([1, 2]);
  for (const answer of lost) {
    expect(answer?.body).toMatchObject({
      code: 'intent_already_exists',
      detail: { intent_id: won[0]?.body.intent_id },
    });
  }
  expect(await spent(before)).toBe(FEE);
});

test('an expired intent gives its pair up, and its unpaid escrow is closed, every rent back', async () => {
  const old = await world.intent('off_1');
  world.clock.advance(31 * 60_000);
  const fresh = await world.intent('off_1');
  expect(fresh.intent_id).not.toBe(old.intent_id);
  await world.work();
  const places = [old.escrow.address, old.escrow.vault_address] as Address[];
  expect(await world.cluster.accounts(places)).toEqual([null, null]);
  expect((await escrowOf(fresh))?.state).toBe('open');
  expect((await world.show(old)).status).toBe('active');
});

/** A cluster on which the wallet is emptied right after its payment was verified. */
const draining = (cluster: Cluster): Cluster => {
  let drained = false;
  return {
    ...cluster,
    send: async (wire) => {
      if (!drained) {
        drained = true;
        await world.drain();
      }
      return cluster.send(wire);
    },
  };
};

test('when the fee cannot be settled the intent is not shown, its escrow is closed and the pair is free', async () => {
  const unlucky = world.service((ports) => ({ ...ports, cluster: draining(ports.cluster) }));
  const answer = await world.paid('/air/intents', request(), { call: unlucky.call });
  expect(answer.status).toBe(402);
  expect(answer.body.error).toMatch(/^payment_settlement_failed/);
  const row = await world.store.selectFrom('intents').selectAll().executeTakeFirstOrThrow();
  expect((await world.call(`/air/intents/${row.intent_id}`)).status).toBe(404);
  // At once: nobody has to come for it.
  const places = [row.escrow_address, row.vault_address] as Address[];
  expect(await world.cluster.accounts(places)).toEqual([null, null]);
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000n);
  expect((await world.intent('off_1')).status).toBe('active');
});

test('an escrow that could not be opened costs nothing and does not hold the pair', async () => {
  const before = await world.usdc(world.wallet.address);
  const weak = world.service((ports) => ({
    ...ports,
    cluster: { ...ports.cluster, send: () => Promise.reject(problem('transaction_failed')) },
  }));
  const answer = await world.paid('/air/intents', request(), { call: weak.call });
  expect([answer.status, answer.body.code]).toEqual([502, 'escrow_initialization_failed']);
  expect(await spent(before)).toBe(0n);
  expect((await world.intent('off_1')).status).toBe('active');
  expect(await spent(before)).toBe(FEE);
  // What the failed one may still open later is closed in the end.
  await world.work();
  const rows = await world.store.selectFrom('intents').selectAll().where('abandoned', '=', 1).execute();
  expect(rows).toHaveLength(1);
  expect(await readEscrow(world.cluster, rows[0]?.escrow_address as Address, [ESCROW_PROGRAM_ID])).toBeNull();
});

test('the amount seen in the vault is read from the chain while the intent is active', async () => {
  const made = await world.intent('off_1');
  expect((await world.show(made)).escrow.observed_amount).toBe(0);
  await world.cluster.airdropUsdc(made.escrow.address as Address, 7n);
  expect((await world.show(made)).escrow.observed_amount).toBe(7);
});

/** Opens the escrow of the only intent there is, as its authority and treasury. */
async function openAs(stranger: Signer, cluster: Cluster): Promise<void> {
  const intent = await world.store.selectFrom('intents').selectAll().executeTakeFirstOrThrow();
  const instructions = await openInstructions({
    programId: ESCROW_PROGRAM_ID,
    authority: stranger.address,
    payer: stranger.address,
    mint: world.mint,
    treasury: stranger.address,
    refundOwner: intent.refund_wallet as Address,
    intentId: intent.intent_id,
    amount: BigInt(intent.amount),
    refundAfter: BigInt(Math.floor(intent.refund_after_ms / 1000)),
  });
  const blockhash = await cluster.latestBlockhash();
  await cluster.send(buildTransaction({ feePayer: stranger, blockhash, instructions }).wire);
}

test('an escrow whose opening was on a fork that is dropped, and that a stranger then opened, is not paid', async () => {
  const stranger = world.newWallet();
  await world.cluster.airdropSol(stranger.address, 5_000_000_000n);
  let dropped = false;
  const forked = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      async send(wire) {
        if (dropped) return ports.cluster.send(wire);
        dropped = true;
        await openAs(stranger, ports.cluster);
        return signatureOf(wire);
      },
    },
  }));
  const made = await world.paid<CreatedIntent>('/air/intents', request(), { call: forked.call });
  expect(made.status).toBe(201);
  const booked = await world.call('/air/book', { intent_id: made.body.intent_id, passengers: [PASSENGER] });
  expect([booked.status, booked.body.code]).toEqual([409, 'escrow_missing']);
});

test('an opening whose bytes grew too old in a cluster cut is pending, and the same payment goes on to its intent', async () => {
  const before = await world.usdc(world.wallet.address);
  let cuts = 1;
  const slow = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      send: (wire) =>
        cuts-- > 0 ? Promise.reject(refused('BlockhashNotFound', 'it is too old')) : ports.cluster.send(wire),
    },
  }));
  const asked = await slow.call('/air/intents', request());
  const headers = { 'PAYMENT-SIGNATURE': await world.sign(asked) };
  const cut = await slow.call('/air/intents', request(), { headers });
  expect([cut.status, cut.body.code, cut.headers.get('retry-after')]).toEqual([503, 'payment_pending', '2']);
  const again = await slow.call('/air/intents', request(), { headers });
  expect(again.status, JSON.stringify(again.body)).toBe(201);
  expect(await spent(before)).toBe(FEE);
});

test('an escrow that a stranger opened first at the same address is not taken for ours, and costs nothing', async () => {
  const stranger = world.newWallet();
  await world.cluster.airdropSol(stranger.address, 5_000_000_000n);
  let raced = false;
  /** Sees the opening on its way, and opens the very address on terms of its own before it lands. */
  const watched = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      async send(wire) {
        const intent = await ports.store.selectFrom('intents').selectAll().executeTakeFirst();
        if (!raced && intent) {
          raced = true;
          await openAs(stranger, ports.cluster);
        }
        return ports.cluster.send(wire);
      },
    },
  }));
  const before = await world.usdc(world.wallet.address);
  const answer = await world.paid('/air/intents', request(), { call: watched.call });
  expect(raced).toBe(true);
  expect([answer.status, answer.body.code]).toEqual([502, 'escrow_initialization_failed']);
  expect(await spent(before)).toBe(0n);
});
