import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { GENESIS_HASHES } from '../../src/solana/cluster-settings.ts';
import type { Intent, Offer } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** Money in the hands of the user: limits, dry runs, receipts held against the cluster, real money typed. */
const place = temporaryHome();
const passengers = join(place.home, 'p.json');
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
const run = (line: string, options: MemoryOptions = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), { ...options, environment: { ...environment, ...options.environment } });
const SEARCH = 'search LIS BER --depart +30d --no-wait --json';
const code = (ran: MemoryRun) => (ran.json().error as { code: string }).code;
const usdc = async () => Number((await run('wallet balance --json')).json().usdc_atomic);

async function newIntent(number: number): Promise<Intent> {
  const offers = ((await run(SEARCH)).json().offers as Offer[]).filter((one) => one.total_currency === 'USD');
  const made = await run(`intent ${offers[number]?.offer_id} --json`);
  expect(made.exitCode, made.stdout).toBe(0);
  return made.json() as unknown as Intent;
}

beforeAll(() => {
  writeFileSync(passengers, JSON.stringify([ANA]));
});
afterAll(() => place.close());

describe('a dry run', () => {
  test('of the first command of all makes no wallet, and signs nothing', async () => {
    const plan = await run(`${SEARCH} --dry-run`);
    expect(plan.exitCode, plan.stdout + plan.stderr).toBe(0);
    expect(plan.json()).toMatchObject({
      dry_run: true,
      request: { origin_iata: 'LIS' },
      payment: { amount: '0.10', resource: 'POST /air/search', wallet: null, decision: 'sign' },
    });
    expect((await run('payments list --json')).json().payments).toEqual([]);
    expect(plan.stderr).not.toMatch(/Made a wallet/);
  });

  test('on a terminal shows amount, payee, memo, network, fee payer and expiry', async () => {
    const plan = await run('search LIS BER --depart +30d --dry-run', { terminal: true, columns: 100 });
    for (const label of ['Amount', 'To', 'Coin', 'Network', 'Memo', 'Fee payer', 'Expires', 'Allowed']) {
      expect(plan.stdout).toMatch(new RegExp(`^ +${label} {2}`, 'm'));
    }
  });

  test('of every paid command shows its payment', async () => {
    const intent = await newIntent(0);
    const before = await usdc();
    const offer = intent.offer_id;
    const book = `book ${intent.intent_id} --passengers ${passengers}`;
    const planned = async (line: string) => {
      const ran = await run(`${line} --dry-run --json`);
      expect(ran.exitCode, `${line}\n${ran.stdout}`).toBe(0);
      return ran.json().payment;
    };
    expect(await planned(`offer ${offer}`)).toMatchObject({ amount: '0.01' });
    const other = ((await run(SEARCH)).json().offers as Offer[])[7]?.offer_id;
    expect(await planned(`intent ${other}`)).toMatchObject({ amount: '0.10', resource: 'POST /air/intents' });
    expect(await planned(book)).toMatchObject({
      pay_to: intent.escrow.address,
      amount_atomic: intent.escrow.amount,
      decision: 'refuse',
      reason: { code: 'payment_above_cap' },
    });
    expect(await planned(`${book} --yes`)).toMatchObject({ decision: 'sign' });
    expect(await usdc()).toBe(before - 100_000);
    expect((await run(`${book} --yes --json`)).json()).toMatchObject({ status: 'booked' });
    expect(await planned(`order ${intent.intent_id}`)).toMatchObject({ amount: '0.01' });
    expect(await planned(`refund ${intent.intent_id} --reason Changed`)).toMatchObject({ amount: '0.10' });
  });
});

