import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { carryOut } from '../../src/escrow/deployment/steps.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import { problem } from '../../src/kernel/problems.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { GENESIS_HASHES } from '../../src/solana/cluster-settings.ts';
import { SBPF_V3_FEATURE } from '../../src/solana/loader.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { openSqlite } from '../../src/store/libsql/file.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';
import { proofTest } from '../proof-only.ts';
import { type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/**
 * A service and a traveller on a cluster of somebody else's, with a first block of its own: whatever is wrong with
 * genesis, coin, program or wallets is said in its own sentence before anything is charged.
 */

const PRIVATE = '7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5';
const NAMED = ['--network', 'devnet', '--genesis', PRIVATE];
const NAMES = { FARELOCK_NETWORK: 'devnet', FARELOCK_GENESIS: PRIVATE };

let endpoint: RpcEndpoint;
let node: Server;
let url: string;
let genesis = PRIVATE;
/** The cluster has not switched SBPF version 3 on. */
let isOld = false;

function withoutFeature(request: string, answer: string): string {
  const { method, params } = JSON.parse(request) as { method: string; params: [string[]] };
  const at = method === 'getMultipleAccounts' ? params[0].indexOf(SBPF_V3_FEATURE) : -1;
  if (at < 0) return answer;
  const read = JSON.parse(answer) as { result: { value: unknown[] } };
  read.result.value[at] = null;
  return JSON.stringify(read);
}

/** Keys of this file, by a number. */
const key = (number: number): Signer => signerFromSeed(new Uint8Array(32).fill(number));
const deployer = key(7);
const server = temporaryHome();
const traveller = temporaryHome();

beforeAll(async () => {
  endpoint = await openRpcEndpoint();
  node = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', async () => {
      const { method, id } = JSON.parse(body) as { method: string; id: number };
      const headers = { 'content-type': 'application/json' };
      if (method === 'getGenesisHash') {
        response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result: genesis }));
        return;
      }
      if (method === 'getVersion') {
        response
          .writeHead(200, headers)
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: { 'solana-core': '2.2.1' } }));
        return;
      }
      const answer = await fetch(endpoint.url, { method: 'POST', headers, body });
      const text = await answer.text();
      response.writeHead(answer.status, headers).end(isOld ? withoutFeature(body, text) : text);
    });
  });
  await new Promise<void>((ready) => node.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  await endpoint.cluster.airdropSol(deployer.address, 100_000_000_000n);
});
afterAll(async () => {
  node.close();
  await endpoint.close();
  server.close();
  traveller.close();
});
beforeEach(() => {
  genesis = PRIVATE;
  isOld = false;
});

let stop = new AbortController();
let serving: Promise<MemoryRun> | null = null;
afterEach(async () => {
  stop.abort(problem('interrupted'));
  await serving;
  stop = new AbortController();
  serving = null;
});

/** Serves until the test ends; the address, or what it ended with. */
async function serve(...argv: string[]): Promise<{ url: string } | { error: Refused; exitCode: number }> {
  let heard: (line: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => {
    heard = resolve;
  });
  serving = runInMemory(['serve', '--port', '0', '--json', '--rpc-url', url, ...argv], {
    environment: { FARELOCK_HOME: server.home, FARELOCK_TICKETING_MS: '0' },
    clock: endpoint.clock,
    interrupted: stop.signal,
    onStdout: heard,
  });
  const said = JSON.parse(await line) as { flights_url: string; error?: Refused };
  return said.error ? { error: said.error, exitCode: (await serving).exitCode } : { url: said.flights_url };
}

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly next: readonly string[];
  readonly detail?: Record<string, unknown>;
}

const refusal = async (...argv: string[]): Promise<Refused> => {
  const said = await serve(...argv);
  if ('url' in said) throw new Error('it serves');
  expect(said.exitCode).not.toBe(0);
  return said.error;
};

const ports = () => ({ cluster: endpoint.cluster, clock: endpoint.clock, noteBufferUntil: () => undefined });

/** Code of the same length that is not the shipped one: a word of its log is written otherwise. */
function otherCode(): Uint8Array {
  const elf = Buffer.from(escrowElf());
  elf.write('Instruction: oPEN', elf.indexOf('Instruction: Open'));
  return new Uint8Array(elf);
}

