import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { sql } from 'kysely';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { signPayment } from '../../src/client/payer/transaction.ts';
import { readEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { addRingKey } from '../../src/kernel/secrets.ts';
import { openStore } from '../../src/service/home.ts';
import { openService } from '../../src/service/index.ts';
import { ROTATION_STEP, serviceMigrations } from '../../src/service/migrations.ts';
import { createKeypairFile } from '../../src/solana/keypair.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { migrate } from '../../src/store/base/index.ts';
import type { BookResponse, CreatedIntent, Intent, Offer } from '../../src/wire/flights/index.ts';
import { runInMemory } from '../cli/memory.ts';
import { PASSENGER, runningClock, TRIP } from '../flights/world.ts';
import { proofDescribe } from '../proof-only.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';
import { webService } from '../web.ts';
import { migratedStore } from './migrated.ts';

/** Keys of a service that rotate: processes that began before a step and after it share a database and a home. */

interface Key {
  readonly name: string;
  readonly state: string;
  readonly file: string;
}
interface Shown {
  readonly keys: readonly Key[];
  readonly older: {
    readonly open_escrows: number;
    readonly unclosed_escrows: number;
    readonly may_retire: boolean;
  } | null;
  readonly next: string | null;
}
interface Challenge {
  readonly resource: unknown;
  readonly accepts: { amount: string; payTo: Address; asset: Address; extra: { feePayer: Address; memo: string } }[];
}
interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

const DAY_MS = 86_400_000;
let payers = 0;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A home, its processes, its operator's commands, and a traveller. */
async function openCompany(databaseUrl?: string) {
  const home = mkdtempSync(join(tmpdir(), 'farelock-rotation-'));
  closing.push(() => rmSync(home, { recursive: true, force: true }));
  const clock = runningClock();
  const traveller = signerFromSeed(new Uint8Array(32).fill(++payers));

  /** A process of the service. */
  async function start() {
    const service = webService(await openService({ home, clock, databaseUrl, ticketingMs: 0, lowcostMs: 0 }));
    const { cluster } = service;
    closing.push(() => service.close().catch(() => undefined));
    const post = async <T>(path: string, body: object | undefined, headers: Record<string, string> = {}) => {
      const method = body === undefined ? 'GET' : 'POST';
      const sent = body && JSON.stringify(body);
      const given = {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(sent && { body: sent }),
      };
      const response = await service.fetch(new Request(`http://flights.test${path}`, given));
      return { status: response.status, body: (await response.json()) as T };
    };
    /** Signs what a process asks for. */
    async function signed(challenge: Challenge, payer: Signer = traveller): Promise<Record<string, string>> {
      const [accepted] = challenge.accepts;
      if (!accepted) throw new Error('nothing to accept');
      const order = {
        ...accepted.extra,
        payTo: accepted.payTo,
        asset: accepted.asset,
        amount: BigInt(accepted.amount),
      };
      const transaction = await signPayment(payer, order, await cluster.latestBlockhash());
      const payload = { x402Version: 2, resource: challenge.resource, accepted, payload: { transaction } };
      return { 'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64') };
    }
    async function paid<T>(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer<T>> {
      const asked = await post<Challenge>(path, body, headers);
      if (asked.status !== 402) return asked as unknown as Answer<T>;
      return post<T>(path, body, { ...headers, ...(await signed(asked.body)) });
    }
    return {
      ...{ service, cluster, post, signed, paid },
      close: () => service.close(),
      async lock(place = 0): Promise<CreatedIntent> {
        const { body } = await paid<{ offers: Offer[] }>('/air/search', TRIP);
        const refundable = body.offers.filter(
          ({ total_currency, conditions }) =>
            total_currency === 'USD' &&
            conditions?.refund_allowed === true &&
            conditions.refund_penalty_currency === 'USD',
        );
        const made = await paid<CreatedIntent>('/air/intents', { offer_id: refundable[place]?.offer_id });
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        return made.body;
      },
      async book({ intent_id }: Pick<Intent, 'intent_id'>): Promise<void> {
        const booked = await paid<BookResponse>('/air/book', { intent_id, passengers: [PASSENGER] });
        expect(booked.status, JSON.stringify(booked.body)).toBe(200);
      },
      show: async ({ intent_id }: Pick<Intent, 'intent_id'>) =>
        (await post<Intent>(`/air/intents/${intent_id}`, undefined)).body,
      authorityOf: async ({ escrow }: Pick<Intent, 'escrow'>) =>
        (await readEscrow(cluster, escrow.address as Address, [ESCROW_PROGRAM_ID]))?.authority,
      usdc: async (owner: Signer = traveller) =>
        (await cluster.tokenBalance(await associatedTokenAddress(owner.address, cluster.usdcMint))) ?? 0n,
      /** Takes every step that is due, or is within a minute. */
      async work(): Promise<void> {
        for (let round = 0; round < 40; round++) {
          const { nextDueAtMs } = await service.worker.runDue();
          if (nextDueAtMs === null) return;
          clock.advance(Math.max(0, nextDueAtMs - clock.now()) + 1);
        }
      },
    };
  }

  const environment = { FARELOCK_HOME: home, ...(databaseUrl !== undefined && { FARELOCK_DATABASE_URL: databaseUrl }) };
  const run = (line: string) => runInMemory([...line.split(' '), '--json'], { clock, environment });
  async function rotate(line: string): Promise<Shown> {
    const ran = await run(`cluster rotate ${line}`);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    return ran.json() as unknown as Shown;
  }
  async function refused(line: string): Promise<{ code: string; message: string }> {
    const ran = await run(line);
    expect(ran.exitCode, ran.stdout).not.toBe(0);
    return ran.json().error as { code: string; message: string };
  }
  async function first() {
    const process = await start();
    await process.service.faucet?.airdropSol(traveller.address, 1_000_000_000n);
    await process.service.faucet?.airdropUsdc(traveller.address, 20_000_000_000n);
    return process;
  }
  return { home, clock, start, first, run, rotate, refused, keys: join(home, 'keys'), databaseUrl };
}

type Company = Awaited<ReturnType<typeof openCompany>>;
type Process = Awaited<ReturnType<Company['start']>>;

/** A question to the database of a company. */
async function rows<T>({ home, databaseUrl }: Company, query: ReturnType<typeof sql<T>>): Promise<readonly T[]> {
  const store = await openStore(databaseUrl ?? join(home, 'service.db'));
  return query
    .execute(store)
    .then(({ rows }) => rows)
    .finally(() => store.destroy());
}

const named = ({ keys }: Shown, state: string): string => keys.find((key) => key.state === state)?.name ?? '';

async function requestRefund(process: Process, { intent_id, customer_support_code }: CreatedIntent): Promise<void> {
  const asked = await process.paid(
    '/air/refund-requests',
    { intent_id, reason: 'The meeting was called off.' },
    { 'X-Customer-Support-Code': customer_support_code, 'X-Passenger-Family-Name': PASSENGER.family_name },
  );
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
}

/** Journeys across a switch of the authority, with a process that began before it and one that began after. */
async function acrossTheSwitch(company: Company): Promise<void> {
  const { start, rotate } = company;
  const before = await company.first();
  const [locked, refunded] = [await before.lock(0), await before.lock(1)];
  await before.book(refunded);
  await before.work();
  await requestRefund(before, refunded);

  const begun = await rotate('authority begin');
  const [first, next] = [named(begun, 'current'), named(begun, 'next')];
  expect(begun).toMatchObject({ next: 'switch', older: null });
  expect(existsSync(join(company.keys, `authority-${next}.json`))).toBe(true);
  const switched = await rotate('authority switch');
  expect([named(switched, 'old'), named(switched, 'current')]).toEqual([first, next]);
  expect(switched.older).toMatchObject({ open_escrows: 1, may_retire: false });

  const after = await start();
  const [second, third] = [await after.lock(2), await before.lock(3)];
  expect(await Promise.all([locked, second, third].map(after.authorityOf))).toEqual([first, next, first]);
  // Each by the process that began on the other side of the switch.
  await after.book(locked);
  await after.work();
  await before.book(second);
  await before.work();
  for (const intent of [locked, second]) {
    expect((await after.show(intent)).status).toBe('booked');
    expect((await before.show(intent)).status).toBe('booked');
  }

  const key = readFileSync(await after.service.operatorKeyFile(), 'utf8').trim();
  const held = await after.usdc();
  const path = `/operator/refund-requests/${refunded.intent_id}/approve`;
  const headers = { Authorization: `Bearer ${key}` };
  const plan = await after.post<{ payout_amount: number }>(path, { dry_run: true }, headers);
  const { payout_amount } = plan.body;
  const approve = (process: Process) => process.post(path, { expected_payout_amount: payout_amount }, headers);
  await Promise.all([approve(after), approve(before)]);
  await Promise.all([after.work(), before.work()]);
  expect((await after.show(refunded)).status).toBe('refunded');
  expect((await after.usdc()) - held).toBe(BigInt(payout_amount));
  expect(
    await rows(company, sql<{ n: number }>`select count(*) as n from bookings where state = 'stuck'`),
  ).toMatchObject([{ n: expect.toSatisfy((n) => Number(n) === 0) }]);
}

test('what was locked under one authority is captured after the switch, and paid back once', async () => {
  await acrossTheSwitch(await openCompany());
}, 60_000);

proofDescribe.skipIf(!postgresIsInstalled)('on PostgreSQL', () => {
  let databases: Awaited<ReturnType<typeof newDatabases>>;
  beforeAll(async () => {
    databases = await newDatabases(migratedStore);
  });
  test('what was locked under one authority is captured after the switch, and paid back once', async () => {
    await acrossTheSwitch(await openCompany(await databases.next()));
  }, 60_000);
});

test('a process without a key leaves its escrows to others, says so once, and is refused when it starts', async () => {
  const company = await openCompany();
  const { start, rotate, keys } = company;
  const before = await company.first();
  const next = named(await rotate('authority begin'), 'next');
  await rotate('authority switch');
  const after = await start();
  const made = await after.lock();
  await after.book(made);
  // Gone for this process alone: it never held it.
  const [file, aside] = [join(keys, `authority-${next}.json`), join(keys, 'aside')];
  renameSync(file, aside);
  for (let round = 0; round < 30; round++) {
    await before.service.worker.runDue();
    company.clock.advance(61_000);
  }
  const [booking] = await rows(
    company,
    sql<{ state: string; last_error: string }>`select state, last_error from bookings`,
  );
  expect(booking).toMatchObject({ state: 'capturing', last_error: 'operator_key_unusable' });
  const pages = await rows(
    company,
    sql<{ body: string }>`select * from outbox where dedup_key like 'page:operator_key_unusable%'`,
  );
  expect(pages).toHaveLength(1);
  await expect(start()).rejects.toMatchObject({
    code: 'operator_key_unusable',
    message: expect.stringContaining(`keys/authority-${next}.json is missing here`),
  });
  const checks = (await company.run('doctor')).json().checks as { id: string; message: string; status: string }[];
  expect(checks.find(({ id }) => id === 'keys')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining(next),
  });
  renameSync(aside, file);
  await after.work();
  expect((await after.show(made)).status).toBe('booked');
}, 60_000);

