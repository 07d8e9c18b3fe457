import { createHash } from 'node:crypto';
import { type Address, createAddressWithSeed } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEffects, type Effects } from '../../../src/effects/index.ts';
import { createPayouts } from '../../../src/flights/refunds/payouts.ts';
import { payoutMemo } from '../../../src/kernel/domain/payout-names.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { OperatorKeys } from '../../../src/payments/index.ts';
import type { Cluster } from '../../../src/solana/cluster.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { MEMO_PROGRAM } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  await world.cluster.airdropUsdc(world.treasury.address, 10_000_000n);
});
afterAll(() => world.close());

function payouts(cluster: Cluster = world.cluster) {
  const { store, clock, authority, treasury } = world;
  const effects = createEffects({ store, cluster, clock, ids: randomIds(clock.now), log: silentLog });
  return createPayouts({ store, cluster, clock, effects, authority, treasurySigner: treasury, mint: world.mint });
}

test('a pay-out opens the token account of its wallet and moves exactly its amount', async () => {
  const to = world.newWallet().address;
  const before = await world.usdc(world.treasury.address);
  const { signature } = await payouts()({ subject: 'pay_a', to, amount: 1_234_567n });
  expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/);
  expect(await world.usdc(to)).toBe(1_234_567n);
  expect(await world.usdc(world.treasury.address)).toBe(before - 1_234_567n);
});

test('one subject is paid once, however often and from however many processes it is asked for', async () => {
  const to = world.newWallet().address;
  const asked = { subject: 'pay_b', to, amount: 500_000n };
  const answers = await Promise.all([payouts()(asked), payouts()(asked), payouts()(asked)]);
  answers.push(await payouts()(asked));
  expect(new Set(answers.map((one) => one.signature)).size).toBe(1);
  expect(await world.usdc(to)).toBe(500_000n);
});

test('two pay-outs of one amount to one wallet at one moment are two', async () => {
  const to = world.newWallet().address;
  await Promise.all(['pay_c', 'pay_d'].map((subject) => payouts()({ subject, to, amount: 100_000n })));
  expect(await world.usdc(to)).toBe(200_000n);
});

test('more than the treasury holds is refused before anything is signed', async () => {
  const to = world.newWallet().address;
  const amount = (await world.usdc(world.treasury.address)) + 1n;
  await expect(payouts()({ subject: 'pay_e', to, amount })).rejects.toMatchObject({ code: 'treasury_insufficient' });
  const rows = await world.store.selectFrom('effects').selectAll().where('subject', '=', 'pay_e').execute();
  expect(rows).toEqual([]);
});

test('a pay-out whose answer was lost is found on chain, not made again', async () => {
  const to = world.newWallet().address;
  const silent: Cluster = {
    ...world.cluster,
    send: async (wire) => {
      await world.cluster.send(wire);
      throw problem('cluster_failed');
    },
    signatureStatus: async () => null,
  };
  const asked = { subject: 'pay_f', to, amount: 300_000n };
  await expect(payouts(silent)(asked)).rejects.toMatchObject({ code: 'cluster_failed' });
  await payouts()(asked);
  expect(await world.usdc(to)).toBe(300_000n);
});

test('a pay-out that was given up for lost and landed after all is not made again', async () => {
  const to = world.newWallet().address;
  const asked = { subject: 'pay_g', to, amount: 300_000n };
  await payouts()(asked);
  await world.store
    .updateTable('effects')
    .set({ state: 'failed', live_key: null, error: 'expired' })
    .where('subject', '=', 'pay_g')
    .execute();
  await payouts()(asked);
  expect(await world.usdc(to)).toBe(300_000n);
});