let buffers = 100;
async function put(program: Signer, elf: Uint8Array, kind: 'deploy' | 'upgrade' = 'deploy'): Promise<void> {
  endpoint.clock.advance(2_000);
  await carryOut(ports(), {
    kind,
    program: program.address,
    programSigner: kind === 'deploy' ? program : null,
    buffer: key(buffers++),
    payer: deployer,
    elf,
    microLamports: 0n,
    isFinal: false,
  });
  endpoint.clock.advance(2_000);
}

test('a private cluster that is not named is refused with what to name', async () => {
  const said = await refusal();
  expect(said).toMatchObject({ code: 'cluster_failed', message: expect.stringContaining(PRIVATE) });
  expect(said.next).toEqual([expect.stringContaining(`--network devnet --genesis ${PRIVATE}`)]);
});

test('another genesis than the one that is named is refused, also when it is a public one', async () => {
  genesis = key(9).address;
  expect(await refusal(...NAMED)).toMatchObject({
    code: 'genesis_unexpected',
    message: expect.stringContaining(PRIVATE),
  });
  genesis = GENESIS_HASHES.testnet;
  expect(await refusal(...NAMED)).toMatchObject({ code: 'genesis_unexpected' });
  expect(await refusal('--network', 'devnet')).toMatchObject({
    code: 'genesis_unexpected',
    message: expect.stringContaining('is testnet, not devnet'),
  });
});

test.each([
  ['mainnet with another first block', ['--network', 'mainnet', '--genesis', PRIVATE]],
  ["devnet with mainnet's first block", ['--network', 'devnet', '--genesis', GENESIS_HASHES.mainnet]],
  ["devnet with mainnet's coin", [...NAMED, '--usdc-mint', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v']],
  ["mainnet with devnet's coin", ['--network', 'mainnet', '--usdc-mint', DEVNET_USDC]],
])('%s is refused before the cluster is asked', async (_what, argv) => {
  expect(await refusal(...argv)).toMatchObject({ code: 'cluster_settings_invalid' });
});

test('a network and a genesis that contradict each other are refused where no address is named, too', async () => {
  const home = temporaryHome();
  const argv = ['cluster', 'check', '--json', '--network', 'devnet', '--genesis', GENESIS_HASHES.testnet];
  const checked = await runInMemory(argv, { environment: { FARELOCK_HOME: home.home } });
  expect(checked.json().error).toMatchObject({ code: 'cluster_settings_invalid' });
  home.close();
});

proofTest(
  "a deployment to a named program of somebody else's authority is refused, also where the bytes are right",
  async () => {
    const program = key(50);
    await put(program, escrowElf());
    const home = temporaryHome();
    const argv = ['cluster', 'deploy', '--json', '--yes', '--rpc-url', url, ...NAMED];
    const refused = await runInMemory([...argv, '--program', program.address], {
      environment: { FARELOCK_HOME: home.home },
      clock: endpoint.clock,
    });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.json().error).toMatchObject({
      code: 'program_not_upgradeable',
      message: expect.stringContaining(deployer.address),
    });
    home.close();
  },
);

test('a service goes on with the program of the version before, and check says how to get today’s', async () => {
  const program = key(22);
  await put(program, new Uint8Array(readFileSync(new URL('../escrow/fixtures/escrow-whole.so', import.meta.url))));
  const home = temporaryHome();
  const argv = ['cluster', 'check', '--rpc-url', url, ...NAMED, '--program', program.address];
  const checked = await runInMemory(argv, {
    environment: { FARELOCK_HOME: home.home },
    clock: endpoint.clock,
    terminal: true,
    columns: 140,
  });
  expect(checked.stdout).toContain('the bytes of the version before: it serves intents, not authorizations');
  expect(checked.stdout + checked.stderr).toContain('farelock cluster deploy --new');
  home.close();
  const said = await serve(...NAMED, '--escrow-program', program.address);
  // It comes past the program: what stops it, if anything does, is another matter.
  if (!('url' in said)) expect(['program_differs', 'program_missing']).not.toContain(said.error.code);
});

test('a program that is absent, that is none, and that has other bytes are refused, each with its sentence', async () => {
  const [absent, other] = [key(20), key(21)];
  expect(await refusal(...NAMED, '--escrow-program', absent.address)).toMatchObject({
    code: 'program_missing',
    message: expect.stringContaining(`no escrow program at ${absent.address}`),
    next: ['farelock cluster deploy', 'farelock cluster check'],
  });
  expect(await refusal(...NAMED, '--escrow-program', deployer.address)).toMatchObject({
    code: 'program_missing',
    message: expect.stringContaining('is not a program'),
  });
  await put(other, otherCode());
  expect(await refusal(...NAMED, '--escrow-program', other.address)).toMatchObject({
    code: 'program_differs',
    message: expect.stringContaining('does not have the bytes of the shipped'),
    next: ['farelock cluster check', 'farelock cluster deploy'],
  });
});

test('a cluster that cannot deploy the program is named by check, by doctor, and by deploy before it costs', async () => {
  isOld = true;
  const { home, close } = temporaryHome();
  const environment = {
    FARELOCK_HOME: home,
    FARELOCK_RPC_URL: url,
    FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:9',
    ...NAMES,
  };
  const run = (line: string) => runInMemory(line.split(' '), { clock: endpoint.clock, environment });
  const at = `--rpc-url ${url} ${NAMED.join(' ')} --json`;
  const checked = await run(`cluster check ${at} --program ${key(20).address}`);
  expect(checked.json()).toMatchObject({ status: 'failed', sbpf: { version: 3, state: 'absent', node: '2.2.1' } });
  expect(checked.stderr).not.toContain('cluster deploy');
  const deployed = await run(`cluster deploy ${at} --yes`);
  expect(deployed.json().error).toMatchObject({
    code: 'program_version_unsupported',
    message: 'The cluster does not accept programs of SBPF version 3. Its node runs 2.2.1.',
  });
  const { checks } = (await run('doctor --json')).json() as unknown as { checks: { id: string; message: string }[] };
  expect(checks.find(({ id }) => id === 'cluster')).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('deploys no programs of SBPF version 3: its node runs 2.2.1'),
  });
  isOld = false;
  expect((await run(`cluster check ${at}`)).json()).toMatchObject({ sbpf: { state: 'active', node: '2.2.1' } });
  close();
});