describe('limits', () => {
  test('are set, shown and unset; a wrong one is a usage error', async () => {
    expect((await run('wallet limits set --per-call 0.50 --per-day 900 --booking 50')).exitCode).toBe(0);
    expect((await run('wallet limits --json')).json()).toMatchObject({
      per_call: '0.50',
      per_day: '900.00',
      booking: '50.00',
      hosts: null,
      signed_24h: expect.stringMatching(/^\d+\.\d\d$/),
      left_24h: expect.stringMatching(/^\d+\.\d\d$/),
    });
    expect((await run('wallet limits set --per-day much')).exitCode).toBe(2);
    expect((await run('wallet limits set')).exitCode).toBe(2);
    expect((await run('wallet limits set --per-call none --per-day none --booking none')).exitCode).toBe(0);
    expect((await run('wallet limits --json')).json()).toMatchObject({ per_call: '1.00', per_day: null });
  });

  test('of a call: --yes does not lift one that was set, --max-payment and a person do', async () => {
    await run('wallet limits set --per-call 0.05');
    const before = await usdc();
    expect(code(await run(SEARCH))).toBe('payment_above_cap');
    expect(code(await run(`${SEARCH} --yes`))).toBe('payment_above_cap');
    expect((await run(`${SEARCH} --yes --dry-run`)).json().payment).toMatchObject({ decision: 'refuse' });
    const declined = await run('search LIS BER --depart +30d --no-wait', { terminal: true, answers: [false] });
    expect(declined.exitCode).toBe(6);
    expect(await usdc()).toBe(before);
    expect((await run(`${SEARCH} --max-payment 0.10`)).exitCode).toBe(0);
    const agreed = await run('search LIS BER --depart +30d --no-wait', { terminal: true, answers: [true] });
    expect(agreed.exitCode).toBe(0);
    await run('wallet limits set --per-call none');
  });

  test('of a day: nothing lifts it, and it says how much is signed', async () => {
    await run('wallet limits set --per-day 0.01');
    for (const line of [SEARCH, `${SEARCH} --yes`, `${SEARCH} --max-payment 5`]) {
      const refused = await run(line);
      expect(refused.exitCode).toBe(6);
      expect(code(refused)).toBe('daily_limit_reached');
    }
    await run('wallet limits set --per-day none');
  });

  test('of a booking: the amount is typed to pass it, and --yes alone does not', async () => {
    const intent = await newIntent(3);
    const amount = (intent.escrow.amount / 1_000_000).toFixed(2);
    await run('wallet limits set --booking 20');
    const book = `book ${intent.intent_id} --passengers ${passengers}`;
    expect(code(await run(`${book} --yes --json`))).toBe('payment_above_cap');
    const before = await usdc();
    const typed = await run(book, { terminal: true, answers: ['yes', '20', amount] });
    expect(typed.exitCode, typed.stderr).toBe(0);
    expect(typed.asked[0]).toMatch(new RegExp(`Type ${amount} to pay it`));
    expect(before - (await usdc())).toBe(intent.escrow.amount);
    await run('wallet limits set --booking none');
  });
});

describe('receipts', () => {
  test('are listed, shown with memo and fee payer, and verified against the cluster', async () => {
    await run(SEARCH);
    const [newest] = (await run('payments list --json')).json().payments as { payment_id: string }[];
    const shown = (await run(`payments show ${newest?.payment_id} --json`)).json();
    expect(shown).toMatchObject({ state: 'answered', open: false, memo: expect.stringMatching(/./) });
    expect(shown.fee_payer).toMatch(/^\w{32,44}$/);
    const one = await run(`payments verify ${newest?.payment_id} --json`);
    expect(one.exitCode, one.stdout).toBe(0);
    expect(one.json().payments).toMatchObject([{ verdict: 'landed', memo: shown.memo }]);
    const all = await run('payments verify', { terminal: true });
    expect(all.exitCode, all.stderr).toBe(0);
    expect(all.stdout).not.toMatch(/not what was signed/);
    expect((await run('payments verify pay_none')).exitCode).toBe(3);
    expect((await run(`payments resume ${newest?.payment_id}`)).exitCode).toBe(2);
    expect((await run('payments resume pay_none')).exitCode).toBe(3);
  });

  test('history tells what moved the wallet, with what the journal knows', async () => {
    const { history } = (await run('payments list --chain --limit 500 --json')).json() as {
      history: { change: string; payment_id: string | null; resource: string | null }[];
    };
    expect(history[0]).toMatchObject({ change: '-0.10', resource: 'POST /air/search' });
    expect(history.at(-1)).toMatchObject({ change: '+10000.00', payment_id: null });
    const sum = history.reduce((total, one) => total + Math.round(Number(one.change) * 1e6), 0);
    expect(sum).toBe(await usdc());
    expect((await run('payments list --chain', { terminal: true })).stdout).toMatch(/search LIS → BER/);
  });
});