test('a pay-out that was given up is signed anew only when the history shows none with its memo', async () => {
  const to = world.newWallet().address;
  const asked = { subject: 'pay_m', to, amount: 300_000n };
  await expect(
    payouts({ ...world.cluster, send: async () => Promise.reject(problem('cluster_failed')) })(asked),
  ).rejects.toMatchObject({ code: 'cluster_failed' });
  await world.store
    .updateTable('effects')
    .set({ state: 'failed', live_key: null, error: 'expired' })
    .where('subject', '=', 'pay_m')
    .execute();
  const looked: unknown[] = [];
  const isAbsent: Cluster['isAbsent'] = async (trace) => {
    looked.push(trace);
    return false;
  };
  await expect(payouts({ ...world.cluster, isAbsent })(asked)).rejects.toMatchObject({ code: 'cluster_failed' });
  expect(looked).toEqual([{ memo: payoutMemo('pay_m') }]);
  const rows = await world.store.selectFrom('effects').selectAll().where('subject', '=', 'pay_m').execute();
  expect(rows).toHaveLength(1);
  world.clock.advance(1_000);
  await payouts()(asked);
  expect(await world.usdc(to)).toBe(300_000n);
});

test('whoever may no longer act pays nothing', async () => {
  const to = world.newWallet().address;
  const fence = async () => {
    throw new Error('the lease is lost');
  };
  await expect(payouts()({ subject: 'pay_h', to, amount: 1n, fence })).rejects.toThrow('lease');
  expect(await world.usdc(to)).toBe(0n);
});

/** Where the marker of a subject will be: anybody can work it out. */
const markerOf = (subject: string) =>
  createAddressWithSeed({
    baseAddress: world.authority.address,
    programAddress: '11111111111111111111111111111111' as Address,
    seed: createHash('sha256').update(`farelock payout ${subject}`).digest('hex').slice(0, 32),
  });

test('the chain admits one pay-out for a subject, also of two that were signed', async () => {
  const to = world.newWallet().address;
  const asked = { subject: 'pay_i', to, amount: 300_000n };
  await payouts()(asked);
  world.clock.advance(1_000); // Another blockhash: equal bytes would be the same transaction.
  // Every trace is lost, here and of the account that stands for it: another one is signed, and sent.
  await world.store.deleteFrom('effects').where('subject', '=', 'pay_i').execute();
  const marker = await markerOf('pay_i');
  const blind: Cluster = {
    ...world.cluster,
    accounts: async (addresses) =>
      (await world.cluster.accounts(addresses)).map((one) => (one?.address === marker ? null : one)),
  };
  await expect(payouts(blind)(asked)).rejects.toMatchObject({ code: 'transaction_failed' });
  expect(await world.usdc(to)).toBe(300_000n);
});

test('lamports that a stranger sends to where the marker will be neither stop a pay-out nor stand for one', async () => {
  const to = world.newWallet().address;
  await world.cluster.airdropSol(await markerOf('pay_j'), 5_000_000n);
  await payouts()({ subject: 'pay_j', to, amount: 300_000n });
  expect(await world.usdc(to)).toBe(300_000n);
});

test('a reader of the chain learns no id from a pay-out', async () => {
  const sent: string[] = [];
  const heard: Cluster = {
    ...world.cluster,
    send: async (wire) => {
      sent.push(Buffer.from(wire).toString('latin1'));
      return world.cluster.send(wire);
    },
  };
  const subject = randomIds(world.clock.now).next('int');
  await payouts(heard)({ subject, to: world.newWallet().address, amount: 300_000n });
  expect(sent).toEqual([expect.stringContaining(payoutMemo(subject))]);
  expect(sent[0]).not.toContain(subject);
  expect(sent[0]).not.toContain(subject.slice(4));
});

/** Pays with the first of some authorities, all of which are alive; others were retired. */
function payoutsUnder(
  [authority, ...others]: readonly [Signer, ...Signer[]],
  cluster: Cluster = world.cluster,
  retired: Signer[] = [],
) {
  const { store, clock, treasury, mint } = world;
  const effects = createEffects({ store, cluster, clock, ids: randomIds(clock.now), log: silentLog });
  const signing = [authority, ...others];
  const addresses = signing.map(({ address }) => address);
  const all = [...addresses, ...retired.map(({ address }) => address)];
  const seen = { all, live: addresses, signing: addresses };
  const authorities: OperatorKeys = {
    first: authority.address,
    seen: () => seen,
    look: async () => seen,
    has: (address) => addresses.includes(address),
    signer: (address) => signing.find((one) => one.address === address) ?? authority,
  };
  return createPayouts({ store, cluster, clock, effects, authority, authorities, treasurySigner: treasury, mint });
}

