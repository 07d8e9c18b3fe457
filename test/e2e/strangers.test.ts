import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CreatedIntent, Intent, Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { proofTest } from '../proof-only.ts';
import { BIN, farelockIn, PASSENGER, type Ran, type Runner, type Served, serveIn } from './farelock.ts';

/** The tool, the built service, and somebody between them who lies, loses and refuses. */

interface Said {
  readonly status: number;
  readonly body: unknown;
}

let server: Runner;
let served: Served;
let between: Server;
let victim: Runner;
let thief: Runner;
/** Instead of the service's answer; null: as it is. */
let says: (call: { method: string; path: string; isPaid: boolean }, answer: Said) => Said | null = () => null;

beforeAll(async () => {
  server = farelockIn();
  served = await serveIn(server);
  between = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const method = incoming.method ?? 'GET';
    const answer = await fetch(`${served.flightsUrl}${incoming.url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    const call = { method, path: incoming.url ?? '', isPaid: incoming.headers['payment-signature'] !== undefined };
    const instead = isJson ? says(call, { status: answer.status, body: JSON.parse(text) as unknown }) : null;
    if (instead !== null) {
      outgoing.writeHead(instead.status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(instead.body));
      return;
    }
    const kept = [...answer.headers].filter(([name]) => !/^(content|transfer)-(encoding|length)$/.test(name));
    outgoing.writeHead(answer.status, Object.fromEntries(kept)).end(text);
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  const { port } = between.address() as AddressInfo;
  const traveller = async (flightsUrl: string) => {
    const runner = inMemory(farelockIn({ FARELOCK_FLIGHTS_URL: flightsUrl, FARELOCK_RPC_URL: served.rpcUrl }));
    await runner.run(['wallet', 'new']);
    expect((await runner.run(['wallet', 'airdrop', '--sol', '1', '--usdc', '5000'])).exitCode).toBe(0);
    writeFileSync(join(runner.home, 'passengers.json'), JSON.stringify([PASSENGER]), { mode: 0o600 });
    return runner;
  };
  victim = await traveller(`http://127.0.0.1:${port}`);
  thief = await traveller(served.flightsUrl);
}, 120_000);
afterAll(async () => {
  between?.closeAllConnections();
  between?.close();
  await served?.stop();
  for (const runner of [server, victim, thief]) runner?.close();
});
beforeEach(() => {
  says = () => null;
});

const addressOf = async (runner: Runner) =>
  (await runner.run(['wallet', 'show', '--json'])).json<{ address: string }>().address;
const payments = async () =>
  (await victim.run(['payments', 'list', '--json'])).json<{ payments: { payment_id: string; open: boolean }[] }>()
    .payments;
const codeOf = (ran: Ran) => ran.json<{ error: { code: string } }>().error.code;

/** A new home of the same wallet. */
function another({ env, home }: Runner): Runner {
  const runner = farelockIn({ ...env, FARELOCK_KEYPAIR: join(home, 'wallet.json') });
  runner.env.FARELOCK_HOME = runner.home;
  return inMemory(runner);
}

async function offers(runner: Runner): Promise<Offer[]> {
  const ran = await runner.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait']);
  expect(ran.exitCode, ran.stdout).toBe(0);
  return ran.json<{ offers: Offer[] }>().offers.filter((one) => one.total_currency === 'USD');
}

test("no money goes into a stranger's intent: it is never offered as one's own, and paid only when its wallet is named", async () => {
  const [offer] = await offers(thief);
  const created = (await thief.run(['intent', 'create', offer?.offer_id ?? '', '--json'])).json<CreatedIntent>();
  const [mine, theirs] = [await addressOf(victim), await addressOf(thief)];
  // A service that lies all the same: the intent is for the victim's wallet, and refunds the thief, also on chain.
  says = ({ method, path, isPaid }, { status, body }) => {
    if (method === 'POST' && path === '/air/intents' && !isPaid) {
      const detail = { intent_id: created.intent_id };
      return { status: 409, body: { code: 'intent_already_exists', message: 'There is one.', detail } };
    }
    if (method === 'GET' && path.startsWith('/air/intents/')) {
      return { status, body: { ...(body as Intent), funding_wallet: mine } };
    }
    return null;
  };
  const before = (await payments()).length;
  const again = await victim.run(['intent', 'create', offer?.offer_id ?? '']);
  expect(again.exitCode).toBe(5);
  expect(again.stderr).toMatch(/but not from here[\s\S]*Do not\s+pay that one/);
  expect(again.stderr).not.toMatch(/Book that one|farelock (book|intent show)/);

  for (const look of [['intent', 'show'], ['status']]) {
    const shown = await victim.run([...look, created.intent_id]);
    expect(shown.exitCode).toBe(0);
    expect(shown.stderr).toContain(`refunds go to ${theirs}`);
    expect(shown.stderr).not.toContain('farelock book');
  }
  const verified = await victim.run(['intent', 'verify', created.intent_id, '--json']);
  expect(verified.exitCode).toBe(6);
  expect(verified.json<{ error: { detail: { failed: string[] } } }>().error.detail.failed).toEqual(['refund_owner']);

  const booking = ['book', created.intent_id, '--passengers', join(victim.home, 'passengers.json'), '--yes', '--json'];
  const refused = await victim.run(booking);
  expect([refused.exitCode, codeOf(refused)]).toEqual([6, 'terms_not_agreed']);
  const another = await victim.run([...booking, '--refund-wallet', mine]);
  expect([another.exitCode, codeOf(another)]).toEqual([6, 'terms_not_agreed']);
  const planned = await victim.run([...booking, '--dry-run']);
  expect(codeOf(planned)).toBe('terms_not_agreed');
  expect(await payments()).toHaveLength(before);

  const named = await victim.run([...booking, '--refund-wallet', theirs, '--no-wait']);
  expect(named.exitCode, named.stdout).toBe(0);
  expect(await payments()).toHaveLength(before + 1);
}, 120_000);

test('an intent with a refund wallet of its own choice is booked by the home that made it, and not by another', async () => {
  const theirs = await addressOf(thief);
  const [, offer] = await offers(victim);
  const create = ['intent', 'create', offer?.offer_id ?? '', '--refund-wallet', theirs, '--json'];
  const { intent_id: id } = (await victim.run(create)).json<CreatedIntent>();
  expect((await victim.run(['intent', 'verify', id, '--json'])).exitCode).toBe(0);
  const passengers = join(victim.home, 'passengers.json');
  const elsewhere = another(victim);
  const refused = await elsewhere.run(['book', id, '--passengers', passengers, '--yes', '--json']);
  expect(codeOf(refused)).toBe('terms_not_agreed');
  elsewhere.close();
  const booked = await victim.run(['book', id, '--passengers', passengers, '--yes', '--json', '--no-wait']);
  expect(booked.exitCode, booked.stdout).toBe(0);
}, 120_000);

test('a home that lost its journal books what refunds its own wallet', async () => {
  const [, , offer] = await offers(victim);
  const { intent_id: id } = (
    await victim.run(['intent', 'create', offer?.offer_id ?? '', '--json'])
  ).json<CreatedIntent>();
  const fresh = another(victim);
  const passengers = join(victim.home, 'passengers.json');
  const booked = await fresh.run(['book', id, '--passengers', passengers, '--yes', '--json', '--no-wait']);
  expect(booked.exitCode, booked.stdout).toBe(0);
  expect(booked.stderr).toMatch(/not created on this machine/);
  fresh.close();
}, 120_000);

test("a gateway's refusal ends no payment: payments resume brings the intent with its support code, charged once", async () => {
  const [, , , offer] = await offers(victim);
  const before = (await payments()).length;
  says = ({ path, isPaid }) =>
    isPaid && path === '/air/intents' ? { status: 403, body: { message: 'Forbidden' } } : null;
  const create = ['intent', 'create', offer?.offer_id ?? ''];
  for (let run = 0; run < 2; run++) {
    const ran = await victim.run(create);
    expect(ran.exitCode).toBe(7);
    expect(ran.stderr).toMatch(/payments resume pay_/);
  }
  const [open] = await payments();
  expect(open?.open).toBe(true);
  expect(await payments()).toHaveLength(before + 1);
  says = () => null;
  const resumed = await victim.run(['payments', 'resume', open?.payment_id ?? '']);
  expect(resumed.exitCode, resumed.stderr).toBe(0);
  const [code] = /FLK-[0-9A-Z-]+/.exec(resumed.stdout) ?? [];
  expect(code).toBeDefined();
  const [, id = ''] = /farelock book (\S+)/.exec(resumed.stderr) ?? [];
  const listed = (await victim.run(['intent', 'list', '--json'])).json<{
    intents: { intent_id: string; amount: string }[];
  }>();
  expect(listed.intents[0]).toMatchObject({ intent_id: id, amount: expect.stringMatching(/\d/) });
  expect(await payments()).toHaveLength(before + 1);
}, 120_000);

proofTest(
  'a search that is killed before its answer was shown is shown by the next run, and not paid again',
  async () => {
    const search = ['search', 'LIS', 'OPO', '--depart', '+40d', '--json', '--no-wait', '--all-fares', '--limit', '500'];
    const before = (await payments()).length;
    const pipe = join(victim.home, 'slow');
    await execa('mkfifo', [pipe]);
    // A reader that reads nothing, and a pipe that is full already.
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(pipe, constants.O_WRONLY);
    const filled = spawn('head', ['-c', '65536', '/dev/zero'], { stdio: ['ignore', writer, 'ignore'] });
    await new Promise((resolve) => filled.once('exit', resolve));
    const child = spawn(process.execPath, [BIN, ...search], {
      env: { ...process.env, ...victim.env },
      stdio: ['ignore', writer, 'ignore'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    for (let wait = 0; wait < 100; wait++) {
      const all = await payments();
      if (all.length > before && all[0]?.open === false) break;
    }
    child.kill('SIGKILL');
    await ended;
    for (const file of [reader, writer]) closeSync(file);
    const shown = await victim.run(search);
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.json<{ offers: Offer[] }>().offers.length).toBeGreaterThan(0);
    expect(shown.stderr).toMatch(/nothing more was charged/);
    expect(await payments()).toHaveLength(before + 1);
    // Asked for again on purpose it is a search of its own.
    await victim.run(search);
    expect(await payments()).toHaveLength(before + 2);
  },
  120_000,
);

test('a paid result is one document, whatever becomes of the numbers of the list', async () => {
  const runner = inMemory(farelockIn());
  mkdirSync(join(runner.home, 'recent-offers.json', 'in-the-way'), { recursive: true });
  const ran = await runner.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait']);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(ran.json<{ offers: Offer[] }>().offers.length).toBeGreaterThan(0);
  expect(ran.stderr).toMatch(/recent-offers\.json could not be (read|written)/);
  runner.close();
});

test('a key that was pasted where its path belongs is shown nowhere', async () => {
  const runner = inMemory(farelockIn());
  const array = JSON.stringify(Array.from({ length: 64 }, (_none, index) => (index * 7) % 251));
  const base58 = '4QfVZp'.padEnd(88, 'x');
  for (const key of [array, ` ${array}`, array.slice(1, -1), base58, 'ab'.repeat(64)]) {
    for (const args of [
      ['wallet', 'show'],
      ['doctor'],
      ['config', 'list', '--show-origin'],
      ['search', 'LIS', 'BER', '--depart', '+30d', '--json'],
    ]) {
      const ran = await runner.run(args, { env: { FARELOCK_KEYPAIR: key } });
      expect(ran.exitCode, args.join(' ')).not.toBe(0);
      expect(ran.stdout + ran.stderr).not.toContain(key.trim().slice(0, 20));
    }
  }
  const flag = await runner.run(['wallet', 'show', '--keypair', array]);
  expect(flag.exitCode).toBe(4);
  expect(flag.stderr).not.toContain('14,21');
  runner.close();
}, 120_000);
