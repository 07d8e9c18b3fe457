import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { BIN, farelockIn, type Runner, type Served, serveIn } from './farelock.ts';

/** A partner's day over HTTP: the tools of operator and partner, and the built service; the same commands as embedded. */

let server: Runner;
let served: Served;
let operator: Runner;
let partner: Runner;
let key: string;
// An amount that the sandbox's own script leaves alone, however slow the machine is.
const EXCHANGE = '--country DEU --ramp onramp --from EUR --to SOLANA_USDC --amount 100.0024 --method DEU_SEPA';

const run = (runner: Runner, line: string, options: Parameters<Runner['run']>[1] = {}) =>
  runner.run(line.split(' '), options);

beforeAll(async () => {
  server = farelockIn();
  served = await serveIn(server);
  const operatorKey = readFileSync(served.operatorKeyFile, 'utf8').trim();
  operator = inMemory(farelockIn({ FARELOCK_PARTNER_URL: served.flightsUrl, FARELOCK_OPERATOR_KEY: operatorKey }));
  const issued = await run(operator, 'keys partner issue par_sandbox_bank till --json');
  expect(issued.exitCode, issued.stdout + issued.stderr).toBe(0);
  key = issued.json<{ key: string }>().key;
  partner = inMemory(farelockIn({ FARELOCK_PARTNER_URL: served.flightsUrl, FARELOCK_API_KEY: key }));
});
afterAll(async () => {
  await served?.stop();
  for (const runner of [server, operator, partner]) runner?.close();
});

async function orderFor(customer: string): Promise<string> {
  const made = await run(operator, `keys token ${customer} --json`);
  const { token } = made.json<{ token: string }>();
  const order = await run(partner, `partner orders create par_sandbox_bank ${EXCHANGE} --json`, {
    env: { FARELOCK_CUSTOMER_TOKEN: token },
  });
  expect(order.exitCode, order.stdout + order.stderr).toBe(0);
  const shown = order.json<{ id: string; customerId?: string; reason?: string }>();
  expect([shown.customerId, shown.reason]).toEqual([undefined, undefined]);
  return shown.id;
}

test('an order is made for a customer, moved by its partner, and watched to its end by a third', async () => {
  const orderId = await orderFor('cus_demo_bo');
  const watching = spawn(process.execPath, [BIN, 'partner', 'orders', 'watch', orderId, '--every', '50ms', '--json'], {
    env: { ...process.env, ...partner.env },
  });
  let seen = '';
  const first = new Promise<void>((resolve) =>
    watching.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes('\n')) resolve();
    }),
  );
  const ended = new Promise<number | null>((resolve) => watching.once('exit', resolve));
  await first;
  const moved = await run(partner, `partner orders update ${orderId} --status error --reason closed --json status`);
  expect(moved.json()).toEqual({ status: 'ERROR' });
  expect(await ended).toBe(8);
  const statuses = seen
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { status: string }).status);
  // On a slow machine the sandbox's bank has taken the funds before the partner closes the order.
  expect(statuses.filter((status) => status !== 'FUNDS_RECEIVED')).toEqual(['AWAITING_FUNDS', 'ERROR']);
  expect(new Set(statuses).size).toBe(statuses.length);
});

test('a customer who is not named, and an operator who is not here, are asked for by name', async () => {
  const none = await run(partner, 'requirements --json');
  expect(none.exitCode).toBe(4);
  expect(none.json<{ error: { code: string } }>().error.code).toBe('no_customer_token');
  const desk = await run(partner, 'keys partner list --json');
  expect([desk.exitCode, desk.stdout]).toEqual([4, expect.stringContaining('no_operator_key')]);
  const keyless = await run(partner, 'partner orders list --json', { env: { FARELOCK_API_KEY: '' } });
  expect([keyless.exitCode, keyless.stdout]).toEqual([4, expect.stringContaining('no_api_key')]);
});

test('an order of another partner is not there', async () => {
  const shown = await run(partner, 'partner orders show rmp_demo_pix --json');
  expect(shown.exitCode).toBe(3);
});

test('a revoked key is refused at once, and appears in no output', async () => {
  const issued = (await run(operator, 'keys partner issue par_sandbox_bank short --json')).json<{
    key: string;
    key_id: string;
  }>();
  const env = { FARELOCK_API_KEY: issued.key };
  expect((await run(partner, 'partner orders list --json', { env })).exitCode).toBe(0);
  await run(operator, `keys partner revoke ${issued.key_id}`);
  const refused = await run(partner, 'partner orders list --verbose --json', { env });
  expect(refused.exitCode).toBe(4);
  expect(refused.stdout + refused.stderr).not.toContain(issued.key);
});

test('a key file of the profile works when it is private, and is refused when others can read it', async () => {
  const file = join(partner.home, 'bank.key');
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  const profiles = { profiles: { bank: { partner_url: served.flightsUrl, api_key_file: file } } };
  writeFileSync(join(partner.home, 'config.json'), JSON.stringify(profiles), { mode: 0o600 });
  const env = { FARELOCK_API_KEY: '', FARELOCK_PARTNER_URL: '' };
  const listed = await run(partner, 'partner orders list --profile bank --json id', { env });
  expect(listed.exitCode, listed.stdout + listed.stderr).toBe(0);
  chmodSync(file, 0o644);
  const refused = await run(partner, 'partner orders list --profile bank --json', { env });
  expect([refused.exitCode, refused.stdout]).toEqual([4, expect.stringContaining('chmod 600')]);
});

test('a service that is not there is exit 7', async () => {
  const ran = await run(partner, 'partner orders list --json', { env: { FARELOCK_PARTNER_URL: 'http://127.0.0.1:9' } });
  expect([ran.exitCode, ran.stdout]).toEqual([7, expect.stringContaining('network_unreachable')]);
});
