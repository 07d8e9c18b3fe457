import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Address } from '@solana/kit';
import { afterAll, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { openRpcEndpoint } from '../interop/rpc-endpoint.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** The ten commands of docs/clusters.md lead to a service, with another cluster in the place of devnet. */

const PAGE = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/clusters.md'), 'utf8');
const section = PAGE.slice(PAGE.indexOf('## From nothing'), PAGE.indexOf('## The settings of a cluster'));
const commands = [...section.matchAll(/^ {4}farelock (.*?)\s+# \d+\./gm)].map(([, line = '']) => line);

const operator = temporaryHome();
const traveller = temporaryHome();
const stop = new AbortController();
afterAll(() => {
  operator.close();
  traveller.close();
});

test('the ten commands of the page lead from nothing to a locked fare', async () => {
  const endpoint = await openRpcEndpoint();
  const { cluster, clock } = endpoint;
  // Who waits for a block gets one.
  const hasty = { now: clock.now, sleep: async (ms: number) => clock.advance(ms) };
  const served = commands.findIndex((line) => line.startsWith('serve'));
  expect([commands.length, served]).toEqual([10, 4]);
  let flightsUrl = '';
  const run = (line: string, home: string, more: readonly string[] = []) => {
    const words = line
      .replace('--cluster devnet', `--rpc-url ${endpoint.url} --network devnet`)
      .replace('http://127.0.0.1:4020', flightsUrl)
      .split(' ');
    return runInMemory([...words, ...more], { clock: hasty, environment: { FARELOCK_HOME: home } });
  };
  let serving: Promise<unknown> | undefined;
  try {
    for (const line of commands.slice(0, served)) {
      const more = /--final/.test(line) ? ['--yes', '--json'] : ['--json'];
      const ran = await run(line, operator.home, more);
      expect(ran.exitCode, `${line}: ${ran.stdout}${ran.stderr}`).toBe(0);
      // Where the page says to send SOL.
      const wallets = line.startsWith('cluster keys') ? (ran.json().wallets as { address: Address }[]) : [];
      for (const { address } of wallets) await cluster.airdropSol(address, 10_000_000_000n);
      clock.advance(2_000);
    }
    const line = await new Promise<string>((heard) => {
      serving = runInMemory(['serve', '--rpc-url', endpoint.url, '--network', 'devnet', '--port', '0', '--json'], {
        clock,
        environment: { FARELOCK_HOME: operator.home },
        interrupted: stop.signal,
        onStdout: heard,
      });
    });
    expect(line).toContain('flights_url');
    flightsUrl = (JSON.parse(line) as { flights_url: string }).flights_url;
    for (const command of commands.slice(served + 1)) {
      const ran = await run(command, traveller.home, ['--json']);
      expect(ran.exitCode, `${command}: ${ran.stdout}${ran.stderr}`).toBe(0);
      if (!command.startsWith('wallet new')) continue;
      const { address } = ran.json() as { address: Address };
      await cluster.airdropSol(address, 1_000_000_000n);
      await cluster.airdropUsdc(address, 500_000_000n);
    }
  } finally {
    stop.abort(problem('interrupted'));
    await serving;
    await endpoint.close();
  }
}, 120_000);
