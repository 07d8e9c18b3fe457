import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import { type Cluster, DEVNET_USDC, SOLANA_NETWORKS } from '../../src/solana/cluster.ts';
import { networkOfGenesis, rpcUrl } from '../../src/solana/cluster-settings.ts';
import { landingOf } from '../../src/solana/landing.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';
import { openLyingCluster, said, told } from './lying-rpc.ts';

const SOL = 1_000_000_000n;
const alice = signerFromSeed(new Uint8Array(32).fill(31));
const bob = signerFromSeed(new Uint8Array(32).fill(32));
const problemOf = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return isProblem(error) ? { code: error.code, error: error.detail?.error } : error;
};

let endpoint: RpcEndpoint;
let cluster: Cluster;
beforeAll(async () => {
  endpoint = await openRpcEndpoint();
  await endpoint.cluster.airdropSol(alice.address, 10n * SOL);
  await endpoint.cluster.airdropUsdc(alice.address, 7n);
});
afterAll(() => endpoint.close());
beforeEach(async () => {
  cluster = await openRpcCluster({ urls: [endpoint.url], clock: endpoint.clock });
});

async function transfer(amount: bigint) {
  return buildTransaction({
    feePayer: alice,
    instructions: [getTransferSolInstruction({ source: alice, destination: bob.address, amount })],
    blockhash: await cluster.latestBlockhash(),
  });
}