describe('real money', () => {
  const server = temporaryHome();
  const stop = new AbortController();
  let serving: Promise<MemoryRun>;
  let rpc: Server;
  let remote: Record<string, string>;

  /** The cluster of a served stack that calls itself mainnet: the first block is all that tells them apart. */
  beforeAll(async () => {
    const listening = await new Promise<{ flights_url: string; rpc_url: string }>((ready) => {
      serving = runInMemory(['serve', '--port', '0', '--json'], {
        environment: { FARELOCK_HOME: server.home, FARELOCK_TICKETING_MS: '20' },
        interrupted: stop.signal,
        onStdout: (text) => ready(JSON.parse(text)),
      });
    });
    rpc = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', async () => {
        const body = Buffer.concat(parts).toString();
        const { id, method } = JSON.parse(body) as { id: number; method: string };
        response.setHeader('content-type', 'application/json');
        if (method === 'getGenesisHash') {
          response.end(JSON.stringify({ jsonrpc: '2.0', id, result: GENESIS_HASHES.mainnet }));
          return;
        }
        const headers = { 'content-type': 'application/json' };
        response.end(await (await fetch(listening.rpc_url, { method: 'POST', headers, body })).text());
      });
    });
    await new Promise<void>((ready) => rpc.listen(0, '127.0.0.1', ready));
    remote = {
      FARELOCK_FLIGHTS_URL: listening.flights_url,
      FARELOCK_RPC_URL: `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`,
    };
  });
  afterAll(async () => {
    stop.abort(problem('interrupted'));
    await serving;
    rpc.close();
    server.close();
  });

  test('of a booking is typed, and --yes needs --max-payment', async () => {
    // Made on the same service as devnet; booked through a cluster that says it is mainnet.
    const devnet = { ...remote, FARELOCK_RPC_URL: `${remote.FARELOCK_FLIGHTS_URL}/rpc` };
    await run('wallet airdrop --sol 1 --usdc 5000', { environment: devnet });
    const found = await run(SEARCH, { environment: devnet });
    const offer = (found.json().offers as Offer[]).find((one) => one.total_currency === 'USD');
    const made = await run(`intent ${offer?.offer_id} --json`, { environment: devnet });
    const intent = made.json() as unknown as Intent;
    const book = `book ${intent.intent_id} --passengers ${passengers}`;
    const yes = await run(`${book} --yes --json`, { environment: remote });
    expect(code(yes)).toBe('input_required');
    const amount = (intent.escrow.amount / 1_000_000).toFixed(2);
    const typed = await run(book, { environment: remote, terminal: true, answers: ['y', amount] });
    expect(typed.asked).toEqual([`Type ${amount} to pay it`, `Type ${amount} to pay it`]);
    // The service asks on devnet: what is for another network is not signed.
    expect(typed.exitCode).toBe(6);
  });

  test('that was signed and not answered is resumed: charged once, and what it bought is shown', async () => {
    let isLosing = true;
    const flights = remote.FARELOCK_FLIGHTS_URL ?? '';
    const proxy = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', async () => {
        const headers = Object.fromEntries(
          ['content-type', 'payment-signature'].flatMap((name) => {
            const value = request.headers[name];
            return typeof value === 'string' ? [[name, value] as const] : [];
          }),
        );
        const body = request.method === 'POST' ? { body: Buffer.concat(parts) } : {};
        const method = request.method ?? 'GET';
        const answer = await fetch(`${flights}${request.url}`, { method, headers, ...body });
        const text = await answer.text();
        // The service has done its work, and nobody hears of it.
        if (isLosing && headers['payment-signature']) return request.socket.destroy();
        const told = ['payment-required', 'payment-response', 'retry-after'].flatMap((name) => {
          const value = answer.headers.get(name);
          return value === null ? [] : [[name, value] as const];
        });
        response.writeHead(answer.status, { 'content-type': 'application/json', ...Object.fromEntries(told) });
        response.end(text);
      });
    });
    await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const devnet = { FARELOCK_FLIGHTS_URL: address, FARELOCK_RPC_URL: `${flights}/rpc` };
    const held = async () => Number((await run('wallet balance --json', { environment: devnet })).json().usdc_atomic);
    const before = await held();
    const lost = await run(SEARCH, { environment: devnet });
    expect(lost.exitCode).toBe(7);
    const [open] = (await run('payments list --json', { environment: devnet })).json().payments as {
      payment_id: string;
    }[];
    expect(open).toMatchObject({ state: 'sent', open: true });
    const id = open?.payment_id ?? '';
    const found = await run(`payments verify ${id} --json`, { environment: devnet });
    expect(found.json().payments).toMatchObject([{ verdict: 'landed' }]);
    isLosing = false;
    expect((await run(`payments resume ${id}`, { environment: remote })).exitCode).toBe(2);
    const resumed = await run(`payments resume ${id}`, { environment: devnet, terminal: true, columns: 100 });
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    expect(resumed.stdout).toMatch(/^LIS → BER[\s\S]*✓ Paid 0\.10 USDC for POST \/air\/search/);
    expect((await run('offer 1 --dry-run', { environment: devnet, terminal: true })).exitCode).toBe(0);
    expect(before - (await held())).toBe(100_000);
    proxy.close();
  });

  test('is not spent by a profile that a project file has chosen', async () => {
    const folder = temporaryHome();
    writeFileSync(
      join(place.home, 'config.json'),
      JSON.stringify({
        profiles: { real: { flights_url: remote.FARELOCK_FLIGHTS_URL, rpc_url: remote.FARELOCK_RPC_URL } },
      }),
      { mode: 0o600 },
    );
    writeFileSync(join(folder.home, '.farelock.json'), JSON.stringify({ profile: 'real' }));
    const ran = await run(SEARCH, { folder: folder.home });
    expect(ran.exitCode).toBe(6);
    expect((ran.json().error as { message: string }).message).toMatch(/a project file has chosen it/);
    folder.close();
  });
});
