import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address, Instruction } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { getBurnInstruction, getCloseAccountInstruction } from '@solana-program/token';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { createPubSub, type Line, type PubSub } from '../../src/solana/pubsub/index.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress, MEMO_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { manualClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';

/** What subscribers of the embedded cluster are told, and when. */

const SYSTEM = '11111111111111111111111111111111';
const SOL = 1_000_000_000n;
const alice = signerFromSeed(new Uint8Array(32).fill(51));
const bob = signerFromSeed(new Uint8Array(32).fill(52));
const clock = manualClock();

interface Heard {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: { readonly result: unknown; readonly subscription: number };
}

let folder: string;
let path: string;
let cluster: EmbeddedCluster;
let pubSub: PubSub;
let line: Line;
let heard: Heard[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-pubsub-'));
  path = join(folder, 'ledger.db');
  cluster = await openEmbeddedCluster({ path, clock });
  await cluster.airdropSol(alice.address, 10n * SOL);
  pubSub = createPubSub(cluster.ledger);
  heard = [];
  line = pubSub.connect({ client: 'a', send: (text) => void heard.push(JSON.parse(text) as Heard) });
});
afterEach(async () => {
  pubSub.close();
  await cluster.close();
  rmSync(folder, { recursive: true });
});

async function ask(method: string, params: unknown[] = [], id: unknown = 'kit-7'): Promise<Heard> {
  await line.receive(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  return heard.at(-1) ?? {};
}
const told = (method: string) =>
  heard.filter((one) => one.method === method).map((one) => one.params?.result as Record<string, unknown>);
const build = async (...instructions: Instruction[]) =>
  buildTransaction({ feePayer: alice, instructions, blockhash: await cluster.latestBlockhash() });
const transfer = (amount = SOL) => getTransferSolInstruction({ source: alice, destination: bob.address, amount });
const someAddress = (number: number) => signerFromSeed(new Uint8Array(32).fill(number)).address;
const quiet = () => new Promise((wake) => setTimeout(wake, 120));

describe('a subscription', () => {
  test('is answered with its number, under the id that was sent, before anything is told', async () => {
    const { wire, signature } = await build(transfer());
    await cluster.send(wire);
    const answer = await ask('signatureSubscribe', [signature, { enableReceivedNotification: true }]);
    expect(answer).toEqual({ jsonrpc: '2.0', result: expect.any(Number), id: 'kit-7' });
    await expect.poll(() => heard.length).toBe(3);
    const context = { slot: expect.any(Number) };
    expect(told('signatureNotification')).toEqual([
      { context, value: 'receivedSignature' },
      { context, value: { err: null } },
    ]);
    // Once, and that was its end.
    expect(await ask('signatureUnsubscribe', [answer.result])).toMatchObject({ error: { code: -32602 } });
  });

  test('to a signature tells of a failure too', async () => {
    const { wire, signature } = await build(transfer(99n * SOL));
    await ask('signatureSubscribe', [signature]);
    await cluster.ledger.submit(wire, { skipPreflight: true });
    await expect.poll(() => told('signatureNotification')).toHaveLength(1);
    expect(told('signatureNotification')[0]?.value).toEqual({ err: { InstructionError: [0, { Custom: 1 }] } });
  });

  test('to an account tells what it has become, and of its end without null', async () => {
    await cluster.airdropUsdc(alice.address, 1n);
    const usdc = await associatedTokenAddress(alice.address, DEVNET_USDC);
    const other = await associatedTokenAddress(bob.address, DEVNET_USDC);
    await ask('accountSubscribe', [usdc, { encoding: 'jsonParsed' }]);
    await ask('accountSubscribe', [other, { encoding: 'base64' }]);
    await ask('programSubscribe', [TOKEN_PROGRAM, { encoding: 'base64' }]);
    await cluster.airdropUsdc(alice.address, 4n);
    await expect.poll(() => told('accountNotification')).toHaveLength(1);
    expect(JSON.stringify(told('accountNotification')[0]?.value)).toContain('"amount":"5"');
    await expect.poll(() => told('programNotification')).toHaveLength(2);
    const { wire } = await build(
      getBurnInstruction({ account: usdc, mint: DEVNET_USDC, authority: alice, amount: 5n }),
      getCloseAccountInstruction({ account: usdc, destination: alice.address, owner: alice }),
    );
    await cluster.send(wire);
    await expect.poll(() => told('accountNotification')).toHaveLength(2);
    expect(told('accountNotification')[1]?.value).toMatchObject({
      lamports: 0,
      owner: SYSTEM,
      data: ['', 'base64'],
      space: 0,
    });
    // The mint has changed; an account that is no more has no owner to tell.
    await expect.poll(() => told('programNotification')).toHaveLength(3);
    expect(told('programNotification')[2]?.value).toMatchObject({ pubkey: DEVNET_USDC });
  });

  test('to a program tells of the accounts that its filters let through', async () => {
    await ask('programSubscribe', [TOKEN_PROGRAM, { encoding: 'base64', filters: [{ dataSize: 82 }] }]);
    await cluster.airdropUsdc(bob.address, 4n);
    await expect.poll(() => told('programNotification')).toHaveLength(1);
    expect(told('programNotification')[0]?.value).toMatchObject({ pubkey: DEVNET_USDC });
  });

  test('to logs tells of every transaction, or of those that mention one account', async () => {
    await ask('logsSubscribe', ['all']);
    await ask('logsSubscribe', [{ mentions: [bob.address] }]);
    const memo = { programAddress: MEMO_PROGRAM, data: Buffer.from('x') };
    await cluster.send((await build(memo)).wire);
    const { wire, signature } = await build(transfer());
    await cluster.send(wire);
    await expect.poll(() => told('logsNotification')).toHaveLength(3);
    const mentioned = told('logsNotification').filter(
      ({ value }) => (value as { signature: string }).signature === signature,
    );
    expect(mentioned).toHaveLength(2);
    expect(mentioned[0]?.value).toMatchObject({ err: null, logs: expect.arrayContaining([expect.any(String)]) });
  });

  test('to slots tells each of them', async () => {
    await ask('slotSubscribe');
    await ask('rootSubscribe');
    const { slot } = cluster.ledger.peek();
    clock.advance(1_200);
    await expect.poll(() => told('slotNotification')).toHaveLength(3);
    expect(told('slotNotification')[0]).toEqual({ parent: slot, root: slot, slot: slot + 1 });
    expect(told('rootNotification')).toEqual([slot, slot + 1, slot + 2]);
  });

  test('tells what another process has done', async () => {
    await ask('accountSubscribe', [bob.address, { encoding: 'base64' }]);
    const another = await openEmbeddedCluster({ path, clock });
    await another.airdropSol(bob.address, SOL);
    await another.close();
    await expect.poll(() => told('accountNotification')).toHaveLength(1);
    expect(told('accountNotification')[0]?.value).toMatchObject({ lamports: Number(SOL) });
  });

  test('that was ended tells nothing, and neither does a connection that has gone', async () => {
    const { result } = await ask('accountSubscribe', [bob.address]);
    await ask('logsSubscribe', ['all']);
    expect(await ask('accountUnsubscribe', [result])).toMatchObject({ result: true });
    expect(await ask('accountUnsubscribe', [result])).toMatchObject({ error: { code: -32602 } });
    line.end();
    expect(line.count()).toBe(0);
    await cluster.airdropSol(bob.address, SOL);
    await quiet();
    expect(heard.filter(({ method }) => method)).toEqual([]);
  });

  test('that is not told of an account which a transaction only reads', async () => {
    await ask('accountSubscribe', [MEMO_PROGRAM as Address]);
    await cluster.send((await build({ programAddress: MEMO_PROGRAM, data: Buffer.from('x') })).wire);
    await quiet();
    expect(told('accountNotification')).toEqual([]);
  });
});

describe('many subscribers', () => {
  const subscribe = async (method: string, send: (text: string) => void, number: number) => {
    const one = pubSub.connect({ client: String(number), send });
    await one.receive(JSON.stringify({ jsonrpc: '2.0', id: 1, method }));
    return one;
  };
  const SUBSCRIBERS = 300;

  proofTest('of slots do not hold up others: between two of them somebody else has a turn', async () => {
    let told = 0;
    let answeredAfter: number | null = null;
    const asker = pubSub.connect({
      client: 'asker',
      send: () => {
        answeredAfter = told;
      },
    });
    const hear = (text: string) => {
      if (!text.includes('Notification')) return;
      if (told++ === 0) void asker.receive('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
      // Some work for each, so that all together are more than a turn.
      for (let n = 0; n < 2_000; n++) JSON.parse(text);
    };
    for (let n = 0; n < SUBSCRIBERS; n++) await subscribe('slotsUpdatesSubscribe', hear, n);
    await quiet();
    told = 0;
    clock.advance(400);
    await expect.poll(() => told, { timeout: 120_000 }).toBe(SUBSCRIBERS * 3);
    expect(answeredAfter).toBeLessThan(SUBSCRIBERS * 3);
  });

  test('of slots that take longer to tell than they last are told of the newest, and of transactions', async () => {
    const slots: number[] = [];
    let late = 100;
    for (let n = 0; n < 10; n++)
      await subscribe(
        'slotSubscribe',
        (text) => {
          const { params } = JSON.parse(text) as Heard;
          if (!params) return;
          if (n === 0) slots.push((params.result as { slot: number }).slot);
          if (late-- > 0) clock.advance(400);
        },
        n,
      );
    await ask('logsSubscribe', ['all']);
    await quiet();
    await cluster.airdropSol(bob.address, SOL);
    clock.advance(400);
    await expect.poll(() => slots.length).toBeGreaterThan(5);
    const [first = 0, second = 0] = slots;
    expect(second).toBeGreaterThan(first + 1);
    await expect.poll(() => told('logsNotification')).toHaveLength(1);
  });
});

describe('a connection', () => {
  test('is not answered where it does not ask: the pings of web3.js and kit', async () => {
    await line.receive('{"jsonrpc":"2.0","method":"ping"}');
    await line.receive('{"jsonrpc":"2.0","method":"ping","params":null}');
    expect(heard).toEqual([]);
  });

  test('has a hundred subscriptions at most', async () => {
    for (let count = 0; count < 100; count++) await ask('accountSubscribe', [someAddress(count)]);
    expect(line.count()).toBe(100);
    expect(await ask('slotSubscribe')).toMatchObject({ error: { code: -32603 } });
    const other = pubSub.connect({ client: 'a', send: () => undefined });
    await other.receive('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
    expect(other.count()).toBe(1);
  });

  test('that asks for the same again has one subscription, and is told once', async () => {
    const { result } = await ask('slotSubscribe');
    for (let count = 0; count < 5; count++) expect(await ask('slotSubscribe')).toMatchObject({ result });
    expect(line.count()).toBe(1);
    clock.advance(400);
    await expect.poll(() => told('slotNotification')).toHaveLength(1);
    expect(await ask('slotUnsubscribe', [result])).toMatchObject({ result: true });
    expect(line.count()).toBe(0);
  });

  test('shares a thousand subscriptions with the others of its client, and takes none from other clients', async () => {
    const connect = (client: string) => pubSub.connect({ client, send: () => undefined });
    const subscribe = (to: Line, account: number) =>
      to.receive(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params: [someAddress(account)] }));
    const greedy = Array.from({ length: 11 }, () => connect('greedy'));
    for (const one of greedy) for (let account = 0; account < 100; account++) await subscribe(one, account);
    expect(greedy.map((one) => one.count())).toEqual([...Array(10).fill(100), 0]);
    const modest = connect('modest');
    await subscribe(modest, 1);
    expect(modest.count()).toBe(1);
  });

  test('that ends what it began has room again, however often it does', async () => {
    for (let count = 0; count < 1_001; count++) {
      const { result } = await ask('accountSubscribe', [someAddress(1)]);
      expect(await ask('accountUnsubscribe', [result])).toMatchObject({ result: true });
    }
  });

  test('that waits for nothing any more costs nothing: the ledger is left alone until somebody asks again', async () => {
    const stopped = vi.spyOn(globalThis, 'clearInterval');
    try {
      const { result } = await ask('slotSubscribe');
      await ask('slotUnsubscribe', [result]);
      await expect.poll(() => stopped.mock.calls.length, { timeout: 10_000 }).toBe(1);
    } finally {
      stopped.mockRestore();
    }
    await ask('slotSubscribe');
    clock.advance(400);
    await expect.poll(() => told('slotNotification')).toHaveLength(1);
  });

  test.each([
    ['no JSON', '{', -32700],
    ['JSON that is nested too deeply', `[${'['.repeat(100_000)}`, -32700],
    ['a list', '[]', -32600],
    ['null', 'null', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"slotSubscribe"}', -32600],
  ])('that sends %s is told so', async (_name, text, code) => {
    await line.receive(text);
    expect(heard).toMatchObject([{ error: { code }, id: null }]);
  });

  test.each([
    ['getSlot', [], -32601],
    ['blockSubscribe', ['all'], -32601],
    ['voteSubscribe', [], -32601],
    ['toStringSubscribe', [], -32601],
    ['accountSubscribe', [], -32602],
    ['accountSubscribe', ['x'], -32602],
    ['accountSubscribe', [SYSTEM, { encoding: 'hex' }], -32602],
    ['programSubscribe', [SYSTEM, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }], -32602],
    ['signatureSubscribe', [SYSTEM], -32602],
    // As long as a signature, and not base58.
    ['signatureSubscribe', ['0'.repeat(88)], -32602],
    ['logsSubscribe', ['none'], -32602],
    ['logsSubscribe', [{ mentions: [SYSTEM, SYSTEM] }], -32602],
    ['slotUnsubscribe', ['1'], -32602],
    ['slotUnsubscribe', [], -32602],
  ])('that calls %s with %j is refused', async (method, params, code) => {
    expect(await ask(method, params)).toMatchObject({ error: { code }, id: 'kit-7' });
    expect(line.count()).toBe(0);
  });
});
