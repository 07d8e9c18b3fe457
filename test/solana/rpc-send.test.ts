import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import { parseTransaction } from '../../src/solana/embedded/parse.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { MEMO_PROGRAM } from '../../src/solana/token.ts';
import { buildTransaction, signatureOf, signPriced } from '../../src/solana/transaction.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';
import { type Lie, openLyingCluster, said, sentSignature, told, troubled } from './lying-rpc.ts';

/** From signed bytes to what became of them, on a node that lies, lags and loses. */

const SOL = 1_000_000_000n;
const alice = signerFromSeed(new Uint8Array(32).fill(51));
const bob = signerFromSeed(new Uint8Array(32).fill(52));

let endpoint: RpcEndpoint;
let liar: Awaited<ReturnType<typeof openLyingCluster>>;
let cluster: Cluster;
beforeAll(async () => {
  endpoint = await openRpcEndpoint();
  await endpoint.cluster.airdropSol(alice.address, 10n * SOL);
});
afterAll(() => endpoint.close());
beforeEach(async () => {
  liar = await openLyingCluster(endpoint, endpoint.clock.advance);
  cluster = liar.cluster;
});

const pay = (amount: bigint) => getTransferSolInstruction({ source: alice, destination: bob.address, amount });
const transfer = async (amount: bigint, blockhash = cluster.latestBlockhash()) =>
  buildTransaction({ feePayer: alice, instructions: [pay(amount)], blockhash: await blockhash });
const problemOf = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return isProblem(error) ? { code: error.code, error: error.detail?.error } : error;
};
const sends = () => liar.heard.filter(({ call }) => call.method === 'sendTransaction').map(({ call }) => call);
const held = async () => (await endpoint.cluster.accounts([bob.address]))[0]?.lamports ?? 0n;

