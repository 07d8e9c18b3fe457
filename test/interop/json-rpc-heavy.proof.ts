import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { createJsonRpc } from '../../src/solana/json-rpc/index.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { TOKEN_PROGRAM } from '../../src/solana/token.ts';
import { manualClock } from '../clock.ts';
import { cases } from '../proof-only.ts';
import { webOf } from '../web.ts';

/** One service on one thread: heavy calls, on any number of connections, let other calls have their turn. */

const busy = signerFromSeed(new Uint8Array(32).fill(31)).address;
const SYSTEM = '11111111111111111111111111111111';
// More than a page of history, and more than an answer may hold.
const TRANSACTIONS = 1_200;
const ACCOUNTS = 24_000;

const folder = mkdtempSync(join(tmpdir(), 'farelock-heavy-'));
let cluster: EmbeddedCluster;
let rpc: (request: Request) => Promise<Response>;

beforeAll(async () => {
  const path = join(folder, 'ledger.db');
  const clock = manualClock();
  cluster = await openEmbeddedCluster({ path, clock });
  const signature = await cluster.airdropUsdc(busy, 5_000_000n);
  fill(path, signature);
  // Everything has landed in the first of half a million slots.
  clock.advance(600_000 * 400);
  cluster.ledger.now();
  rpc = webOf(createJsonRpc(cluster));
});
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

/** Many more of what one airdrop made: transactions that name one wallet, and token accounts of one mint. */
function fill(path: string, signature: string): void {
  const database = new Sqlite(path);
  database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${TRANSACTIONS})
    insert into transactions (signature, slot, block_time, err, wire, memo, meta)
    select substr(signature, 1, length(signature) - 5) || replace(10000 + i, '0', 'A'), slot, block_time, err, wire, memo, meta
    from n, transactions where signature = '${signature}';
    insert into transaction_accounts (address, seq)
    select '${busy}', seq from transactions where signature <> '${signature}' and seq > 1;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ACCOUNTS})
    insert into accounts (address, lamports, owner, data, executable, slot, mint, token_owner)
    select substr(address, 1, 36) || (100000 + i), lamports, owner, data, executable, slot, mint, token_owner
    from n, accounts where token_owner = '${busy}';`);
  database.close();
}

const send = async (body: string) => {
  const response = await rpc(new Request('http://farelock.test/rpc', { method: 'POST', body }));
  return { status: response.status, text: await response.text() };
};

/** How often others have their turn while `work` is done, on a machine so slow that each step of it uses up a slice. */
async function turnsIn(work: () => Promise<unknown>): Promise<number> {
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1_000));
  let working = true;
  const ended = work().finally(() => {
    working = false;
  });
  let turns = 0;
  for (; working; turns++) await new Promise(setImmediate);
  clock.mockRestore();
  await ended;
  return turns;
}

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const batch = (times: number, one: object) => JSON.stringify(Array(times).fill(one));
const wire = Buffer.alloc(1232, 1).toString('base64');

const EVERYTHING = { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 };

const ATTACKS = cases<[name: string, body: () => string, leastTurns?: number]>(
  [
    ['100 histories', () => batch(100, call('getSignaturesForAddress', busy))],
    [
      'every account of a program',
      () => batch(2, call('getProgramAccounts', TOKEN_PROGRAM, { encoding: 'base64' })),
      1200,
    ],
    ['half a million blocks', () => batch(2, call('getBlocks', 0, 500_000))],
    ['the schedule of leaders', () => batch(2, call('getLeaderSchedule'))],
    ['leaders, 5,000 at a time', () => batch(20, call('getSlotLeaders', 0, 5_000)), 20],
    ['50 simulations', () => batch(45, call('simulateTransaction', wire, { encoding: 'base64' })), 45],
    ['1,000 small calls', () => batch(1_000, call('getHealth'))],
    [
      'a list of 10,000 that is none of addresses',
      () => JSON.stringify(call('getMultipleAccounts', Array(10_000).fill(0))),
    ],
    ['a long base58 text', () => JSON.stringify(call('isBlockhashValid', '9'.repeat(200_000)))],
    [
      'a long memcmp',
      () =>
        JSON.stringify(
          call('getProgramAccounts', SYSTEM, { filters: [{ memcmp: { offset: 0, bytes: '9'.repeat(200_000) } }] }),
        ),
    ],
    [
      'deep JSON',
      () => `{"jsonrpc":"2.0","id":1,"method":"getSlot","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
    ['a body that is too large', () => ' '.repeat(1_000_000)],
  ],
  [
    ['as many histories as are answered', () => batch(24, call('getSignaturesForAddress', busy)), 500],
    [
      'every account of a program, and none that fits',
      () => batch(2, call('getProgramAccounts', TOKEN_PROGRAM, { filters: [{ dataSize: 7 }] })),
      2400,
    ],
    ['the accounts of a holder', () => batch(20, call('getTokenAccountsByOwner', busy, { mint: DEVNET_USDC })), 20],
    ['the largest holders', () => batch(2, call('getTokenLargestAccounts', DEVNET_USDC)), 2400],
    [
      'programs, 100 at a time',
      () => batch(25, call('getMultipleAccounts', Array(100).fill(TOKEN_PROGRAM), { encoding: 'base64' })),
      2500,
    ],
    ['a block with everything in it', () => batch(4, call('getBlock', 0, EVERYTHING)), 2400],
    ['a block of signatures', () => batch(4, call('getBlock', 0, { transactionDetails: 'signatures' })), 4800],
    ['the supply', () => batch(2, call('getSupply')), 48],
    ['the largest accounts', () => batch(2, call('getLargestAccounts')), 48],
    ['what is delegated', () => batch(2, call('getTokenAccountsByDelegate', busy, { programId: TOKEN_PROGRAM })), 2400],
    ['12 hours of samples', () => batch(12, call('getRecentPerformanceSamples', 720)), 12],
    ['100 simulations', () => batch(100, call('simulateTransaction', wire, { encoding: 'base64' }))],
  ],
);