describe('the port over JSON-RPC', () => {
  it('says the same as the embedded cluster behind it', async () => {
    const { cluster: embedded } = endpoint;
    expect(cluster.network).toBe(SOLANA_NETWORKS.devnet);
    const usdc = await associatedTokenAddress(alice.address, DEVNET_USDC);
    const addresses = [alice.address, bob.address, DEVNET_USDC, usdc];
    const fields = (found: Awaited<ReturnType<Cluster['accounts']>>) =>
      found.map((one) => one && { ...one, slot: undefined });
    expect(fields(await cluster.accounts(addresses))).toEqual(fields(await embedded.accounts(addresses)));
    expect(await cluster.latestBlockhash()).toEqual(await embedded.latestBlockhash());
    expect(await cluster.blockHeight()).toBe(await embedded.blockHeight());
    expect(await cluster.unixTime()).toBe(await embedded.unixTime());
    expect(await cluster.minimumRent(165)).toBe(await embedded.minimumRent(165));
    expect(await cluster.tokenBalance(usdc)).toBe(7n);
    expect(await cluster.tokenBalance(alice.address)).toBeNull();
    expect(await cluster.tokenBalance(bob.address)).toBeNull();
  });

  it('reads more accounts than one call may name', async () => {
    const many = Array.from({ length: 250 }, (_, n) => (n === 205 ? alice.address : bob.address));
    const found = await cluster.accounts(many);
    expect(found).toHaveLength(250);
    expect(found[205]?.address).toBe(alice.address);
  });

  it('sends, and answers the same bytes alike for ever after', async () => {
    const { wire, signature } = await transfer(SOL);
    expect(await cluster.signatureStatus(signature)).toBeNull();
    expect(await cluster.transaction(signature)).toBeNull();
    expect((await cluster.simulate(wire)).err).toBeNull();
    expect(await cluster.send(wire)).toBe(signature);
    endpoint.clock.advance(300 * 400);
    expect(await cluster.send(wire)).toBe(signature);
    expect((await cluster.accounts([bob.address]))[0]?.lamports).toBe(SOL);
    expect(await cluster.signatureStatus(signature)).toEqual(await endpoint.cluster.signatureStatus(signature));
    expect(await cluster.transaction(signature)).toEqual(await endpoint.cluster.transaction(signature));
  });

  it('raises the refusals that the embedded cluster raises', async () => {
    const tooMuch = await transfer(100n * SOL);
    expect(await problemOf(cluster.send(tooMuch.wire))).toEqual({
      code: 'transaction_failed',
      error: { InstructionError: [0, { Custom: 1 }] },
    });
    expect((await cluster.simulate(tooMuch.wire)).err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    const { wire } = await transfer(SOL);
    const forged = wire.slice().fill(0, 1, 65);
    expect(await problemOf(cluster.send(forged))).toEqual({ code: 'transaction_failed', error: 'SignatureFailure' });
    expect((await cluster.simulate(forged)).err).toBeNull();
    expect((await cluster.simulate(forged, { verifySignatures: true })).err).toBe('SignatureFailure');
    endpoint.clock.advance(151 * 400);
    expect(await problemOf(cluster.send(wire))).toEqual({ code: 'transaction_failed', error: 'BlockhashNotFound' });
  });
});

describe('a network that fails', () => {
  const real = fetch;
  let asked: string[];
  /** What the network does to each call, in turn; `pass` when nothing is left. */
  let script: ('down' | 'busy' | 'broken' | 'torn' | 'foreign' | 'behind' | 'gateway' | 'pass' | 'lost')[];
  const unreliable: typeof fetch = async (url, init) => {
    asked.push((JSON.parse(String(init?.body)) as { method: string }).method);
    const step = script.shift() ?? 'pass';
    if (step === 'down') throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    if (step === 'busy') return new Response('slow down', { status: 429, headers: { 'retry-after': '1' } });
    if (step === 'foreign') return Response.json({ jsonrpc: '2.0', id: 'another', result: 1 });
    if (step === 'gateway') return new Response('<html>bad gateway</html>', { status: 502 });
    if (step === 'behind') {
      const { id } = JSON.parse(String(init?.body)) as { id: number };
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32005, message: 'Node is behind' } });
    }
    if (step === 'broken') return new Response('<html>', { status: 200 });
    const response = await real(url, init);
    if (step === 'torn') return new Response((await response.text()).slice(0, -3));
    if (step === 'lost') throw new TypeError('fetch failed', { cause: new Error('ECONNRESET') });
    return response;
  };
  const patient = { now: () => endpoint.clock.now(), sleep: async (ms: number) => endpoint.clock.advance(ms) };
  const open = () =>
    openRpcCluster({ urls: [endpoint.url], clock: patient, fetch: unreliable, network: SOLANA_NETWORKS.devnet });
  beforeEach(() => {
    asked = [];
    script = [];
  });
  afterEach(() => expect(script).toEqual([]));

  it('is asked again when it is down or busy, and given up in the end', async () => {
    const shaky = await open();
    script = ['down', 'busy', 'busy', 'pass'];
    expect(await shaky.blockHeight()).toBe(await endpoint.cluster.blockHeight());
    expect(asked).toHaveLength(4);
    script = Array.from({ length: 8 }, () => 'down');
    expect(await problemOf(shaky.blockHeight())).toMatchObject({ code: 'cluster_failed' });
    expect(script).toEqual([]);
    script = ['broken', 'torn', 'foreign', 'behind', 'gateway', 'pass'];
    expect(await shaky.blockHeight()).toBe(await endpoint.cluster.blockHeight());
  });

  it('loses the answer to a transaction: it is found by its signature and lands once', async () => {
    const shaky = await open();
    const before = (await cluster.accounts([bob.address]))[0]?.lamports ?? 0n;
    const { wire, signature } = await transfer(SOL / 2n);
    script = ['pass', 'lost', 'lost', 'lost', 'lost'];
    expect(await shaky.send(wire)).toBe(signature);
    expect((await cluster.accounts([bob.address]))[0]?.lamports).toBe(before + SOL / 2n);
  });

  it('waits as long as the node asks for, within bounds', async () => {
    const waits: number[] = [];
    const headers = ['3', new Date(endpoint.clock.now() + 2_000).toUTCString(), '3600'];
    const asking = await openRpcCluster({
      urls: [endpoint.url],
      network: SOLANA_NETWORKS.devnet,
      clock: { now: patient.now, sleep: async (ms) => void waits.push(ms) },
      fetch: async (url, init) => {
        const after = headers.shift();
        return after === undefined
          ? real(url, init)
          : new Response('', { status: 503, headers: { 'retry-after': after } });
      },
    });
    await asking.blockHeight();
    expect(waits[0]).toBe(3_000);
    expect(Math.abs((waits[1] ?? 0) - 2_000)).toBeLessThanOrEqual(1_000);
    expect(waits[2]).toBe(5_000);
  });

  it('does not ask again with a key that is refused', async () => {
    let asked = 0;
    const locked = await openRpcCluster({
      urls: [endpoint.url],
      network: SOLANA_NETWORKS.devnet,
      clock: patient,
      fetch: async () => {
        asked++;
        return new Response('{"error":"invalid key"}', { status: 401 });
      },
    });
    expect(await problemOf(locked.blockHeight())).toMatchObject({ code: 'cluster_failed' });
    expect(asked).toBe(1);
  });

  it('never takes a transaction: once its blockhash is dead the outcome is said to be unknown', async () => {
    const shaky = await open();
    const { wire } = await transfer(SOL / 3n);
    const swallowing = await openRpcCluster({
      urls: [endpoint.url],
      clock: patient,
      network: SOLANA_NETWORKS.devnet,
      fetch: async (url, init) =>
        String(init?.body).includes('"sendTransaction"')
          ? new Response('{"jsonrpc":"2.0","id":1,"result":"taken"}')
          : real(url, init),
    });
    expect(await problemOf(swallowing.send(wire))).toMatchObject({ code: 'cluster_failed' });
    expect(await problemOf(shaky.send(wire))).toMatchObject({ code: 'transaction_failed' });
  });
});