test('a step may be repeated, by two at once, and after a kill between a file and its row', async () => {
  const company = await openCompany();
  await (await company.first()).lock();
  const { run, rotate, refused, keys } = company;
  expect(await refused('cluster rotate authority switch')).toMatchObject({ code: 'usage' });
  const left = createKeypairFile((address) => join(keys, `authority-${address}.json`));
  await Promise.all(['authority begin', 'authority begin'].map((line) => run(`cluster rotate ${line}`)));
  const begun = await rotate('authority begin');
  expect(begun.keys.map(({ name, state }) => [name === left.address, state])).toEqual([
    [false, 'current'],
    [true, 'next'],
  ]);
  const [file, aside] = [join(keys, `authority-${left.address}.json`), join(keys, 'aside')];
  renameSync(file, aside);
  const refusal = {
    code: 'operator_key_unusable',
    message: expect.stringContaining(`keys/authority-${left.address}.json`),
  };
  await expect(company.start()).rejects.toMatchObject(refusal);
  expect(await refused('cluster rotate authority switch')).toMatchObject(refusal);
  renameSync(aside, file);
  await Promise.all(['authority switch', 'authority switch'].map((line) => run(`cluster rotate ${line}`)));
  const switched = await rotate('authority switch');
  expect(switched.keys.map(({ state }) => state)).toEqual(['old', 'current']);
  expect(await rotate('authority')).toEqual(switched);
  expect(await refused('cluster rotate authority begin')).toMatchObject({ code: 'operator_key_in_use' });
  expect(await refused('cluster rotate authority retire')).toMatchObject({ code: 'operator_key_in_use' });
  expect(readdirSync(keys).filter((name) => name.startsWith('authority'))).toHaveLength(2);
});