describe('sending', () => {
  it('tries out first: what would fail is never sent', async () => {
    const { wire } = await transfer(100n * SOL);
    expect(await problemOf(cluster.send(wire))).toEqual({
      code: 'transaction_failed',
      error: { InstructionError: [0, { Custom: 1 }] },
    });
    expect(sends()).toEqual([]);
  });

  it('sends the same bytes again every two seconds while they are dropped', async () => {
    const { wire, signature } = await transfer(1_000_000n);
    const at: number[] = [];
    liar.tell = async (call, honest) => {
      if (call.method !== 'sendTransaction') return honest();
      at.push(endpoint.clock.now());
      return at.length < 6 ? said(call, sentSignature(call)) : honest();
    };
    const before = await held();
    expect(await cluster.send(wire)).toBe(signature);
    expect(new Set(sends().map(({ params }) => params[0]))).toEqual(new Set([Buffer.from(wire).toString('base64')]));
    expect(at.slice(1).map((ms, place) => ms - (at[place] ?? 0))).toEqual(Array(5).fill(2_000));
    expect((await held()) - before).toBe(1_000_000n);
  });

  it('sends on when the block that had it is dropped', async () => {
    const { wire, signature } = await transfer(1_100_000n);
    let polls = 0;
    liar.tell = async (call, honest) => {
      if (call.method === 'sendTransaction' && polls < 3) return said(call, sentSignature(call));
      const answer = await honest();
      if (call.method === 'getSignatureStatuses' && polls++ < 3)
        told(answer).value = [{ slot: 1, confirmations: 0, err: null, confirmationStatus: 'processed' }];
      return answer;
    };
    const before = await held();
    expect(await cluster.send(wire)).toBe(signature);
    expect((await held()) - before).toBe(1_100_000n);
    expect(sends().length).toBeGreaterThan(1);
  });

  it('takes no refusal for an end once a node has taken the bytes: they may land', async () => {
    const { wire, signature } = await transfer(1_150_000n);
    let sent = 0;
    liar.tell = async (call, honest) => {
      if (call.method !== 'sendTransaction') return honest();
      sent++;
      if (sent === 1) return said(call, sentSignature(call));
      return sent === 2 ? troubled(call, -32003, 'signature verification failure') : honest();
    };
    const before = await held();
    expect(await cluster.send(wire)).toBe(signature);
    expect(sent).toBe(3);
    expect((await held()) - before).toBe(1_150_000n);
  });

  it('waits for a node that does not know a young blockhash yet', async () => {
    const { wire, signature } = await transfer(1_200_000n);
    let behind = 3;
    liar.tell = async (call, honest) => {
      const answer = await honest();
      if (call.method === 'simulateTransaction' && behind-- > 0)
        Object.assign(told<object>(answer).value, { err: 'BlockhashNotFound', logs: [] });
      return answer;
    };
    expect(await cluster.send(wire)).toBe(signature);
  });

  it('does not give up a blockhash while the nodes behind one address contradict each other', async () => {
    // Signed by another process: when it expires is not known here.
    const { wire, signature } = await transfer(1_250_000n, endpoint.cluster.latestBlockhash());
    let tries = 0;
    liar.tell = async (call, honest) => {
      const answer = await honest();
      if (call.method === 'simulateTransaction' && ++tries < 6)
        Object.assign(told<object>(answer).value, { err: 'BlockhashNotFound', logs: [] });
      if (call.method === 'isBlockhashValid' && tries % 2 === 1) Object.assign(told(answer), { value: false });
      return answer;
    };
    expect(await cluster.send(wire)).toBe(signature);
    expect(tries).toBe(6);
  });

  it('is not stopped by a node that takes a living blockhash for an expired one', async () => {
    // Signed by another process: when it expires is not known here.
    const { wire, signature } = await transfer(1_300_000n, endpoint.cluster.latestBlockhash());
    let drops = 3;
    let behind = 2;
    liar.tell = async (call, honest) => {
      if (call.method === 'sendTransaction' && drops-- > 0) return said(call, sentSignature(call));
      const answer = await honest();
      if (call.method === 'isBlockhashValid' && behind-- > 0) Object.assign(told(answer), { value: false });
      return answer;
    };
    expect(await cluster.send(wire)).toBe(signature);
    expect(sends()).toHaveLength(4);
  });

  it('calls an expired blockhash of its own by its name at once, and one of others after some doubt', async () => {
    const own = await transfer(1_400_000n);
    const others = await transfer(1_500_000n, endpoint.cluster.latestBlockhash());
    const foreign = await openLyingCluster(endpoint, endpoint.clock.advance);
    endpoint.clock.advance(151 * 400);
    const refused = { code: 'transaction_failed', error: 'BlockhashNotFound' };
    const startedMs = endpoint.clock.now();
    expect(await problemOf(cluster.send(own.wire))).toEqual(refused);
    expect(endpoint.clock.now()).toBe(startedMs);
    expect(await problemOf(foreign.cluster.send(others.wire))).toEqual(refused);
    expect(foreign.asked.filter((method) => method === 'isBlockhashValid')).toHaveLength(3);
    expect(sends()).toEqual([]);
  });

  it('finds bytes that landed before by their signature, also when they are refused as known', async () => {
    const { wire, signature } = await transfer(1_600_000n);
    await cluster.send(wire);
    liar.tell = async (call, honest) => {
      const answer = await honest();
      if (call.method === 'simulateTransaction')
        Object.assign(told<object>(answer).value, { err: 'AlreadyProcessed', logs: [] });
      return answer;
    };
    const before = await held();
    expect(await cluster.send(wire)).toBe(signature);
    expect(await held()).toBe(before);
  });

  it('tries out on a node that has come as far as any answer before', async () => {
    const { wire } = await transfer(1_700_000n);
    await cluster.send(wire);
    const tried = liar.heard.find(({ call }) => call.method === 'simulateTransaction')?.call;
    const slot = Number(await endpoint.cluster.blockHeight());
    expect(tried?.params[1]).toMatchObject({ commitment: 'confirmed', sigVerify: true });
    const { minContextSlot } = (tried?.params[1] ?? {}) as { minContextSlot?: number };
    expect(minContextSlot).toBeGreaterThan(0);
    expect(minContextSlot).toBeLessThanOrEqual(slot);
  });
});

