import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address, Signature } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChainEffect, createEffects } from '../../src/effects/index.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { isProblem, type ProblemCode, problem } from '../../src/kernel/problems.ts';
import { openStore } from '../../src/service/home.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import { openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { manualClock } from '../clock.ts';
import { migratedFile } from '../service/migrated.ts';

const AMOUNT = 1_000_000n;
const MINUTE_MS = 60_000;

async function openWorld() {
  const home = mkdtempSync(join(tmpdir(), 'farelock-effects-'));
  const clock = manualClock();
  const cluster = await openEmbeddedCluster({ path: join(home, 'ledger.db'), clock });
  const store = await openStore(await migratedFile(home));
  const payer = signerFromSeed(randomBytes(32));
  const to = signerFromSeed(randomBytes(32)).address;
  await cluster.airdropSol(payer.address, 1_000_000_000n);
  const effectsOver = (changed: Partial<Cluster> = {}) =>
    createEffects({ store, cluster: { ...cluster, ...changed }, clock, ids: randomIds(), log: silentLog });
  const received = async () => (await cluster.accounts([to]))[0]?.lamports ?? 0n;
  const effect: ChainEffect = {
    kind: 'payout',
    subject: 'int_1',
    already: async () => (await received()) > 0n,
    plan: async () => ({
      feePayer: payer,
      instructions: [getTransferSolInstruction({ source: payer, destination: to as Address, amount: AMOUNT })],
    }),
  };
  const rows = () => store.selectFrom('effects').selectAll().orderBy('attempt').execute();
  return {
    home,
    clock,
    cluster,
    store,
    effectsOver,
    received,
    effect,
    rows,
    close: async () => {
      await store.destroy();
      await cluster.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

let world: Awaited<ReturnType<typeof openWorld>>;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const lost = () => problem('cluster_failed');

test('the signed bytes are on record before they are sent', async () => {
  let seen: unknown;
  const effects = world.effectsOver({
    send: async (wire) => {
      seen = (await world.rows()).map(({ state, transaction, signature, live_key }) => ({
        state,
        sameBytes: transaction === Buffer.from(wire).toString('base64'),
        signed: signature !== null,
        live_key,
      }));
      return world.cluster.send(wire);
    },
  });
  const { signature } = await effects.chain(world.effect);
  expect(seen).toEqual([{ state: 'sent', sameBytes: true, signed: true, live_key: 'payout:int_1' }]);
  expect(signature).toBe((await world.rows())[0]?.signature);
  expect((await world.cluster.signatureStatus(signature as Signature))?.err).toBeNull();
  expect(await world.received()).toBe(AMOUNT);
});

test('an effect that was recorded as done while its signature was forgotten tells it once that is remembered', async () => {
  const { signature } = await world.effectsOver().chain(world.effect);
  // Given up meanwhile, by a person.
  await world.store.updateTable('effects').set({ state: 'failed', error: 'expired', live_key: null }).execute();
  world.clock.advance(13 * MINUTE_MS);
  const forgetful = world.effectsOver({ signatureStatus: async () => null });
  expect(await forgetful.chain(world.effect)).toEqual({ signature: null });
  expect(await forgetful.chain(world.effect)).toEqual({ signature: null });
  expect(await world.effectsOver().chain(world.effect)).toEqual({ signature });
  expect(await world.received()).toBe(AMOUNT);
});

test('an effect that is done is never done again', async () => {
  const effects = world.effectsOver();
  const first = await effects.chain(world.effect);
  const second = await effects.chain({ ...world.effect, already: async () => false });
  expect(second).toEqual(first);
  expect(await world.received()).toBe(AMOUNT);
});

test('a lost answer after landing is found by its signature, and nothing is sent anew', async () => {
  const dying = world.effectsOver({
    send: async (wire) => {
      await world.cluster.send(wire);
      throw lost();
    },
    signatureStatus: async () => null,
  });
  await expect(dying.chain(world.effect)).rejects.toSatisfy((error) => isProblem(error, 'cluster_failed'));
  let sends = 0;
  const after = world.effectsOver({
    send: async (wire) => {
      sends++;
      return world.cluster.send(wire);
    },
  });
  await after.chain(world.effect);
  expect(sends).toBe(0);
  expect(await world.received()).toBe(AMOUNT);
  expect((await world.rows()).map((row) => row.state)).toEqual(['done']);
});

test('bytes that never left are sent again as they are, while their blockhash lives', async () => {
  const dying = world.effectsOver({ send: async () => Promise.reject(lost()) });
  await expect(dying.chain(world.effect)).rejects.toThrow();
  const [written] = await world.rows();
  const done = await world.effectsOver().chain({ ...world.effect, plan: () => Promise.reject(new Error('signed')) });
  expect(done.signature).toBe(written?.signature);
  expect(await world.received()).toBe(AMOUNT);
});

test('nothing is signed anew until the blockhash is dead and finalized', async () => {
  const dying = world.effectsOver({ send: async () => Promise.reject(lost()) });
  await expect(dying.chain(world.effect)).rejects.toThrow();
  // Past the last valid height, but not yet past the margin: the old bytes can't be sent, and nothing replaces them.
  world.clock.advance(MINUTE_MS + 5_000);
  await expect(world.effectsOver().chain(world.effect)).rejects.toThrow();
  expect(await world.rows()).toHaveLength(1);
  world.clock.advance(MINUTE_MS);
  const { signature } = await world.effectsOver().chain(world.effect);
  const rows = await world.rows();
  expect(rows.map(({ attempt, state, error }) => ({ attempt, state, error }))).toEqual([
    { attempt: 1, state: 'failed', error: 'expired' },
    { attempt: 2, state: 'done', error: null },
  ]);
  expect(rows[1]?.signature).toBe(signature);
  expect(await world.received()).toBe(AMOUNT);
});

test('what the chain shows done already is not signed, and its signature is found', async () => {
  const dying = world.effectsOver({
    send: async (wire) => {
      await world.cluster.send(wire);
      throw lost();
    },
    signatureStatus: async () => null,
  });
  await expect(dying.chain(world.effect)).rejects.toThrow();
  // As if the row had been given up wrongly.
  await world.store.updateTable('effects').set({ state: 'failed', live_key: null }).execute();
  const { signature } = await world.effectsOver().chain(world.effect);
  expect(signature).toBe((await world.rows())[0]?.signature);
  expect(await world.received()).toBe(AMOUNT);
});

test('two that start at once make one attempt', async () => {
  const results = await Promise.allSettled([
    world.effectsOver().chain(world.effect),
    world.effectsOver().chain(world.effect),
    world.effectsOver().chain(world.effect),
  ]);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  expect(await world.rows()).toHaveLength(1);
  expect(await world.received()).toBe(AMOUNT);
});

test('a lost lease stops before anything is written or sent', async () => {
  const fence = () => Promise.reject(new Error('lease lost'));
  await expect(world.effectsOver().chain({ ...world.effect, fence })).rejects.toThrow('lease lost');
  expect(await world.rows()).toEqual([]);
  expect(await world.received()).toBe(0n);
});

test('a lost lease stops before the bytes of an earlier attempt are sent again', async () => {
  const dying = world.effectsOver({ send: async () => Promise.reject(lost()) });
  await expect(dying.chain(world.effect)).rejects.toThrow();
  const fence = () => Promise.reject(new Error('lease lost'));
  await expect(world.effectsOver().chain({ ...world.effect, fence })).rejects.toThrow('lease lost');
  expect(await world.received()).toBe(0n);
  await world.effectsOver().chain(world.effect);
  expect(await world.received()).toBe(AMOUNT);
});

/** The chain admits one of these only, so that an expired blockhash is proof enough. */
const refunding = (): ChainEffect => ({ ...world.effect, kind: 'refund', already: async () => false });

/** It landed, and its answer was lost. */
async function landUnheard(): Promise<void> {
  const dying = world.effectsOver({
    send: async (wire) => {
      await world.cluster.send(wire);
      throw lost();
    },
    signatureStatus: async () => null,
  });
  await expect(dying.chain(refunding())).rejects.toThrow();
  world.clock.advance(3 * MINUTE_MS);
}

test('a node that has forgotten the status is asked for the transaction itself', async () => {
  await landUnheard();
  const { signature } = await world
    .effectsOver({ signatureStatus: async () => null })
    .chain({ ...refunding(), plan: () => Promise.reject(new Error('signed anew')) });
  expect(signature).toBe((await world.rows())[0]?.signature);
  expect(await world.received()).toBe(AMOUNT);
});

test('the signature is asked about once more before it is given up', async () => {
  await landUnheard();
  let asked = 0;
  const forgetful = world.effectsOver({
    signatureStatus: async (signature) => (asked++ === 0 ? null : world.cluster.signatureStatus(signature)),
    transaction: async () => null,
  });
  await forgetful.chain({ ...refunding(), plan: () => Promise.reject(new Error('signed anew')) });
  expect(await world.received()).toBe(AMOUNT);
});

test('an attempt that waits for a person is given up by nobody else, though it can land no more', async () => {
  const dying = world.effectsOver({ send: async () => Promise.reject(lost()) });
  await expect(dying.chain(refunding())).rejects.toThrow();
  await world.store.updateTable('effects').set({ state: 'stuck' }).execute();
  world.clock.advance(13 * MINUTE_MS);
  const effects = world.effectsOver();
  await effects.recover();
  await expect(effects.chain(refunding())).rejects.toSatisfy((error) => isProblem(error, 'transaction_failed'));
  expect((await world.rows()).map(({ state }) => state)).toEqual(['stuck']);
  expect(await effects.standing('refund', 'int_1', true)).toBe('none');
  await effects.chain(refunding());
  expect(await world.received()).toBe(AMOUNT);
});

/** An attempt whose bytes never left: its blockhash lives. */
async function unsent(effect: ChainEffect = world.effect): Promise<void> {
  const dying = world.effectsOver({ send: async () => Promise.reject(lost()) });
  await expect(dying.chain(effect)).rejects.toThrow();
}
const code = (wanted: ProblemCode) => expect.objectContaining({ code: wanted });
/** Counts what is sent, and sends it. */
function counting() {
  let sends = 0;
  const send: Cluster['send'] = (wire) => {
    sends++;
    return world.cluster.send(wire);
  };
  return { send, sends: () => sends };
}

test('a failure ends an attempt once it is final: on another fork the same bytes can still succeed', async () => {
  await unsent();
  const { send, sends } = counting();
  const failing = (confirmation: 'confirmed' | 'finalized') =>
    world.effectsOver({ send, signatureStatus: async () => ({ err: 'InsufficientFunds', confirmation, slot: 1n }) });
  await expect(failing('confirmed').chain(world.effect)).rejects.toEqual(code('not_final'));
  expect(await world.rows()).toMatchObject([{ state: 'sent' }]);
  expect(await failing('finalized').standing('payout', 'int_1')).toBe('none');
  expect(await world.rows()).toMatchObject([{ state: 'failed', error: 'refused_on_chain', live_key: null }]);
  expect(sends()).toBe(0);
  world.clock.advance(1_000);
  await world.effectsOver().chain(world.effect);
  expect(await world.received()).toBe(AMOUNT);
});

test('an effect that waits for a person is sent by nobody, though it could still land', async () => {
  await unsent();
  await world.store.updateTable('effects').set({ state: 'stuck' }).execute();
  const { send, sends } = counting();
  await expect(world.effectsOver({ send }).chain(world.effect)).rejects.toEqual(code('transaction_failed'));
  expect(sends()).toBe(0);
  expect(await world.rows()).toMatchObject([{ state: 'stuck' }]);
});

test('bytes of which nobody can tell are not sent again, and nothing is signed in their place', async () => {
  await unsent();
  const [row] = await world.rows();
  const { send, sends } = counting();
  const past = BigInt(row?.last_valid_block_height ?? 0) + 40n;
  const doubting = world.effectsOver({ send, finalizedBlockHeight: async () => past, doubtBlocks: 100n });
  await expect(doubting.chain(world.effect)).rejects.toEqual(code('cluster_failed'));
  expect(sends()).toBe(0);
  expect(await world.rows()).toMatchObject([{ state: 'sent', error: 'outcome_unknown' }]);
});

test('a refusal at the door is kept, and proves nothing: the attempt stays alive', async () => {
  const refusing = world.effectsOver({ send: async () => Promise.reject(problem('transaction_failed')) });
  await expect(refusing.chain(world.effect)).rejects.toEqual(code('transaction_failed'));
  expect(await world.rows()).toMatchObject([{ state: 'sent', error: 'transaction_failed' }]);
  const [row] = await world.rows();
  expect(row?.live_key).not.toBeNull();
});

test('an earlier attempt tells its signature once it is final, and one that was given up lately is waited for', async () => {
  const { signature } = await world.effectsOver().chain(world.effect);
  await world.store.updateTable('effects').set({ state: 'failed', error: 'expired', live_key: null }).execute();
  const shown = { ...world.effect, already: async () => true };
  const told = (confirmation: 'confirmed' | 'finalized' | null) =>
    world.effectsOver({ signatureStatus: async () => confirmation && { err: null, confirmation, slot: 1n } });
  await expect(told('confirmed').chain(shown)).rejects.toEqual(code('not_final'));
  await expect(told(null).chain(shown)).rejects.toEqual(code('cluster_failed'));
  expect(await told('finalized').chain(shown)).toEqual({ signature });
});

test('what somebody else has done is on record as done, and nobody’s signature', async () => {
  const shown = { ...world.effect, already: async () => true };
  expect(await world.effectsOver().chain(shown)).toEqual({ signature: null });
  expect(await world.rows()).toMatchObject([{ state: 'done', signature: null }]);
  expect(await world.effectsOver().standing('payout', 'int_1')).toBe('done');
});

test('what is on its way is sent by recovery no second time', async () => {
  let sends = 0;
  const slow = world.effectsOver({
    send: () => {
      sends++;
      // A second one would come back, so that it is seen.
      return sends === 1 ? new Promise(() => undefined) : Promise.reject(lost());
    },
  });
  void slow.chain(world.effect);
  await expect.poll(() => sends).toBe(1);
  world.clock.advance(40_000);
  expect(await slow.recover()).toBe(1);
  expect(sends).toBe(1);
  expect(await world.rows()).toMatchObject([{ state: 'sent' }]);
});

test('recovery finishes what a crash left, and asks nobody when nothing is open', async () => {
  const dying = world.effectsOver({ send: async () => Promise.reject(lost()) });
  await expect(dying.chain(world.effect)).rejects.toThrow();
  expect(await world.effectsOver().recover()).toBe(0);
  world.clock.advance(6_000);
  expect(await world.effectsOver().recover()).toBe(1);
  expect(await world.received()).toBe(AMOUNT);
  const silent = { signatureStatus: () => Promise.reject(new Error('asked')) };
  expect(await world.effectsOver(silent).recover()).toBe(0);
});

test('a repeatable effect can be needed again', async () => {
  const sweep: ChainEffect = { ...world.effect, kind: 'sweep', already: async () => false };
  await world.effectsOver().chain(sweep);
  world.clock.advance(1_000); // Another blockhash: equal bytes would be the same transaction.
  await world.effectsOver().chain(sweep);
  expect(await world.received()).toBe(2n * AMOUNT);
  expect(await world.effectsOver().standing('sweep', 'int_1')).toBe('none');
});

interface Order {
  id: string;
}

function airline(answers: { create: () => Promise<Order>; find: () => Promise<Order | null | 'unknown'> }) {
  let created = 0;
  return {
    created: () => created,
    effect: {
      subject: 'int_1',
      reference: 'int_1',
      create: () => {
        created++;
        return answers.create();
      },
      find: answers.find,
      idOf: (order: Order) => order.id,
      refused: (error: unknown) => isProblem(error, 'offer_unavailable'),
    },
  };
}

const asksNobody = () => Promise.reject(new Error('nobody has to be asked'));

test('an airline that did not answer is asked under our reference, and not ordered from twice', async () => {
  const shop = airline({ create: () => Promise.reject(problem('provider_failed')), find: async () => ({ id: 'A1' }) });
  expect(await world.effectsOver().airline(shop.effect)).toEqual({ id: 'A1' });
  expect(await world.effectsOver().airline(shop.effect)).toEqual({ id: 'A1' });
  expect(shop.created()).toBe(1);
  expect((await world.rows()).map(({ state, result }) => ({ state, result }))).toEqual([
    { state: 'done', result: 'A1' },
  ]);
});

test('while an order may exist the attempt stays alive', async () => {
  const silent = () => Promise.reject(problem('provider_failed'));
  const shop = airline({ create: silent, find: silent });
  await expect(world.effectsOver().airline(shop.effect)).rejects.toThrow();
  await expect(world.effectsOver().airline(shop.effect)).rejects.toThrow();
  expect(shop.created()).toBe(1);
  expect(await world.effectsOver().standing('airline_order', 'int_1')).toBe('open');
});

test('a refusal, and an order that was certainly never made, end the attempt', async () => {
  const refusing = airline({ create: () => Promise.reject(problem('offer_unavailable')), find: async () => null });
  await expect(world.effectsOver().airline(refusing.effect)).rejects.toThrow();
  expect(await world.effectsOver().standing('airline_order', 'int_1')).toBe('none');
  const failing = airline({ create: () => Promise.reject(problem('provider_failed')), find: async () => null });
  await expect(world.effectsOver().airline(failing.effect)).rejects.toThrow();
  expect(await world.effectsOver().standing('airline_order', 'int_1')).toBe('none');
});

test('a refusal is kept with its code and the airline’s own words, and the next attempt is a new one', async () => {
  const told = () => ({ code: 'sold_out', request_id: 'req-7' });
  const { effect } = airline({ create: () => Promise.reject(problem('offer_unavailable')), find: asksNobody });
  await expect(world.effectsOver().airline({ ...effect, told })).rejects.toMatchObject({ code: 'offer_unavailable' });
  const reason = airline({ create: () => Promise.reject(new Error('no')), find: asksNobody });
  const refused = () => 'form_rejected';
  await expect(world.effectsOver().airline({ ...reason.effect, refused })).rejects.toThrow('no');
  const { effect: taking } = airline({ create: async () => ({ id: 'A3' }), find: asksNobody });
  expect(await world.effectsOver().airline(taking)).toEqual({ id: 'A3' });
  expect((await world.rows()).map(({ state, error, detail }) => [state, error, detail])).toEqual([
    ['failed', 'offer_unavailable', JSON.stringify(told())],
    ['failed', 'form_rejected', null],
    ['done', null, null],
  ]);
});

test('an order that may be one waits for a person, is asked about, and is never made a second time', async () => {
  const doubtful = airline({ create: async () => ({ id: 'A4' }), find: async () => ({ id: 'A4' }) });
  const isOpen = { now: true };
  const waitsForPerson = () => (isOpen.now ? 'no_confirmation' : null);
  const effect = { ...doubtful.effect, waitsForPerson };
  expect(await world.effectsOver().airline(effect)).toEqual({ id: 'A4' });
  expect(await world.rows()).toMatchObject([{ state: 'stuck', error: 'no_confirmation', result: 'A4' }]);
  isOpen.now = false;
  expect(await world.effectsOver().airline(effect)).toEqual({ id: 'A4' });
  expect(await world.rows()).toMatchObject([{ state: 'done', error: null, result: 'A4' }]);
  expect(doubtful.created()).toBe(1);
});

test.each(['done', 'stuck'] as const)(
  'an order that was made (%s) and is not known any more is no reason to make another',
  async (state) => {
    const { effect, created } = airline({ create: async () => ({ id: 'A5' }), find: async () => null });
    const waitsForPerson = () => (state === 'stuck' ? 'no_confirmation' : null);
    await world.effectsOver().airline({ ...effect, waitsForPerson });
    await expect(world.effectsOver().airline(effect)).rejects.toMatchObject({ code: 'provider_failed' });
    expect(created()).toBe(1);
    expect(await world.rows()).toMatchObject([{ state }]);
  },
);

test('an airline that cannot know keeps the attempt alive: it is asked again, and never ordered from twice', async () => {
  let orders = 0;
  const unknowing = airline({
    create: async () => {
      orders++;
      throw problem('provider_failed');
    },
    find: async () => 'unknown',
  });
  for (let time = 0; time < 3; time++) {
    await expect(world.effectsOver().airline(unknowing.effect)).rejects.toMatchObject({ code: 'provider_failed' });
    expect(await world.effectsOver().standing('airline_order', 'int_1')).toBe('open');
  }
  expect(orders).toBe(1);
  const found = airline({ create: () => Promise.reject(problem('provider_failed')), find: async () => ({ id: 'A1' }) });
  expect(await world.effectsOver().airline(found.effect)).toEqual({ id: 'A1' });
});

test('after a crash in the middle of an order the airline is asked first', async () => {
  const dying = airline({ create: () => new Promise(() => undefined), find: async () => null });
  void world.effectsOver().airline(dying.effect);
  await expect.poll(world.rows).toHaveLength(1);
  const after = airline({ create: () => Promise.reject(new Error('ordered twice')), find: async () => ({ id: 'A1' }) });
  expect(await world.effectsOver().airline(after.effect)).toEqual({ id: 'A1' });
});

test('an airline that knows no order is believed only once whoever was overtaken can no longer ask it', async () => {
  const stalled = airline({ create: () => new Promise(() => undefined), find: async () => null });
  void world.effectsOver().airline(stalled.effect);
  await expect.poll(world.rows).toHaveLength(1);
  const after = airline({ create: async () => ({ id: 'A2' }), find: async () => null });
  await expect(world.effectsOver().airline(after.effect)).rejects.toMatchObject({ code: 'provider_failed' });
  expect(after.created()).toBe(0);
  expect(await world.effectsOver().standing('airline_order', 'int_1')).toBe('open');
  world.clock.advance(20_000);
  expect(await world.effectsOver().airline(after.effect)).toEqual({ id: 'A2' });
  expect(await world.rows()).toMatchObject([{ state: 'failed', error: 'never_made' }, { state: 'done' }]);
});

test('what was called off never begins, and what has begun is not called off', async () => {
  const { effectsOver, effect, received, rows } = world;
  const effects = effectsOver();
  expect(await effects.callOff('payout', 'int_1')).toBe(true);
  expect(await effects.callOff('payout', 'int_1')).toBe(true);
  await expect(effects.chain(effect)).rejects.toMatchObject({ code: 'transaction_failed' });
  expect(await received()).toBe(0n);
  expect(await effects.standing('payout', 'int_1')).toBe('none');
  expect(await rows()).toMatchObject([{ state: 'failed', signature: null, attempt: 1 }]);
  expect((await effects.chain({ ...effect, subject: 'int_2' })).signature).not.toBeNull();
  expect(await effects.callOff('payout', 'int_2')).toBe(false);
});