test('a version that knows one authority works beside this one until the switch, and stops then', async () => {
  const company = await openCompany();
  await (await company.first()).lock();
  const store = await openStore(join(company.home, 'service.db'));
  closing.push(() => store.destroy());
  const older = serviceMigrations.filter(({ name }) => name !== ROTATION_STEP);
  const opens = () =>
    migrate(store, {
      migrations: older,
      hasTable: (table) => `select count(*) as n from sqlite_master where name = '${table}'`,
      name: 'it',
    });
  await company.rotate('authority begin');
  await opens();
  await company.rotate('authority switch');
  await expect(opens()).rejects.toMatchObject({ code: 'database_newer', detail: { steps: [ROTATION_STEP] } });
});

test('an authority retires once nothing is under it; a process that still uses it opens nothing more', async () => {
  const company = await openCompany();
  const { rotate, refused, clock, keys } = company;
  const before = await company.first();
  const made = await before.lock();
  await before.book(made);
  await before.work();
  await rotate('authority begin');
  await rotate('authority switch');
  clock.advance(11 * 60_000);
  const waits = await refused('cluster rotate authority retire');
  expect(waits).toMatchObject({
    code: 'operator_key_in_use',
    message: expect.stringContaining('1 ended escrow to close'),
  });
  clock.advance(31 * DAY_MS);
  const after = await company.start();
  await after.work();
  await after.service.worker.runDue();
  clock.advance(11 * 60_000);
  expect(await rotate('authority')).toMatchObject({
    older: { open_escrows: 0, unclosed_escrows: 0, may_retire: true },
  });
  const retired = await rotate('authority retire');
  expect(retired.keys.map(({ state }) => state)).toEqual(['retired', 'current']);
  expect(await rotate('authority retire')).toEqual(retired);

  const held = await before.usdc();
  const { body } = await before.paid<{ offers: Offer[] }>('/air/search', { ...TRIP, depart_date: '2027-03-01' });
  const offer = body.offers.find(({ total_currency }) => total_currency === 'USD');
  const spent = held - (await before.usdc());
  const none = await before.paid<{ code: string }>('/air/intents', { offer_id: offer?.offer_id });
  expect(none).toMatchObject({ status: 503, body: { code: 'operator_key_unusable' } });
  expect(held - (await before.usdc())).toBe(spent);

  rmSync(join(keys, 'authority.json'));
  const last = await company.start();
  expect((await last.show(made)).status).toBe('booked');
  expect(existsSync(join(keys, 'authority.json'))).toBe(false);
  const wallets = (await company.run('cluster keys')).json().wallets as {
    role: string;
    state: string;
    is_enough: boolean;
  }[];
  expect(wallets.map(({ role, state }) => `${role} ${state}`)).toEqual([
    'authority retired',
    'authority current',
    'facilitator current',
    'treasury current',
  ]);
  const checks = (await company.run('doctor')).json().checks as { id: string; message: string; status: string }[];
  expect(checks.find(({ id }) => id === 'keys')).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('retired'),
  });
}, 60_000);

