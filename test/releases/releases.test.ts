import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { clockFrom, restartWorldClock, worldClockEnv } from '../clock.ts';
import { farelockIn, type Ran, type Runner, serveIn } from '../e2e/farelock.ts';
import { isHere } from '../needs.mjs';
import { proofTest } from '../proof-only.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';

/**
 * What earlier releases left behind, made by their own builds (make.mjs), and finished by this one: every booking ends,
 * every approved refund is paid, and the customer's wallet holds what it must, to the unit.
 */

const isBuilt = isHere('the built tool', existsSync(resolve(import.meta.dirname, '../../dist/modules.json')));
const RELEASES = readdirSync(import.meta.dirname).filter((name) => /^\d{4}-/.test(name));
/** Tickets that were asked for are issued by then, and offers that were locked have expired. */
const LATER_MS = 3_600_000;

type States = Readonly<Record<string, string>>;

interface Left {
  readonly leftAtMs: number;
  readonly states: States;
}

interface Ramp {
  readonly id: string;
  readonly status: string;
}

/** How a partner ends an order that stands in each status; the platform's script ends the one that was in doubt. */
const RAMP_ENDS: Readonly<Record<string, readonly string[]>> = {
  AWAITING_FUNDS: ['CANCELED'],
  IN_REVIEW: ['FUNDS_RECEIVED', 'PAYMENT_PROCESSED'],
  FUNDS_RECEIVED: ['PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED'],
  PAYMENT_SUBMITTED: ['PAYMENT_PROCESSED'],
  PAYMENT_PROCESSED: [],
  REFUNDING: ['REFUNDED'],
  REFUNDED: [],
  CANCELED: [],
  ERROR: ['CANCELED'],
};