describe('a memo in a history', () => {
  it('is found where its transaction succeeded, and an absence needs a history that reaches back', async () => {
    const nowS = Math.floor(endpoint.clock.now() / 1000);
    const from = { account: alice.address, sinceS: nowS + 60 };
    for (const one of [cluster, endpoint.cluster])
      expect(await one.isAbsent({ memo: 'farelock payout x' }, from)).toBe(true);
    expect(await cluster.isAbsent({ memo: 'farelock payout x' }, { ...from, sinceS: 0 })).toBe(false);
    const { wire } = buildTransaction({
      feePayer: alice,
      instructions: [pay(1_800_000n), { programAddress: MEMO_PROGRAM, data: Buffer.from('farelock payout x') }],
      blockhash: await cluster.latestBlockhash(),
    });
    const signature = await cluster.send(wire);
    for (const one of [cluster, endpoint.cluster]) {
      expect(await one.isAbsent({ memo: 'farelock payout x' }, from)).toBe(false);
      expect(await one.isAbsent({ memo: 'farelock payout' }, from)).toBe(true);
      expect(await one.signaturesWithMemo('farelock payout x', alice.address)).toEqual([signature]);
      expect(await one.signaturesWithMemo('farelock payout', alice.address)).toEqual([]);
    }
  });
});

describe('the bid of our own transactions', () => {
  const market = (fees: readonly number[]): Lie => {
    return async (call, honest) =>
      call.method === 'getRecentPrioritizationFees'
        ? said(
            call,
            fees.map((prioritizationFee, slot) => ({ slot, prioritizationFee })),
          )
        : honest();
  };
  /** What a transaction says of its compute units and of their price. */
  function budgetOf(wire: Uint8Array) {
    const [limit, price] = parseTransaction(wire).instructions.map(({ data }) => Buffer.from(data));
    return { units: limit?.readUInt32LE(1) ?? 0, price: price?.readBigUInt64LE(1) ?? 0n };
  }
  const signed = (on: Cluster = cluster) => signPriced(on, { feePayer: alice, instructions: [pay(1_900_000n)] });

  it('is what three of four blocks took, for a fifth more units than it used', async () => {
    liar.tell = market([9_000, 1_000, 5_000, 7_000, 3_000, 8_000, 2_000, 6_000]);
    const { wire } = await signed();
    const { units, price } = budgetOf(wire);
    expect(price).toBe(7_000n);
    const { unitsConsumed } = await cluster.simulate(wire);
    expect(units).toBe(Math.ceil(Number(unitsConsumed) * 1.2));
    const asked = liar.heard.find(({ call }) => call.method === 'getRecentPrioritizationFees');
    expect(asked?.call.params).toEqual([[alice.address, bob.address]]);
    expect(await cluster.send(wire)).toBe(signatureOf(wire));
  });

  it('is the least where nobody bids or nobody says, and never above its cap', async () => {
    liar.tell = market([0]);
    expect(budgetOf((await signed()).wire).price).toBe(1_000n);
    liar.tell = async (call, honest) =>
      call.method === 'getRecentPrioritizationFees' ? new Response('', { status: 401 }) : honest();
    expect(budgetOf((await signed()).wire).price).toBe(1_000n);
    liar = await openLyingCluster(endpoint, endpoint.clock.advance, { priorityFeeCap: 50n });
    liar.tell = market([900_000_000]);
    const { units, price } = budgetOf((await signed(liar.cluster)).wire);
    expect((price * BigInt(units)) / 1_000_000n).toBeLessThanOrEqual(50n);
    expect((price * BigInt(units)) / 1_000_000n).toBeGreaterThanOrEqual(49n);
  });

  it('is none on the embedded cluster', async () => {
    const { wire } = await signed(endpoint.cluster);
    expect(parseTransaction(wire).instructions).toHaveLength(1);
  });
});