test('a database that was put back to before a rotation is noticed by acts of the key that it forgot', async () => {
  const company = await openCompany();
  const { home, rotate, refused, clock } = company;
  const before = await company.first();
  const known = await before.lock(0);
  await before.close();
  const [file, kept] = [join(home, 'service.db'), join(home, 'kept')];
  await rows(company, sql`vacuum into ${kept}`);
  const next = named(await rotate('authority begin'), 'next');
  await rotate('authority switch');
  const after = await company.start();
  await after.book(known);
  const unknown = await after.lock(1);
  await after.work();
  expect(await after.authorityOf(unknown)).toBe(next);
  await after.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  renameSync(kept, file);

  const restored = await company.start();
  clock.advance(11 * 60_000);
  await restored.service.worker.runDue();
  const asked = await restored.paid<{ code: string }>('/air/book', {
    intent_id: known.intent_id,
    passengers: [PASSENGER],
  });
  expect(asked).toMatchObject({ status: 503, body: { code: 'database_behind' } });
  // The file is found again, and nothing is switched before the rest is.
  expect(named(await rotate('authority begin'), 'next')).toBe(next);
  expect(await refused('cluster rotate authority switch')).toMatchObject({ code: 'database_behind' });
  const { findings } = await restored.service.reconcile({ isDryRun: false });
  const found = (subject: string) => findings.find((one) => one.subject === subject)?.kind;
  expect(found(known.intent_id)).toBe('captured');
  // The unpaid one under the forgotten key is closed by it.
  expect(found(unknown.escrow.address)).toBe('escrow_unknown');
  expect(await restored.authorityOf(unknown)).toBeUndefined();
  expect((await restored.show(known)).status).toBe('booked');
  await rotate('authority switch');
}, 60_000);

