import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../src/kernel/problems.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';
import { type Lie, openLyingCluster, said, told, troubled } from './lying-rpc.ts';

/** A cluster behind two addresses. */

const URLS = ['http://first.test/v2/KEY1KEY1KEY1KEY1', 'http://second.test/?api-key=KEY2'];
const SOL = 1_000_000_000n;
const alice = signerFromSeed(new Uint8Array(32).fill(41));
const bob = signerFromSeed(new Uint8Array(32).fill(42));
const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

let endpoint: RpcEndpoint;
beforeAll(async () => {
  endpoint = await openRpcEndpoint();
  await endpoint.cluster.airdropSol(alice.address, 10n * SOL);
});
afterAll(() => endpoint.close());

type Liar = Awaited<ReturnType<typeof openLyingCluster>>;
let liar: Liar;
const opened: Liar[] = [];
const open = async (tell?: Lie): Promise<Liar> => {
  const one = await openLyingCluster(endpoint, endpoint.clock.advance, { urls: URLS, ...(tell && { tell }) });
  opened.push(one);
  return one;
};
afterEach(async () => {
  for (const one of opened.splice(0)) await one.cluster.close();
});
beforeEach(async () => {
  liar = await open();
  liar.heard.length = 0;
});
const hosts = (of: Liar = liar) => of.heard.map(({ host }) => host);
const problemOf = (promise: Promise<unknown>): Promise<Problem> =>
  promise.then(
    () => Promise.reject(new Error('no problem')),
    (error: Problem) => error,
  );
const down = () => Promise.reject(new TypeError('fetch failed'));
const silent = () => new Promise<never>(() => undefined);

async function transfer(amount = 1_000_000n) {
  return buildTransaction({
    feePayer: alice,
    instructions: [getTransferSolInstruction({ source: alice, destination: bob.address, amount })],
    blockhash: await liar.cluster.latestBlockhash(),
  });
}