describe('the JSON-RPC under heavy calls', () => {
  test.each(ATTACKS)('%s: others have their turn in between', async (_name, body, leastTurns = 1) => {
    const text = body();
    let status = 0;
    const turns = await turnsIn(async () => {
      status = (await send(text)).status;
    });
    expect([200, 413, 429]).toContain(status);
    expect(turns).toBeGreaterThanOrEqual(leastTurns);
  });

  test('a batch that asks for too much is refused whole, before anything of it is done', async () => {
    const refused = await send(batch(100, call('getSignaturesForAddress', busy)));
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      413,
      { jsonrpc: '2.0', error: { code: -32005, message: expect.stringMatching(/fewer calls/) }, id: null },
    ]);
    const before = cluster.ledger.transactionCount();
    await send(batch(100, call('requestAirdrop', busy, 1_000_000)));
    expect(cluster.ledger.transactionCount()).toBe(before);
  });

  test('what clients send in a batch is answered: 100 small reads, 100 transactions, a page of history', async () => {
    const [found] = JSON.parse((await send(batch(1, call('getSignaturesForAddress', busy)))).text) as [
      { result: { signature: string }[] },
    ];
    expect(found.result).toHaveLength(1_000);
    const many = await send(batch(100, call('getTransaction', found.result[0]?.signature, 'json')));
    expect(JSON.parse(many.text)).toHaveLength(100);
    const small = await send(batch(100, call('getBalance', busy)));
    expect(JSON.parse(small.text)).toHaveLength(100);
  });

  test('a history is paged by before, until and limit', async () => {
    const page = async (options: object) =>
      (
        JSON.parse((await send(JSON.stringify(call('getSignaturesForAddress', busy, options)))).text) as {
          result: { signature: string }[];
        }
      ).result.map(({ signature }) => signature);
    const all = await page({});
    expect(await page({ limit: 120 })).toEqual(all.slice(0, 120));
    expect(await page({ before: all[119], limit: 60 })).toEqual(all.slice(120, 180));
    expect(await page({ until: all[70] })).toEqual(all.slice(0, 70));
  });

  test('an answer that is too large says how to ask for less', async () => {
    const answer = await send(JSON.stringify(call('getProgramAccounts', TOKEN_PROGRAM, { encoding: 'base64' })));
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: -32005, message: expect.stringMatching(/dataSlice/) },
    });
    const largest = await send(JSON.stringify(call('getTokenLargestAccounts', DEVNET_USDC)));
    expect((JSON.parse(largest.text) as { result: { value: unknown[] } }).result.value).toHaveLength(20);
  });
});
