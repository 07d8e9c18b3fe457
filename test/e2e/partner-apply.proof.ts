import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, type Runner, type Served, serveIn } from './farelock.ts';
import { changesOf, layOrders } from './ramp-orders.ts';

/** `partner orders apply` as a process: killed, interrupted, and started again. */

const ROWS = 200;

const linesIn = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

/** Starts a run, and calls `act` once so many rows have ended; resolves with its exit code and what it wrote. */
async function started(
  runner: Runner,
  args: readonly string[],
  results: string,
  rows: number,
  act: (run: ChildProcess) => void,
) {
  const run = spawn(process.execPath, [BIN, ...args], { env: { ...process.env, ...runner.env } });
  let said = '';
  run.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  run.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const before = linesIn(results).length;
  const ended = new Promise<number | null>((resolve) => run.once('exit', resolve));
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && linesIn(results).length < before + rows) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  act(run);
  return { code: await ended, said };
}

test(`a run of ${ROWS} rows that is killed again and again applies each row once`, async () => {
  const runner = farelockIn();
  try {
    const orders = await layOrders(runner, ROWS);
    const file = join(runner.home, 'updates.csv');
    const results = `${file}.results.ndjson`;
    const rows = orders.map((id, index) => `${id},FUNDS_RECEIVED,tx-${index}`);
    writeFileSync(file, `order_id,status,source_transaction_id\n${rows.join('\n')}\n`);
    const args = ['partner', 'orders', 'apply', file, '--json'];
    for (const count of [1, 60]) {
      const { code } = await started(runner, args, results, count, (run) => run.kill('SIGKILL'));
      expect(code).toBeNull();
    }
    const done = linesIn(results).length;
    expect(done).toBeGreaterThan(60);
    expect(done).toBeLessThan(ROWS);

    const last = await runner.run(args);
    expect(last.exitCode, last.stdout + last.stderr).toBe(0);
    expect(last.stderr).toContain(`${ROWS} rows, ${done} done before`);
    expect(last.json()).toMatchObject({ rows: ROWS, applied: ROWS, refused: 0, held: 0, failures: [] });
    const lines = linesIn(results).map((line) => JSON.parse(line) as { row: number; outcome: string });
    expect(lines.map(({ row }) => row)).toEqual(orders.map((_, index) => index + 1));
    expect(new Set(lines.map(({ outcome }) => outcome))).toEqual(new Set(['applied']));
    const changes = await changesOf(runner);
    expect(orders.filter((id) => changes.get(id) !== 1)).toEqual([]);
    expect(existsSync(`${results}.journal`) || existsSync(`${results}.locked`)).toBe(false);

    const again = await runner.run(args);
    expect(again.exitCode).toBe(0);
    expect(await changesOf(runner)).toEqual(changes);
  } finally {
    runner.close();
  }
}, 120_000);

let server: Runner;
let client: Runner;
let served: Served;
beforeAll(async () => {
  server = farelockIn();
  served = await serveIn(server);
});
afterAll(async () => {
  await served?.stop();
  client?.close();
  server?.close();
});

test('Ctrl-C over HTTP ends with what was done and how to go on; the rest follows', async () => {
  const orders = await layOrders(server, 120);
  const key = readFileSync(join(server.home, 'keys', 'partner-par_sandbox_bank.key'), 'utf8').trim();
  client = farelockIn({ FARELOCK_PARTNER_URL: served.flightsUrl, FARELOCK_API_KEY: key });
  const file = join(client.home, 'updates.ndjson');
  const results = join(client.home, 'done.ndjson');
  const moves = ['FUNDS_RECEIVED', 'PAYMENT_SUBMITTED'];
  const rows = moves.flatMap((status) => orders.map((orderId) => JSON.stringify({ orderId, status })));
  writeFileSync(file, rows.join('\n'));
  const args = ['partner', 'orders', 'apply', file, '--results', results];

  const cut = await started(client, args, results, 20, (run) => run.kill('SIGINT'));
  expect(cut.code, cut.said).toBe(130);
  expect(cut.said).toMatch(/Interrupted\. \d+ of 240 rows applied; \d+ left/);
  expect(cut.said).toContain(`farelock partner orders apply ${file} --results ${results}`);
  expect(cut.said).not.toContain(key);

  const rest = await client.run([...args, '--json']);
  expect(rest.exitCode, rest.stdout + rest.stderr).toBe(0);
  expect(rest.json()).toMatchObject({ rows: 240, applied: 240, refused: 0 });
  const changes = await changesOf(server);
  expect(orders.filter((id) => changes.get(id) !== 2)).toEqual([]);
}, 120_000);
