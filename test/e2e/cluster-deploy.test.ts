import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { escrowElf } from '../../src/escrow/elf.ts';
import { networkOfGenesis } from '../../src/solana/cluster-settings.ts';
import { programDataOf } from '../../src/solana/loader.ts';
import { inMemory } from '../cli/memory.ts';
import { proofTest } from '../proof-only.ts';
import { BIN, farelockIn, type Runner, type Served, serveIn } from './farelock.ts';
import { asked, openProxy, ran } from './stage.ts';

/** A cluster without the escrow program in one process, and `cluster deploy` against it: in others where it is killed. */

const RATE = 10;
let chain: Served;
let chainHome: Runner;
beforeAll(async () => {
  chainHome = farelockIn({ TEST_CLOCK_SPEED: String(RATE) });
  chain = await serveIn(chainHome, ['--cluster-only', '--without-program']);
});
afterAll(async () => {
  await chain?.stop();
  chainHome.close();
});
const closing: (() => unknown)[] = [];
/** Its commands in this process. */
let operator: Runner;
let rpcUrl: string;
let named: Record<string, string>;
let between: Awaited<ReturnType<typeof openProxy>>;
beforeEach(async () => {
  rpcUrl = chain.rpcUrl;
  between = await openProxy(rpcUrl);
  closing.push(between.close);
  named = { FARELOCK_NETWORK: 'devnet', FARELOCK_GENESIS: chain.genesis ?? '' };
  operator = inMemory(farelockIn({ FARELOCK_RPC_URL: between.url, ...named, TEST_CLOCK_SPEED: String(RATE) }));
  closing.push(operator.close);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Keys {
  readonly wallets: readonly { readonly role: string; readonly address: Address; readonly sol: string }[];
}
interface Deployed {
  readonly status: string;
  readonly program: Address;
  readonly upgrade_authority: string | null;
}

/** The operator's wallets, with 10 SOL each. @returns the authority, who pays */
async function funded(): Promise<Address> {
  await ran(operator, ['cluster', 'fund']);
  const { wallets } = await ran<Keys>(operator, ['cluster', 'keys']);
  expect(wallets.map(({ role, sol }) => [role, sol])).toEqual([
    ['authority', '10'],
    ['facilitator', '10'],
    ['treasury', '0'],
  ]);
  return wallets[0]?.address ?? ('' as Address);
}

const lamportsOf = async (address: Address): Promise<number> =>
  (await asked<{ value: number }>(rpcUrl, 'getBalance', [address])).value;

/** What an account has paid for its own transactions since the faucet filled it. */
async function feesOf(address: Address): Promise<number> {
  const history = await asked<{ signature: string }[]>(rpcUrl, 'getSignaturesForAddress', [address]);
  const metas = await Promise.all(
    history.map(({ signature }) =>
      asked<{ meta: { fee: number }; transaction: { message: { accountKeys: string[] } } }>(rpcUrl, 'getTransaction', [
        signature,
        { maxSupportedTransactionVersion: 0 },
      ]),
    ),
  );
  return metas
    .filter(({ transaction }) => transaction.message.accountKeys[0] === address)
    .reduce((sum, { meta }) => sum + meta.fee, 0);
}

const rentOf = async (...sizes: number[]): Promise<number> => {
  const rents = await Promise.all(
    sizes.map((size) => asked<number>(rpcUrl, 'getMinimumBalanceForRentExemption', [size])),
  );
  return rents.reduce((sum, rent) => sum + rent, 0);
};

/** Runs the deployment, and kills it (-9) when its `nth` transaction is sent: before it gets through, or after. */
async function killedAt(nth: number, when: 'before' | 'after', args: readonly string[]): Promise<void> {
  let sent = 0;
  let child: ChildProcess | null = null;
  between.answer = async (call, honest) => {
    if (call.method !== 'sendTransaction') return honest();
    const isLast = ++sent === nth;
    if (sent > nth) return null;
    const answer = isLast && when === 'before' ? null : await honest();
    if (!isLast) return answer;
    child?.kill('SIGKILL');
    return null;
  };
  child = spawn(process.execPath, [BIN, 'cluster', 'deploy', '--yes', '--json', ...args], {
    env: { ...process.env, ...operator.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const signal = await new Promise((ended) => child?.once('exit', (_code, by) => ended(by)));
  expect(signal, `killed at transaction ${nth}, ${sent} were sent`).toBe('SIGKILL');
  between.answer = async (_call, honest) => honest();
}

const files = () => readdirSync(join(operator.home, 'keys', 'deployments'));
const recorded = () =>
  files().map((name) => {
    const path = join(operator.home, 'keys', 'deployments', name);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    return JSON.parse(readFileSync(path, 'utf8')) as { state: string; buffer: Address; program: Address };
  });

proofTest(
  'killed three times and resumed: the SOL spent is the rent plus the fees, and nothing is left over',
  async () => {
    const authority = await funded();
    const before = await lamportsOf(authority);
    const plan = await ran<{ program: null; rent: string; fees: string; transactions: number }>(operator, [
      ...['cluster', 'deploy', '--final', '--dry-run'],
    ]);
    const elf = escrowElf();
    const rent = await rentOf(36, 45 + elf.length);
    expect(plan.program).toBeNull();
    expect(Number(plan.rent)).toBeCloseTo(rent / 1e9, 9);

    // The buffer is there, and nobody heard of it.
    await killedAt(1, 'after', ['--final']);
    const [begun] = recorded();
    expect(begun).toMatchObject({ state: 'open' });
    // Half of the code is written.
    await killedAt(8, 'before', []);
    const resumed = await ran<{ is_resumed: boolean; program: string; transactions: number }>(operator, [
      ...['cluster', 'deploy', '--dry-run'],
    ]);
    expect(resumed).toMatchObject({ is_resumed: true, program: begun?.program });
    expect(resumed.transactions).toBeLessThan(plan.transactions - 4);
    // The program is there; the right to change it is not given up yet.
    await killedAt(resumed.transactions - 1, 'after', []);
    expect((await ran<{ program: { status: string } }>(operator, ['cluster', 'check'])).program).toMatchObject({
      status: 'shipped',
      upgrade_authority: authority,
    });
    const done = await ran<Deployed>(operator, ['cluster', 'deploy', '--yes']);
    expect(done).toMatchObject({ status: 'deployed', program: begun?.program, upgrade_authority: null });

    const fees = await feesOf(authority);
    expect(before - (await lamportsOf(authority))).toBe(rent + fees);
    // A write that was on its way when the process died may have been sent a second time.
    expect(fees).toBeGreaterThanOrEqual(Math.round(Number(plan.fees) * 1e9));
    expect(fees).toBeLessThanOrEqual(Math.round(Number(plan.fees) * 1e9) + 4 * 5_000);
    expect(await lamportsOf(done.program)).toBe(await rentOf(36));
    expect(await lamportsOf(await programDataOf(done.program))).toBe(await rentOf(45 + elf.length));
    expect(await lamportsOf(begun?.buffer ?? authority)).toBe(0);
    expect(recorded()).toMatchObject([{ state: 'done', program: done.program }]);
    expect(await ran(operator, ['cluster', 'check'])).toMatchObject({
      status: 'ok',
      program: { address: done.program, status: 'shipped', upgrade_authority: null },
    });
    // Run again, it has nothing to do.
    expect(await ran(operator, ['cluster', 'deploy', '--yes'])).toMatchObject({
      status: 'unchanged',
      program: done.program,
    });
  },
  120_000,
);

proofTest(
  'given up after a kill, it takes the rent of the buffer back, and the next one begins anew',
  async () => {
    const authority = await funded();
    const before = await lamportsOf(authority);
    await killedAt(5, 'after', []);
    const [begun] = recorded();
    const held = await lamportsOf(begun?.buffer ?? authority);
    expect(held).toBe(await rentOf(37 + escrowElf().length));
    const other = await operator.run(['cluster', 'deploy', '--program', authority, '--yes', '--json']);
    expect(other.json()).toMatchObject({ error: { code: 'deployment_conflict' } });
    const aborted = await ran<{ reclaimed: string }>(operator, ['cluster', 'deploy', '--abort']);
    expect(aborted).toMatchObject({ status: 'aborted', buffers: [{ buffer: begun?.buffer }] });
    expect(Number(aborted.reclaimed)).toBeCloseTo(held / 1e9, 9);
    expect(before - (await lamportsOf(authority))).toBe(await feesOf(authority));
    expect(recorded()).toMatchObject([{ state: 'aborted' }]);
    const next = await ran<Deployed>(operator, ['cluster', 'deploy', '--yes']);
    expect(next).toMatchObject({ status: 'deployed', upgrade_authority: authority });
    expect(next.program).not.toBe(begun?.program);
    const again = await ran<{ buffers: unknown[] }>(operator, ['cluster', 'deploy', '--abort']);
    expect(again.buffers).toEqual([]);
    expect(await ran(operator, ['cluster', 'deploy', '--final', '--yes'])).toMatchObject({
      status: 'finalised',
      program: next.program,
      upgrade_authority: null,
    });
  },
  120_000,
);

proofTest('two at once deploy one program, with the keys of the first', async () => {
  const authority = await funded();
  const itself = farelockIn(operator.env, operator.home);
  const both = await Promise.all([1, 2].map(() => ran<Deployed>(itself, ['cluster', 'deploy', '--yes'])));
  expect(both[0]?.program).toBe(both[1]?.program);
  expect(await ran(operator, ['cluster', 'deploy', '--yes'])).toMatchObject({ program: both[0]?.program });
  const rent = await rentOf(36, 45 + escrowElf().length);
  expect(await lamportsOf(authority)).toBe(10_000_000_000 - rent - (await feesOf(authority)));
});

proofTest('stopped with Ctrl-C, it says how to go on, and goes on', async () => {
  await funded();
  let sent = 0;
  let child: ChildProcess | null = null;
  between.answer = async (call, honest) => {
    if (call.method === 'sendTransaction' && ++sent === 6) child?.kill('SIGINT');
    return honest();
  };
  let printed = '';
  child = spawn(process.execPath, [BIN, 'cluster', 'deploy', '--yes', '--json'], {
    env: { ...process.env, ...operator.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  expect(await new Promise((ended) => child?.once('close', ended))).toBe(130);
  expect(JSON.parse(printed)).toMatchObject({
    error: { code: 'interrupted', next: [expect.stringMatching(/^farelock cluster deploy/)] },
  });
  const resumed = await ran<{ is_resumed: boolean }>(operator, ['cluster', 'deploy', '--dry-run']);
  expect(resumed.is_resumed).toBe(true);
  expect(await ran(operator, ['cluster', 'deploy', '--yes'])).toMatchObject({ status: 'deployed' });
});

proofTest(
  'a cluster that loses three of ten transactions takes it all the same',
  async () => {
    await funded();
    let sent = 0;
    let lost = 0;
    between.answer = async (call, honest) => {
      if (call.method !== 'sendTransaction' || ![2, 5, 8].includes(sent++ % 10)) return honest();
      lost++;
      // Taken, and dropped; or nobody answers.
      return lost % 2 ? { jsonrpc: '2.0', id: call.id, result: '1'.repeat(64) } : null;
    };
    const done = await ran<Deployed>(operator, ['cluster', 'deploy', '--yes', '--final']);
    expect(lost).toBeGreaterThan(4);
    expect(done).toMatchObject({ status: 'deployed', upgrade_authority: null });
  },
  120_000,
);

test('on mainnet nothing is signed without --mainnet, and the next commands are of the same cluster', async () => {
  const methods = new Set<string>();
  between.answer = async (call, honest) => {
    methods.add(call.method);
    if (call.method !== 'getGenesisHash') return honest();
    return { jsonrpc: '2.0', id: call.id, result: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' };
  };
  const env = { FARELOCK_NETWORK: '', FARELOCK_GENESIS: '' };
  const deploy = ['cluster', 'deploy', '--yes', '--json'];
  const refused = await operator.run(deploy, { env });
  expect(refused.json()).toMatchObject({ error: { code: 'usage', message: expect.stringMatching(/MAINNET/) } });
  const poor = await operator.run([...deploy, '--mainnet', '--rpc-url', between.url], { env });
  expect(poor.json()).toMatchObject({
    error: { code: 'insufficient_funds', next: [`farelock cluster keys --rpc-url ${between.url}`] },
  });
  expect(methods).not.toContain('sendTransaction');
  expect(readdirSync(join(operator.home, 'keys'))).not.toContain('deployments');
});

test('a cluster without the program is one: no service, no program, and a home that has one cannot lose it', async () => {
  const origin = rpcUrl.replace(/\/rpc$/, '');
  expect((await fetch(`${origin}/air/offers`)).status).toBe(404);
  expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 'ok' });
  const genesis = await asked<string>(rpcUrl, 'getGenesisHash', []);
  expect([genesis, networkOfGenesis(genesis)]).toEqual([named.FARELOCK_GENESIS, null]);
  const unnamed = await operator.run(['cluster', 'check', '--json'], {
    env: { FARELOCK_NETWORK: '', FARELOCK_GENESIS: '' },
  });
  expect(unnamed.json()).toMatchObject({
    error: { code: 'cluster_failed', next: [expect.stringContaining(`--network devnet --genesis ${genesis}`)] },
  });
  // The command that is told works as it is told.
  const [told = ''] = unnamed.json<{ error: { next: string[] } }>().error.next;
  const checked = await operator.run([...told.split(' ').slice(1), '--json'], {
    env: { FARELOCK_NETWORK: '', FARELOCK_GENESIS: '' },
  });
  const examined = await operator.run(['doctor', '--json'], { env: { FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:9' } });
  expect(examined.json<{ checks: { id: string; status: string; message: string }[] }>().checks).toContainEqual(
    expect.objectContaining({
      id: 'cluster',
      status: 'ok',
      message: expect.stringContaining(new URL(between.url).host),
    }),
  );
  expect([checked.exitCode, checked.json()]).toMatchObject([8, { status: 'failed', program: { status: 'absent' } }]);
  const embedded = inMemory(farelockIn());
  closing.push(embedded.close);
  expect(await ran(embedded, ['cluster', 'check'])).toMatchObject({
    program: { status: 'shipped', upgrade_authority: null },
  });
  const refused = await embedded.run(['serve', '--cluster-only', '--without-program', '--port', '0', '--json']);
  expect(refused.json()).toMatchObject({ error: { code: 'usage' } });
});