/** As a database that was put back to before it. */
const forget = (subject: string) => world.store.deleteFrom('effects').where('subject', '=', subject).execute();

test('a pay-out under one authority is found under the next one, and after the first is retired', async () => {
  const next = world.newWallet();
  await world.cluster.airdropSol(next.address, 1_000_000_000n);
  const asked = { subject: 'pay_rotated', to: world.newWallet().address, amount: 300_000n };
  const first = await payouts()(asked);
  await forget(asked.subject);
  expect(await payoutsUnder([next, world.authority])(asked)).toEqual(first);
  await forget(asked.subject);
  expect(await payoutsUnder([next], world.cluster, [world.authority])(asked)).toEqual(first);
  expect(await world.usdc(asked.to)).toBe(300_000n);
});

test('while two authorities are alive, the chain refuses a second pay-out by either one alone', async () => {
  const next = world.newWallet();
  await world.cluster.airdropSol(next.address, 1_000_000_000n);
  const asked = { subject: randomIds(world.clock.now).next('int'), to: world.newWallet().address, amount: 300_000n };
  await payoutsUnder([next, world.authority])(asked);
  const blind: Cluster = {
    ...world.cluster,
    accounts: async (...given) =>
      (await world.cluster.accounts(...given)).map((one) => (one?.data.length === 1 ? null : one)),
  };
  for (const authority of [world.authority, next]) {
    await forget(asked.subject);
    await expect(payoutsUnder([authority], blind)(asked)).rejects.toMatchObject({ code: 'transaction_failed' });
    expect(await world.usdc(asked.to)).toBe(300_000n);
  }
});

/** Pays as an earlier release did: its memo has the subject in clear. */
async function payAsBefore(asked: Parameters<ReturnType<typeof createPayouts>>[0], marks: boolean) {
  const { cluster, store, clock, authority, treasury, mint } = world;
  const effects: Pick<Effects, 'chain'> = {
    async chain({ plan }) {
      const { feePayer, signers = [], instructions } = await plan();
      const memo = Buffer.from(`farelock payout ${asked.subject}`);
      const blockhash = await cluster.latestBlockhash();
      const { wire } = buildTransaction({
        feePayer,
        signers,
        blockhash,
        instructions: (marks ? instructions : instructions.slice(2)).map((one) =>
          one.programAddress === MEMO_PROGRAM ? { ...one, data: memo } : one,
        ),
      });
      return { signature: await cluster.send(wire) };
    },
  };
  const given = { store, cluster, clock, authority, treasurySigner: treasury, mint };
  return createPayouts({ ...given, effects: effects as Effects })(asked);
}

test('a pay-out of an earlier release, whose row is gone, is found by its memo and not made again', async () => {
  const to = world.newWallet().address;
  const asked = { subject: 'pay_o', to, amount: 300_000n };
  const before = await payAsBefore(asked, true);
  world.clock.advance(1_000);
  expect(await payouts()(asked)).toEqual(before);
  expect(await world.usdc(to)).toBe(300_000n);
});

test('a pay-out from before there were markers, which was given up for lost, is not made again', async () => {
  const to = world.newWallet().address;
  const asked = { subject: 'pay_p', to, amount: 300_000n };
  const lost = { ...world.cluster, send: async () => Promise.reject(problem('cluster_failed')) };
  await expect(payouts(lost)(asked)).rejects.toMatchObject({ code: 'cluster_failed' });
  await world.store
    .updateTable('effects')
    .set({ state: 'failed', live_key: null, error: 'expired' })
    .where('subject', '=', 'pay_p')
    .execute();
  await payAsBefore(asked, false);
  world.clock.advance(1_000);
  await expect(payouts()(asked)).rejects.toMatchObject({ code: 'cluster_failed' });
  expect(await world.usdc(to)).toBe(300_000n);
});