test('a payment of a challenge from before the switch of the facilitator settles after it, in either process', async () => {
  const company = await openCompany();
  const { rotate } = company;
  const before = await company.first();
  const old = await before.post<Challenge>('/air/search', TRIP);
  const begun = await rotate('facilitator begin');
  await rotate('facilitator switch');
  const after = await company.start();
  const fresh = await after.post<Challenge>('/air/search', TRIP);
  const payerOf = ({ body }: Answer<Challenge>) => body.accepts[0]?.extra.feePayer;
  expect([old, fresh].map(payerOf)).toEqual([named(begun, 'current'), named(begun, 'next')]);
  expect((await after.post('/air/search', TRIP, await after.signed(old.body))).status).toBe(200);
  expect((await before.post('/air/search', TRIP, await after.signed(fresh.body))).status).toBe(200);

  // The process from before still gives out challenges of the older one.
  company.clock.advance(11 * 60_000);
  await before.paid('/air/search', TRIP);
  expect(await company.refused('cluster rotate facilitator retire')).toMatchObject({
    code: 'operator_key_in_use',
    message: expect.stringContaining('restart the process that uses it'),
  });
  company.clock.advance(11 * 60_000);
  await rotate('facilitator retire');
  const last = await company.start();
  const late = await before.post<Challenge>('/air/search', TRIP);
  const refusal = await last.post<{ error: string }>('/air/search', TRIP, await last.signed(late.body));
  expect(refusal).toMatchObject({
    status: 402,
    body: { error: expect.stringContaining('the fee payer is not the one') },
  });
}, 60_000);

test('the ring seals with its next key once it is switched, and every process reads both', async () => {
  const company = await openCompany();
  const { rotate, keys } = company;
  const ring = () => readFileSync(join(keys, 'service.json'), 'utf8');
  const before = await company.first();
  const [kept, first, second] = [ring(), await before.lock(0), await before.lock(1)];
  await before.book(first);
  const left = addRingKey(join(keys, 'service.json'));
  const begun = await rotate('service begin');
  // What a killed run left behind.
  expect(named(begun, 'next')).toBe(left);
  const next = named(begun, 'next');
  const waiting = await company.start();
  await waiting.book(second);
  const sealed = async ({ intent_id }: CreatedIntent) => {
    const query = sql<{
      sealed: string;
    }>`select passengers_sealed as sealed from bookings where intent_id = ${intent_id}`;
    return (await rows(company, query))[0]?.sealed.split('.')[1];
  };
  expect([await sealed(first), await sealed(second)]).toEqual(Array(2).fill(named(begun, 'current')));
  await rotate('service switch');
  const after = await company.start();
  const third = await after.lock(2);
  await after.book(third);
  expect(await sealed(third)).toBe(next);
  // Reads the passengers of the third, although it began before there was such a key.
  await before.work();
  for (const intent of [first, second, third]) expect((await after.show(intent)).status).toBe('booked');
  const code = { 'X-Customer-Support-Code': first.customer_support_code };
  expect((await after.post<Intent>(`/air/intents/${first.intent_id}`, undefined, code)).body.booking_reference).toMatch(
    /^\w{6}$/,
  );
  expect(ring()).toBe(kept);
  expect(await company.refused('cluster rotate service retire')).toMatchObject({ code: 'usage' });
}, 60_000);
