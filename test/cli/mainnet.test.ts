import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { problem } from '../../src/kernel/problems.ts';
import { GENESIS_HASHES } from '../../src/solana/cluster-settings.ts';
import { runningClock } from '../flights/world.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../interop/rpc-endpoint.ts';
import { type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** Mainnet never meets the sandbox: which cluster it is, its genesis says, whatever the address is called. */

let endpoint: RpcEndpoint;
let node: Server;
let url: string;
/** What the node in between says its genesis is; null: what the cluster behind it says. */
let genesis: string | null = null;
let asked: string[] = [];

beforeAll(async () => {
  endpoint = await openRpcEndpoint([{ address: ESCROW_PROGRAM_ID, elf: escrowElf }]);
  node = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', async () => {
      const { method, id } = JSON.parse(body) as { method: string; id: number };
      asked.push(method);
      const headers = { 'content-type': 'application/json' };
      if (method === 'getGenesisHash' && genesis !== null) {
        response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result: genesis }));
        return;
      }
      const answer = await fetch(endpoint.url, { method: 'POST', headers, body });
      response.writeHead(answer.status, headers).end(await answer.text());
    });
  });
  await new Promise<void>((ready) => node.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}/devnet`;
});
afterAll(async () => {
  node.close();
  await endpoint.close();
});

test.each([
  ['--rpc-url', () => ({ argv: ['--rpc-url', url], environment: {} })],
  ['FARELOCK_RPC_URL', () => ({ argv: [], environment: { FARELOCK_RPC_URL: url } })],
])('serve refuses mainnet, named by %s, before a key is made or anything is asked of it', async (_by, how) => {
  const place = temporaryHome();
  const { argv, environment } = how();
  genesis = GENESIS_HASHES.mainnet;
  asked = [];
  try {
    for (const extra of [[], ['--live'], ['--scenario', 'none']]) {
      const ran = await runInMemory(['serve', '--port', '0', '--json', ...argv, ...extra], {
        environment: { FARELOCK_HOME: place.home, ...environment },
      });
      expect(ran.exitCode).toBe(2);
      expect(ran.json().error).toMatchObject({
        code: 'sandbox_on_mainnet',
        retryable: false,
        next: ['farelock serve'],
      });
    }
    expect(new Set(asked)).toEqual(new Set(['getGenesisHash']));
    expect(readdirSync(place.home)).toEqual([]);
  } finally {
    genesis = null;
    place.close();
  }
});

test('a cluster that comes to answer as mainnet gets nothing signed or sent any more', async () => {
  const server = temporaryHome();
  const traveller = temporaryHome();
  const running = runningClock();
  // Whoever waits long for an answer that does not come has waited soon.
  const clock: Clock = {
    now: running.now,
    async sleep(ms, signal) {
      const waitedMs = Math.min(ms, 50);
      running.advance(ms - waitedMs);
      await running.sleep(waitedMs, signal);
    },
  };
  const stop = new AbortController();
  const environment = { FARELOCK_HOME: server.home };
  const serve = (onStdout?: (text: string) => void) =>
    runInMemory(['serve', '--port', '0', '--json', '--rpc-url', url], {
      environment,
      clock,
      interrupted: stop.signal,
      ...(onStdout && { onStdout }),
    });
  // The operator's keys have to hold something: the first start names all that do not.
  let serving: Promise<MemoryRun> | undefined;
  let listening: { flights_url: string } | undefined;
  for (let start = 0; start < 2 && !listening; start++) {
    let heard: (line: string) => void = () => undefined;
    const line = new Promise<string>((resolve) => {
      heard = resolve;
    });
    const run = serve(heard);
    const ended = await Promise.race([run, line]);
    const text = typeof ended === 'string' ? ended : ended.stdout;
    const poor = [...text.matchAll(/the (?:authority|facilitator) (\w+) holds/g)].flatMap((one) => one[1] ?? []);
    if (poor.length === 0) {
      serving = run;
      listening = JSON.parse(text) as { flights_url: string };
    }
    for (const key of poor) await endpoint.cluster.airdropSol(key as Address, 10_000_000_000n);
  }
  if (!listening) throw new Error('it never listened');
  const farelock = (line: string) =>
    runInMemory(line.split(' '), {
      clock,
      environment: {
        FARELOCK_HOME: traveller.home,
        FARELOCK_FLIGHTS_URL: listening.flights_url,
        FARELOCK_RPC_URL: endpoint.url,
      },
    });
  try {
    await farelock('wallet new');
    await farelock('wallet airdrop --sol 1 --usdc 100');
    const before = await farelock('search LIS BER --depart +30d --json');
    expect(before.exitCode, before.stdout).toBe(0);
    running.advance(120_000);
    genesis = GENESIS_HASHES.mainnet;
    asked = [];
    const after = await farelock('search LIS BER --depart +31d --json');
    expect(after.exitCode).not.toBe(0);
    expect(asked).toContain('getGenesisHash');
    expect(asked).not.toContain('sendTransaction');
  } finally {
    genesis = null;
    stop.abort(problem('interrupted'));
    await serving;
    server.close();
    traveller.close();
  }
});