test('a mint that is absent, and an account that is none, are refused', async () => {
  expect(await refusal(...NAMED, '--usdc-mint', key(30).address)).toMatchObject({
    code: 'usdc_mint_missing',
    message: expect.stringContaining('There is no mint'),
  });
  expect(await refusal(...NAMED, '--usdc-mint', deployer.address)).toMatchObject({
    code: 'usdc_mint_missing',
    message: expect.stringContaining('is not a mint'),
  });
});

proofTest(
  'from empty wallets to a booking; a program that is upgraded meanwhile closes new intents, and is said',
  async () => {
    const program = key(40);
    await put(program, escrowElf());
    const named = [...NAMED, '--escrow-program', program.address];

    const empty = await refusal(...named);
    expect(empty).toMatchObject({
      code: 'insufficient_funds',
      next: expect.arrayContaining(['farelock cluster keys']),
    });
    const wallets = empty.detail?.wallets as { wallet: string; address: Address; needs_lamports: number }[];
    expect(wallets.map(({ wallet }) => wallet)).toEqual(['authority', 'facilitator']);
    for (const { address, needs_lamports } of wallets) {
      expect(empty.message).toContain(address);
      expect(needs_lamports).toBe(500_000_000);
      await endpoint.cluster.airdropSol(address, 10_000_000_000n);
    }

    const listening = await serve(...named);
    if (!('url' in listening)) throw new Error(listening.error.message);
    const remote = {
      FARELOCK_HOME: traveller.home,
      FARELOCK_FLIGHTS_URL: listening.url,
      FARELOCK_RPC_URL: url,
      ...NAMES,
    };
    const run = (line: string, more: Record<string, string> = {}) =>
      runInMemory(line.split(' '), { clock: endpoint.clock, environment: { ...remote, ...more } });
    const { address } = (await run('wallet new --json')).json() as { address: Address };
    await endpoint.cluster.airdropSol(address, 1_000_000_000n);
    await endpoint.cluster.airdropUsdc(address, 2_000_000_000n);

    // Somebody can replace the program: nothing is paid, not even a search, until that key is accepted by name.
    const search = 'search LIS BER --depart +30d --json';
    const stranger = await run(search);
    expect(stranger.exitCode).toBe(6);
    expect(stranger.json().error).toMatchObject({
      code: 'program_not_trusted',
      message: expect.stringContaining(`${deployer.address} can replace it`),
      next: [`export FARELOCK_UPGRADE_AUTHORITIES=${deployer.address}`],
    });
    expect((await run('wallet balance --json')).json().usdc).toBe('2000.00');

    const trusting = { FARELOCK_UPGRADE_AUTHORITIES: deployer.address };
    const found = (await run(search, trusting)).json() as unknown as { offers: { offer_id: string }[] };
    expect(found.offers.length).toBeGreaterThan(0);
    const made = (await run('intent create 1 --json', trusting)).json() as unknown as { intent_id: string };
    expect(made.intent_id).toMatch(/^int_/);
    const verified = (await run(`status ${made.intent_id} --verify --json`, trusting)).json() as unknown as {
      checks: { check: string; found: string; ok: boolean }[];
    };
    expect(verified.checks.find(({ check }) => check === 'program_code')).toMatchObject({
      ok: true,
      found: expect.stringContaining(deployer.address),
    });

    // Another process replaces it.
    await put(program, otherCode(), 'upgrade');
    endpoint.clock.advance(61_000);
    const ready = await fetch(`${listening.url}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { escrow_program: { address: program.address, trouble: expect.stringContaining('does not have the bytes') } },
    ]);
    // Who would pay into it all the same, for the settings name it, is refused by the service.
    const naming = { FARELOCK_ESCROW_PROGRAM: program.address };
    const before = (await run('wallet balance --json')).json().usdc;
    const closed = await run('intent create 2 --json', naming);
    expect(closed.json().error).toMatchObject({ code: 'escrow_program_changed' });
    // And who does not name it pays nothing, whatever the service says.
    const doubting = await run(search.replace('+30d', '+31d'), trusting);
    expect(doubting.json().error).toMatchObject({
      code: 'program_not_trusted',
      message: expect.stringContaining('is not the shipped one'),
    });
    expect((await run('wallet balance --json')).json().usdc).toBe(before);
    const doctor = (await run('doctor --json', trusting)).json() as unknown as {
      checks: { id: string; status: string; message: string }[];
    };
    const failed = doctor.checks.filter(({ status }) => status === 'failed').map(({ id }) => id);
    expect(failed).toEqual(expect.arrayContaining(['flight_service', 'charging']));
  },
  120_000,
);

proofTest(
  "other bytes at the embedded program's address are not paid into on a cluster of somebody else's",
  async () => {
    const [stranger, guest] = [temporaryHome(), temporaryHome()];
    const clock = endpoint.clock;
    const begin = async () => {
      let heard: (line: string) => void = () => undefined;
      const line = new Promise<string>((resolve) => {
        heard = resolve;
      });
      serving = runInMemory(['serve', '--port', '0', '--json'], {
        environment: { FARELOCK_HOME: stranger.home, FARELOCK_TICKETING_MS: '0' },
        clock,
        interrupted: stop.signal,
        onStdout: heard,
      });
      return JSON.parse(await line) as { flights_url: string; rpc_url: string };
    };
    const end = async () => {
      stop.abort(problem('interrupted'));
      await serving;
      stop = new AbortController();
    };
    const run = async (line: string, at: { flights_url: string; rpc_url: string }) =>
      runInMemory(line.split(' '), {
        clock,
        environment: { FARELOCK_HOME: guest.home, FARELOCK_FLIGHTS_URL: at.flights_url, FARELOCK_RPC_URL: at.rpc_url },
      });
    const search = 'search LIS BER --depart +30d --json';
    try {
      const honest = await begin();
      await run('wallet new --json', honest);
      await run('wallet airdrop --json', honest);
      expect((await run(search, honest)).exitCode).toBe(0);
      await end();

      const ledger = openSqlite(join(stranger.home, 'ledger.db'));
      ledger.prepare('update accounts set data = ? where address = ?').run(Buffer.from(otherCode()), ESCROW_PROGRAM_ID);
      ledger.close();

      const changed = await begin();
      const before = (await run('wallet balance --json', changed)).json().usdc;
      const refused = await run(search.replace('+30d', '+31d'), changed);
      expect(refused.json().error).toMatchObject({
        code: 'program_not_trusted',
        message: expect.stringContaining('is not the shipped one'),
      });
      expect((await run('wallet balance --json', changed)).json().usdc).toBe(before);
    } finally {
      await end();
      stranger.close();
      guest.close();
    }
  },
  120_000,
);