interface Intent {
  readonly intent_id: string;
  readonly status: string;
  readonly booking?: { readonly state: string } | null;
  readonly escrow: { readonly amount: number };
  readonly refund_tx_hash: string | null;
  readonly capture_tx_hash: string | null;
  readonly refund_request: { readonly state: string; readonly payout_amount?: number | null } | null;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Unpacks a home into a new folder. @returns what was left in it, and a clock for whoever goes on with it */
function unpack(release: string, store: string) {
  const folder = join(import.meta.dirname, release, store);
  const left = JSON.parse(readFileSync(join(folder, 'states.json'), 'utf8')) as Left;
  const home = mkdtempSync(join(tmpdir(), 'farelock-'));
  execFileSync('tar', ['-xzf', join(folder, 'home.tgz'), '-C', home]);
  restartWorldClock();
  const startsMs = left.leftAtMs + LATER_MS;
  const clock = { TEST_CLOCK_STARTS_MS: String(startsMs), TEST_CLOCK_STARTED_NS: worldClockEnv.TEST_CLOCK_STARTED_NS };
  return { folder, home, states: left.states, clock, startsMs };
}

const ok = <T>(ran: Ran): T => {
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  return ran.json<T>();
};

/** Opens, lists, finishes and pays out what a customer and an operator left. */
async function finish(runner: Runner, states: States, startUsdc: number, isEmbedded: boolean): Promise<void> {
  const ask = async <T>(words: string) => ok<T>(await runner.run([...words.split(' '), '--json']));
  const ids = Object.values(states).filter((one) => one.startsWith('int_'));
  // A server that listens somewhere else is another service to the customer's journal.
  if (isEmbedded) {
    const { intents } = await ask<{ intents: { intent_id: string }[] }>('intent list --limit 100');
    expect(intents.map((one) => one.intent_id)).toEqual(expect.arrayContaining(ids));
  }
  const { history } = await ask<{ history: unknown[] }>('wallet history --limit 100');
  expect(history.length).toBeGreaterThan(10);
  const { refund_requests: requests } = await ask<{ refund_requests: unknown[] }>('refund queue');
  expect(requests.length).toBeGreaterThanOrEqual(2);

  await finishRamp(runner, states, isEmbedded ? '--partner par_sandbox_pix --json' : '--json');
  const show = (id: string) => runner.run(['status', id, '--json']).then((ran) => ran.json<Intent>());
  const wanted = {
    booked: /^booked$/,
    ticketing: /^booked$/,
    capturing: /^booked$/,
    refunded: /^refunded$/,
    lowcost_booked: /^booked$/,
    lowcost_queued: /^(booked|refunded)$/,
    // Its offer may have expired before anything was ordered.
    queued: /^(booked|refunded)$/,
  };
  for (const [state, status] of Object.entries(wanted)) {
    const id = states[state];
    if (id) await expect.poll(async () => (await show(id)).status, { timeout: 60_000 }).toMatch(status);
  }
  // Paid at the carrier's till or not: only a person finds out.
  const pressed = states.lowcost_pressed as string;
  const stuck = async () => (await ask<{ bookings: { intent_id: string }[] }>('stuck')).bookings;
  await expect.poll(stuck, { timeout: 60_000 }).toContainEqual(expect.objectContaining({ intent_id: pressed }));
  await ask(`stuck resolve ${pressed} not-ticketed --yes`);
  await expect.poll(async () => (await show(pressed)).status, { timeout: 60_000 }).toBe('refunded');

  for (const state of ['requested', 'claimed', 'approved']) {
    // It may have been killed before it approved this one.
    const { refund_request: request } = await show(states[state] as string);
    if (request?.state !== 'approved') await ask(`refund approve ${states[state]} --yes`);
  }
  for (const state of ['requested', 'claimed', 'approved', 'paid']) {
    const id = states[state] as string;
    await expect.poll(async () => (await show(id)).status, { timeout: 60_000 }).toBe('refunded');
    await expect.poll(async () => (await show(id)).refund_request?.state, { timeout: 60_000 }).toBe('paid');
  }
  expect((await show(states.rejected as string)).refund_request?.state).toBe('rejected');

  const all = await Promise.all(ids.map(show));
  await holdsWhatItMust(runner, all, startUsdc);

  // Those of the release and of this build, whose memos differ.
  const payOuts = all.flatMap(({ refund_request: request, refund_tx_hash: transaction }) =>
    request?.state === 'paid' && transaction !== null ? transaction : [],
  );
  expect(payOuts.length).toBeGreaterThanOrEqual(4);
  const { history: moved } = await ask<{ history: { transaction: string; purpose: string | null }[] }>(
    'wallet history --limit 500',
  );
  for (const payOut of payOuts) {
    expect(moved.find(({ transaction }) => transaction === payOut)?.purpose).toMatch(/^pay-out /);
  }
}

/** Compares the customer's wallet with what was paid and came back, to the unit. */
async function holdsWhatItMust(runner: Runner, all: readonly Intent[], startUsdc: number): Promise<void> {
  const ask = async <T>(words: string) => ok<T>(await runner.run([...words.split(' '), '--json']));
  const payments = await ask<{ payments: { amount: string; state: string }[] }>('payments list --limit 500');
  const atomic = (usdc: string) => Math.round(Number(usdc) * 1_000_000);
  const paid = payments.payments.filter(({ state }) => state === 'answered').map(({ amount }) => atomic(amount));
  const back = all.flatMap((one) => [
    one.refund_tx_hash !== null && one.capture_tx_hash === null ? one.escrow.amount : 0,
    one.refund_request?.payout_amount ?? 0,
  ]);
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
  const { usdc_atomic: held } = await ask<{ usdc_atomic: number }>('wallet balance');
  expect(held).toBe(atomic(String(startUsdc)) - sum(paid) + sum(back));
  await ask('payments verify');
}

/** Lists the ramp orders of a partner as they were left, and brings each to its end. */
async function finishRamp(runner: Runner, states: States, acting: string): Promise<void> {
  const ask = async <T>(words: string) => ok<T>(await runner.run(`${words} ${acting}`.split(' ')));
  const { orders } = await ask<{ orders: Ramp[] }>('partner orders list --limit 100');
  for (const [status, updates] of Object.entries(RAMP_ENDS)) {
    const id = states[`ramp_${status}`] as string;
    expect(orders).toContainEqual(expect.objectContaining({ id, status }));
    for (const to of updates) await ask(`partner orders update ${id} --status ${to}`);
    expect((await ask<Ramp>(`partner orders show ${id}`)).status).toBe(updates.at(-1) ?? status);
  }
  const doubt = states.ramp_doubt as string;
  const ended = async () => (await runner.run(`partner orders show ${doubt} ${acting}`.split(' '))).json<Ramp>();
  await expect.poll(async () => (await ended()).status, { timeout: 60_000 }).toBe('PAYMENT_PROCESSED');
}

describe.runIf(isBuilt).each(RELEASES)('what the release of %s left', (release) => {
  proofTest('a home is opened, listed, finished and paid out', async () => {
    const { home, states, clock, startsMs } = unpack(release, 'file');
    const runner = farelockIn(clock, home);
    closing.push(runner.close);
    ok(await runner.run(['wallet', 'history', '--json']));
    await finish(inMemory(runner, clockFrom(startsMs)), states, 10_000, true);
  });

  test('a refund that was cut off is paid, once', async () => {
    const { home, states, clock, startsMs } = unpack(release, 'refunding');
    const tool = farelockIn(clock, home);
    closing.push(tool.close);
    ok(await tool.run(['intent', 'list', '--json']));
    const runner = inMemory(tool, clockFrom(startsMs));
    const show = async (id: string) => (await runner.run(['status', id, '--json'])).json<Intent>();
    const ids = Object.values(states);
    for (const id of ids) await expect.poll(async () => (await show(id)).status, { timeout: 60_000 }).toBe('refunded');
    await holdsWhatItMust(runner, await Promise.all(ids.map(show)), 10_000);
  });

  proofTest.runIf(postgresKeepsTime)(
    'on PostgreSQL a database is taken up, listed, finished and paid out',
    async () => {
      const { folder, home, states, clock, startsMs } = unpack(release, 'postgres');
      const { url, close } = await startPostgres({ nowMs: startsMs });
      closing.push(close);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const dump = gunzipSync(readFileSync(join(folder, 'dump.sql.gz'))).toString();
      // What begins with a backslash is for psql.
      await client.query(dump.replace(/^\\.*$/gm, ''));
      await client.end();
      const server = farelockIn(clock, home);
      closing.push(server.close);
      const served = await serveIn(server, ['--database-url', url, '--migrate']);
      closing.push(() => served.stop());
      const customer = farelockIn(
        {
          ...clock,
          FARELOCK_FLIGHTS_URL: served.flightsUrl,
          FARELOCK_RPC_URL: served.rpcUrl,
          FARELOCK_PARTNER_URL: served.flightsUrl,
          FARELOCK_API_KEY: readFileSync(join(home, 'keys', 'partner-par_sandbox_pix.key'), 'utf8').trim(),
          FARELOCK_OPERATOR_KEY: readFileSync(served.operatorKeyFile, 'utf8').trim(),
        },
        join(home, 'customer'),
      );
      await finish(inMemory(customer, clockFrom(startsMs)), states, 8_000, false);
    },
  );
});