describe('a node that lies', () => {
  const open = () => openLyingCluster(endpoint, endpoint.clock.advance);

  it('is not believed when its answer is of an older slot than one that it gave before', async () => {
    const liar = await open();
    const { wire, signature } = await transfer(SOL / 5n);
    await liar.cluster.send(wire);
    const height = await endpoint.cluster.blockHeight();
    let old = 3;
    liar.tell = async (call, honest) => {
      const answer = await honest();
      if (call.method !== 'getSignatureStatuses' || old-- <= 0) return answer;
      return said(call, { context: { slot: Number(height) - 40 }, value: [null] });
    };
    expect(await liar.cluster.signatureStatus(signature)).toMatchObject({ err: null });
    old = 100;
    expect(await problemOf(liar.cluster.signatureStatus(signature))).toMatchObject({ code: 'cluster_failed' });
    expect(
      await problemOf(
        landingOf(
          { cluster: liar.cluster, clock: endpoint.clock },
          { wire, lastValidBlockHeight: 0n, signedAtMs: 0 },
          { exclusive: true },
        ),
      ),
    ).toMatchObject({ code: 'cluster_failed' });
  });

  it.each(['processed', null, 'finalized'])('knows no status below confirmed (%s)', async (confirmationStatus) => {
    const liar = await open();
    const { signature } = await transfer(1n);
    for (const err of [null, { InstructionError: [0, { Custom: 1 }] }]) {
      liar.tell = async (call, honest) => {
        const answer = await honest();
        if (call.method === 'getSignatureStatuses')
          told(answer).value = [{ slot: 1, confirmations: 0, err, confirmationStatus }];
        return answer;
      };
      const status = await liar.cluster.signatureStatus(signature);
      expect(status).toEqual(confirmationStatus === 'processed' ? null : { slot: 1n, err, confirmation: 'finalized' });
    }
  });

  it('proves that a transaction never landed only with a history that reaches back to before it', async () => {
    const liar = await open();
    const { wire, signature } = await transfer(SOL / 7n);
    const nowS = Math.floor(endpoint.clock.now() / 1000);
    const absent = (sinceS: number) => liar.cluster.isAbsent({ signature }, { account: alice.address, sinceS });
    expect(await absent(nowS + 60)).toBe(true);
    expect(await absent(0)).toBe(false);
    await endpoint.cluster.send(wire);
    expect(await absent(nowS + 60)).toBe(false);
    // Pages that hold one entry each lead to it all the same.
    liar.tell = async (call, honest) => {
      const answer = await honest();
      if (call.method === 'getSignaturesForAddress') answer.result = (answer.result as unknown[]).slice(0, 1);
      return answer;
    };
    await endpoint.cluster.airdropSol(alice.address, 1n);
    expect(await absent(nowS - 3600)).toBe(false);
  });
});

describe('which cluster', () => {
  it('is named by a moniker or an address', () => {
    expect(rpcUrl('devnet')).toBe('https://api.devnet.solana.com');
    expect(rpcUrl('http://localhost:4020/rpc')).toBe('http://localhost:4020/rpc');
    expect(rpcUrl('ftp://localhost')).toBeNull();
    expect(rpcUrl('constructor')).toBeNull();
  });

  it('is known by its genesis', async () => {
    expect(networkOfGenesis('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d')).toBe(SOLANA_NETWORKS.mainnet);
    const answer = '{"jsonrpc":"2.0","id":1,"result":"11111111111111111111111111111111"}';
    const privateCluster = openRpcCluster({
      urls: ['localhost'],
      clock: endpoint.clock,
      fetch: async () => new Response(answer),
    });
    expect(await problemOf(privateCluster)).toMatchObject({ code: 'cluster_failed' });
  });
});