describe('an address that gives no answer', () => {
  it.each([
    ['is down', down],
    ['tears its answers', async () => new Response('{"jsonrpc":"2.0","id":1,"res')],
    ['is a page', async () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['refuses its key', async () => new Response('{"error":"no such key"}', { status: 401 })],
    ['is behind (-32005)', (call) => troubled(call, -32005)],
    ['has not reached the slot (-32016)', (call) => troubled(call, -32016)],
    ['is broken (-32603)', (call) => troubled(call, -32603)],
    ['is broken (502)', async () => new Response('<html>', { status: 502 })],
  ] satisfies [string, Lie][])('%s: the other is asked at once, and it is left aside', async (_how, trouble) => {
    const startedMs = endpoint.clock.now();
    liar.tell = (call, honest, host) => (host === 'first.test' ? (trouble as Lie)(call, honest, host) : honest());
    for (let n = 0; n < 4; n++) expect(await liar.cluster.minimumRent(n)).toBeGreaterThan(0n);
    expect(hosts()).toEqual(['first.test', ...Array(4).fill('second.test')]);
    expect(endpoint.clock.now()).toBe(startedMs);
    // Later it gets another chance, and is preferred again.
    endpoint.clock.advance(5_000);
    liar.tell = (_call, honest) => honest();
    liar.heard.length = 0;
    await liar.cluster.minimumRent(1);
    await liar.cluster.minimumRent(1);
    expect(hosts()).toEqual(['first.test', 'first.test']);
  });

  it('never answers: the other is asked beside it soon, and at once from then on', async () => {
    liar.tell = (_call, honest, host) => (host === 'first.test' ? silent() : honest());
    for (let n = 0; n < 10; n++) await liar.cluster.minimumRent(n);
    expect(hosts().filter((host) => host === 'first.test')).toHaveLength(1);
  });

  it('is some slots behind the other all the time: it is asked again a slot later', async () => {
    const { signature } = await transfer();
    liar.tell = async (_call, honest, host) => {
      const answer = await honest();
      if (host === 'second.test') told(answer).context.slot -= 3;
      return answer;
    };
    for (let poll = 0; poll < 10; poll++) {
      expect(await liar.cluster.signatureStatus(signature)).toBeNull();
      endpoint.clock.advance(500);
    }
    expect(hosts().filter((host) => host === 'second.test').length).toBeGreaterThanOrEqual(9);
  });

  it('asks for a pause: it gets it, and nobody waits', async () => {
    const busy = () => new Response('', { status: 429, headers: { 'retry-after': '30' } });
    liar.tell = (_call, honest, host) => (host === 'first.test' ? busy() : honest());
    const startedMs = endpoint.clock.now();
    await liar.cluster.minimumRent(0);
    expect(endpoint.clock.now()).toBe(startedMs);
    endpoint.clock.advance(29_000);
    await liar.cluster.minimumRent(0);
    expect(hosts()).toEqual(['first.test', 'second.test', 'second.test']);
    endpoint.clock.advance(2_000);
    await liar.cluster.minimumRent(0);
    expect(hosts().at(-2)).toBe('first.test');
  });

  it('is silent beside one that is silent too: both are asked for some time, and no key is said', async () => {
    liar.tell = down;
    const problem = await problemOf(liar.cluster.minimumRent(0));
    expect(problem.code).toBe('cluster_failed');
    expect(new Set(hosts())).toEqual(new Set(['first.test', 'second.test']));
    expect(JSON.stringify([problem.message, problem.fix, problem.detail])).not.toMatch(/KEY/);
  });
});

describe('one cluster behind all addresses', () => {
  const genesisOf =
    (first: string, second: string): Lie =>
    async (call, honest, host) =>
      call.method === 'getGenesisHash' ? said(call, host === 'first.test' ? first : second) : honest();

  it('is refused where they lead to two, by the names of the hosts', async () => {
    const problem = await problemOf(open(genesisOf(DEVNET, MAINNET)));
    expect(problem.code).toBe('cluster_failed');
    expect(problem.message).toContain('first.test to devnet, second.test to mainnet');
    expect(JSON.stringify([problem.message, problem.fix, problem.detail])).not.toMatch(/KEY/);
  });

  it('never has one that was silent at first, and turns out to lead elsewhere', async () => {
    const wrong = await open((call, honest, host) => {
      if (host === 'first.test') return down();
      return genesisOf(DEVNET, DEVNET)(call, honest, host);
    });
    wrong.tell = genesisOf(MAINNET, DEVNET);
    endpoint.clock.advance(60_000);
    wrong.heard.length = 0;
    for (let n = 0; n < 3; n++) {
      await wrong.cluster.minimumRent(n);
      endpoint.clock.advance(120_000);
    }
    const ofFirst = wrong.heard.filter(({ host }) => host === 'first.test');
    expect(ofFirst.map(({ call }) => call.method)).toEqual(['getGenesisHash']);
  });

  it('is not asked of a node that has not come to a block that was told of as confirmed', async () => {
    const fresh = await open();
    const { wire } = await transfer(1_234_000n);
    endpoint.clock.advance(4_000);
    const signature = await endpoint.cluster.send(wire);
    const { slot } = (await endpoint.cluster.signatureStatus(signature)) ?? { slot: 0n };
    // It knows of that block by the status alone.
    expect(await fresh.cluster.signatureStatus(signature)).toMatchObject({ slot });
    fresh.tell = async (call, ask) => {
      const answer = await ask();
      if (call.method === 'getMultipleAccounts')
        Object.assign(told(answer), { value: [null], context: { slot: Number(slot) - 1 } });
      return answer;
    };
    await expect(fresh.cluster.accounts([bob.address])).rejects.toMatchObject({ code: 'cluster_failed' });
  });

  it('is not known further by an older answer of the other address', async () => {
    const slot = Number(await endpoint.cluster.blockHeight());
    await liar.cluster.blockHeight();
    const { wire, signature } = await transfer();
    await liar.cluster.send(wire);
    liar.tell = async (call, honest, host) => {
      if (host === 'first.test') return down();
      if (call.method !== 'getMultipleAccounts') return honest();
      const answer = await honest();
      told(answer).context.slot = slot - 50;
      told(answer).value = [null];
      return answer;
    };
    expect((await problemOf(liar.cluster.accounts([bob.address]))).code).toBe('cluster_failed');
    expect(await liar.cluster.signatureStatus(signature)).toMatchObject({ err: null });
  });
});

describe('an address that comes to mean another cluster', () => {
  const moved: Lie = async (call, honest, host) =>
    call.method === 'getGenesisHash' && host === 'first.test' ? said(call, MAINNET) : honest();

  it('is noticed within a minute by a service that only reads, and asked for nothing more', async () => {
    liar.tell = moved;
    endpoint.clock.advance(61_000);
    await liar.cluster.accounts([bob.address]);
    liar.heard.length = 0;
    await liar.cluster.accounts([bob.address]);
    expect(hosts()).toEqual(['second.test']);
  });

  it('as the only one is asked for nothing until it leads back', async () => {
    const alone = await openLyingCluster(endpoint, endpoint.clock.advance, { urls: URLS.slice(0, 1), genesis: DEVNET });
    opened.push(alone);
    const read = () => alone.cluster.accounts([bob.address]);
    await read();
    alone.tell = moved;
    endpoint.clock.advance(61_000);
    alone.heard.length = 0;
    expect((await problemOf(read())).code).toBe('cluster_failed');
    expect(new Set(alone.asked.slice(-1))).toEqual(new Set(['getGenesisHash']));
    alone.tell = (_call, honest) => honest();
    expect(await read()).toHaveLength(1);
  });
});

describe('a slot far in the future', () => {
  const FAR = 1_000_000_000_000;
  /** The first address names it at each answer, or once; the first address then falls silent. */
  const naming = (times: number): Lie => {
    let left = times;
    return async (_call, honest, host) => {
      const answer = await honest();
      const { context } = (answer.result ?? {}) as { context?: { slot: number } };
      if (host === 'first.test' && context !== undefined && left-- > 0) context.slot = FAR;
      return answer;
    };
  };

  it.each([
    ['once', 1],
    ['always', Number.POSITIVE_INFINITY],
  ])('named by one of two addresses (%s) does not silence the other', async (_how, times) => {
    liar.tell = naming(times);
    const { wire, signature } = await transfer(2_222_000n + BigInt(Math.min(times, 2)));
    await liar.cluster.accounts([bob.address]);
    await liar.cluster.send(wire);
    expect(await liar.cluster.signatureStatus(signature)).toMatchObject({ err: null });
    liar.tell = (_call, honest, host) => (host === 'first.test' ? down() : honest());
    expect((await liar.cluster.accounts([bob.address]))[0]?.lamports).toBeGreaterThan(0n);
    expect(await liar.cluster.simulate(wire)).toMatchObject({ err: 'AlreadyProcessed' });
    expect(await liar.cluster.signaturesWithMemo('none', bob.address)).toEqual([]);
  });

  it('told of a transaction by one of two addresses does not silence the other', async () => {
    const { wire, signature } = await transfer(3_333_000n);
    liar.tell = async (call, honest, host) => {
      const answer = await honest();
      if (host === 'first.test' && call.method === 'getSignatureStatuses')
        told(answer).value = [{ slot: FAR, confirmations: 0, err: null, confirmationStatus: 'confirmed' }];
      return answer;
    };
    await liar.cluster.signatureStatus(signature);
    expect((await liar.cluster.accounts([bob.address]))[0]?.lamports).toBeGreaterThan(0n);
    liar.tell = (_call, honest, host) => (host === 'first.test' ? down() : honest());
    expect((await liar.cluster.accounts([bob.address]))[0]?.lamports).toBeGreaterThan(0n);
    expect(await liar.cluster.simulate(wire)).toMatchObject({ err: null });
  });

  it('of an only address counts when it is said again', async () => {
    const alone = await openLyingCluster(endpoint, endpoint.clock.advance);
    opened.push(alone);
    await alone.cluster.accounts([bob.address]);
    let ahead = 0;
    alone.tell = async (_call, honest) => {
      const answer = await honest();
      told(answer).context.slot += ahead;
      return answer;
    };
    const read = () => alone.cluster.accounts([bob.address]);
    ahead = 10_000;
    await read();
    ahead = 0;
    await read();
    ahead = 10_000;
    await read();
    await read();
    ahead = 0;
    expect((await problemOf(read())).code).toBe('cluster_failed');
  });
});

describe('a transaction', () => {
  it('goes to every address, and is confirmed by either', async () => {
    const { wire, signature } = await transfer();
    liar.tell = async (call, honest, host) => {
      if (call.method !== 'getSignatureStatuses' || host === 'second.test') return honest();
      const answer = await honest();
      told(answer).value = [null];
      return answer;
    };
    expect(await liar.cluster.send(wire)).toBe(signature);
    const sent = liar.heard.filter(({ call }) => call.method === 'sendTransaction');
    expect(sent.map(({ host }) => host)).toEqual(['first.test', 'second.test']);
    for (const { call } of sent) {
      expect(call.params).toEqual([
        Buffer.from(wire).toString('base64'),
        { encoding: 'base64', skipPreflight: true, preflightCommitment: 'confirmed', maxRetries: 0 },
      ]);
    }
  });

  it('lands by one address while the other is dead', async () => {
    const { wire, signature } = await transfer(2_000_000n);
    liar.tell = (_call, honest, host) => (host === 'first.test' ? down() : honest());
    expect(await liar.cluster.send(wire)).toBe(signature);
  });

  it('is absent by the word of two addresses only', async () => {
    const { signature } = await transfer(3_000_000n);
    const sinceS = Math.floor(endpoint.clock.now() / 1000) + 60;
    const absent = () => liar.cluster.isAbsent({ signature }, { account: alice.address, sinceS });
    expect(await absent()).toBe(true);
    liar.tell = (_call, honest, host) => (host === 'second.test' ? down() : honest());
    expect(await absent()).toBe(false);
    liar.tell = async (call, honest, host) => {
      const answer = await honest();
      if (call.method === 'getSignatureStatuses' && host === 'second.test')
        told(answer).value = [{ slot: 1, confirmations: 0, err: null, confirmationStatus: 'processed' }];
      return answer;
    };
    expect(await absent()).toBe(false);
    liar.tell = down;
    expect((await problemOf(absent())).code).toBe('cluster_failed');
  });
});
