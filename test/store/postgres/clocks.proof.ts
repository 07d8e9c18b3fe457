import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../../src/service/home.ts';
import { buildProgram, type Program } from '../../built.ts';
import { postgresIsInstalled, startPostgres } from '../postgres.ts';

/** Processes of several machines, each with a clock of its own, over one PostgreSQL: leases run by the server's. */

let server: Awaited<ReturnType<typeof startPostgres>>;
let program: Program;
const running: ChildProcess[] = [];
beforeAll(async () => {
  if (!postgresIsInstalled) return;
  server = await startPostgres();
  program = await buildProgram('store/postgres/claimer.ts');
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  program?.remove();
  await server?.close();
});

/** Its clock is so far ahead of the machine's. @returns what it says of the row */
async function processAt(aheadMs: number, how: 'hold' | 'try'): Promise<string> {
  const child = spawn(process.execPath, [program.path, server.url, how], {
    env: {
      ...process.env,
      NODE_OPTIONS: `--require=${resolve(import.meta.dirname, '../../moved-clock.cjs')}`,
      TEST_CLOCK_STARTS_MS: String(Date.now() + aheadMs),
      TEST_CLOCK_STARTED_NS: String(process.hrtime.bigint()),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  const [said] = await once(child.stdout, 'data');
  return String(said).trim();
}

async function payout(): Promise<void> {
  const store = await openStore(server.url);
  await store.deleteFrom('affiliate_payouts').execute();
  const row = { code: 'C', wallet: 'w', amount: 1, state: 'open', attempts: 0, created_at_ms: 0 } as const;
  await store
    .insertInto('affiliate_payouts')
    .values({ payout_id: 'one', due_at_ms: 0, lease_until_ms: 0, ...row })
    .execute();
  await store.destroy();
}

test.runIf(postgresIsInstalled).each([
  ['is ahead', 0, 90_000],
  ['is right, of one that is ahead', 90_000, 0],
  ['is behind', 0, -90_000],
  ['is right, of one that is behind', -90_000, 0],
] as const)(
  'a process whose clock %s takes over nothing that another holds',
  async (_name, holderMs, otherMs) => {
    await payout();
    expect(await processAt(holderMs, 'hold')).toBe('taken');
    expect(await processAt(otherMs, 'try')).toBe('held by another');
  },
  60_000,
);
