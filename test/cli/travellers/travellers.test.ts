import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Intent, Offer } from '../../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from '../memory.ts';

/** Saved travellers, and booking for them, in memory against the embedded service. */
const BO = { ...ANA, given_name: 'Bo', title: 'mr', gender: 'm', email: 'bo@example.com' };
const PASSPORT = { nationality: 'PT', passport_number: 'CA123456', passport_expiry: '2034-05-06' };

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
const run = (line: string, options: MemoryOptions = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), { ...options, environment: { ...environment, ...options.environment } });
const errorOf = (ran: MemoryRun) =>
  ran.json().error as { code: string; next: string[]; detail?: { issues: { path: string }[] } };

async function foundOffers(adults: number, isLowcost: boolean): Promise<string[]> {
  const found = await run(`search LIS BER --depart +30d --adults ${adults} --wait --limit 100 --json`);
  return (found.json().offers as Offer[]).flatMap((offer) =>
    [offer.offer_id, ...(offer.fare_options ?? []).map((fare) => fare.offer_id)].filter(
      (id) => id.startsWith('lowcost:') === isLowcost,
    ),
  );
}

async function lock(id: string | undefined): Promise<string> {
  expect(id).toBeDefined();
  const made = await runInMemory(['intent', String(id), '--json'], { environment });
  expect(made.exitCode, made.stdout).toBe(0);
  return (made.json() as unknown as Intent).intent_id;
}

const newIntent = async (adults: number, number: number): Promise<string> =>
  lock((await foundOffers(adults, false))[number]);

/** A fare of a low-cost carrier is chosen from its menu. */
async function lowcostIntent(): Promise<string> {
  const [flight] = await foundOffers(1, true);
  const shown = (await run(`offer ${flight} --json`)).json();
  return lock((shown.fare_menu as { fares: { offer_id: string }[] }).fares[0]?.offer_id);
}

beforeAll(async () => {
  await run('wallet show');
});
afterAll(() => place.close());

test('a traveller is saved from standard input, and listed without anything personal', async () => {
  expect((await run('travellers list')).stdout).toBe('');
  expect((await run('travellers list', { terminal: true })).stdout).toBe('No saved travellers.\n');
  const added = await run('travellers add ana --json', { stdin: JSON.stringify(ANA) });
  expect(added.json()).toMatchObject({
    name: 'ana',
    passport: 'none',
    missing: ['nationality', 'passport_number', 'passport_expiry'],
    replaced: false,
  });
  const listed = await run('travellers list --json name,passport');
  expect(listed.json()).toEqual({ travellers: [{ name: 'ana', passport: 'none' }] });
  for (const text of [added.stdout, listed.stdout, (await run('travellers')).stdout]) {
    for (const personal of ['Moreira', '1990', 'example.com', '351']) expect(text).not.toContain(personal);
  }
  expect((await run('travellers show ANA --json')).json()).toMatchObject({ fields: ANA });
});

test('the rules of passengers hold, and nothing wrong is saved', async () => {
  const wrong = await run('travellers add cy - --json', {
    stdin: JSON.stringify({ ...ANA, born_on: '1990-02-30', passport_expiry: '2020-01-01', shoe: '44' }),
  });
  expect([wrong.exitCode, errorOf(wrong).code]).toEqual([2, 'passengers_invalid']);
  expect(errorOf(wrong).detail?.issues.map(({ path }) => path)).toEqual(['born_on', 'passport_expiry', 'shoe']);
  expect(wrong.stdout).not.toContain('1990-02-30');
  expect(errorOf(await run('travellers add cy --json', { stdin: 'Ana Moreira' })).code).toBe('file_unreadable');
  expect(errorOf(await run('travellers add cy --json', { stdin: JSON.stringify([ANA, BO]) })).code).toBe(
    'passengers_invalid',
  );
  expect(errorOf(await run('travellers show cy --json')).code).toBe('traveller_not_found');
  expect((await run('travellers add @! --json', { stdin: JSON.stringify(ANA) })).exitCode).toBe(2);
});

test('on a terminal it asks field by field; --no-input needs a file', async () => {
  const answers = [...Object.values(BO), true, ...Object.values(PASSPORT)];
  const added = await run('travellers add bo', { terminal: true, answers });
  expect(added.exitCode, added.stderr).toBe(0);
  expect(added.stdout).toBe('✓ Saved the traveller bo, encrypted in this home\n');
  expect((await run('travellers show bo --json')).json()).toMatchObject({ fields: { ...BO, ...PASSPORT } });
  const silent = await run('travellers add di --no-input --json', { terminal: true });
  expect(errorOf(silent).code).toBe('input_required');
});

const AS_WRITTEN = {
  born_on: 'Thu 12 April 1990',
  phone_number: '00351 912-345-678',
  nationality: 'Portugal',
  passport_number: 'ca 123-456',
  passport_expiry: '6 May 2034',
};

test('fields are taken as people write them, typed or in a file', async () => {
  const fields = { ...ANA, ...PASSPORT, born_on: '1990-04-12', phone_number: '+351912345678' };
  const typed = { ...ANA, ...AS_WRITTEN };
  const answers = Object.entries(typed).flatMap(([field, value]) =>
    field === 'nationality' ? [true, value] : [value],
  );
  const asked = await run('travellers add typed', { terminal: true, answers });
  expect(asked.exitCode, asked.stderr).toBe(0);
  expect((await run('travellers show typed --json')).json()).toMatchObject({ fields });
  const read = await run('travellers add read', { stdin: JSON.stringify(typed) });
  expect(read.exitCode, read.stdout).toBe(0);
  expect((await run('travellers show read --json')).json()).toMatchObject({ fields });
  for (const name of ['typed', 'read']) await run(`travellers remove ${name} --yes`);
});

test('a birthday with two readings is asked about, and in a file refused', async () => {
  const typed = { ...ANA, born_on: '04/12/1990' };
  const answers = Object.entries(typed).flatMap(([field, value]) =>
    field === 'born_on' ? [value, '1990-12-04'] : [value],
  );
  const asked = await run('travellers add either', { terminal: true, answers: [...answers, false] });
  expect(asked.asked).toContain('04/12/1990: which day?');
  expect((await run('travellers show either --json')).json()).toMatchObject({ fields: { born_on: '1990-12-04' } });
  await run('travellers remove either --yes');
  const read = await run('travellers add never --json', { stdin: JSON.stringify(typed) });
  expect(errorOf(read).detail?.issues.map(({ path }) => path)).toEqual(['born_on']);
  expect(read.stdout).not.toContain('04/12/1990');
});

test('a name that is taken is refused before anything is asked, and written over with --replace', async () => {
  const taken = await run('travellers add Ana --json', { terminal: true });
  expect([taken.exitCode, errorOf(taken).code, taken.asked]).toEqual([5, 'traveller_exists', []]);
  const file = join(place.home, 'ana.json');
  writeFileSync(file, JSON.stringify({ ...ANA, email: 'ana.m@example.com' }));
  const planned = await runInMemory(['travellers', 'add', 'ana', file, '--replace', '--dry-run'], { environment });
  expect(planned.stdout).toMatch(/Dry run\. This command would:/);
  expect((await run('travellers show ana --json')).stdout).not.toContain('ana.m@');
  const replaced = await runInMemory(['travellers', 'add', 'ana', file, '--replace', '--json'], { environment });
  expect(replaced.json()).toMatchObject({ replaced: true });
  expect((await run('travellers show ana --json')).stdout).toContain('ana.m@');
});

test('book --traveller books saved travellers in the order of their names', async () => {
  const id = await newIntent(2, 0);
  const booked = await run(`book ${id} --traveller ana --traveller bo --yes --json`);
  expect(booked.json(), booked.stdout).toMatchObject({ status: 'booked', passenger_count: 2 });
  for (const personal of ['Moreira', 'CA123456']) expect(booked.stdout + booked.stderr).not.toContain(personal);
});

test('the review stands before the question under --quiet too', async () => {
  const id = await newIntent(1, 3);
  const ran = await run(`book ${id} --traveller ana --quiet`, { terminal: true, answers: [false] });
  expect(ran.stderr).toMatch(/Ana Moreira, born 12 Apr 1990[\s\S]*Held in +escrow \w+/);
  expect((await run(`intent show ${id} --json`)).json()).toMatchObject({ booking_requested_at: null });
});

test('who is not saved, named twice, or too few: said before anything is paid', async () => {
  const id = await newIntent(2, 1);
  const before = (await run('wallet balance --json')).json().usdc_atomic;
  const refused = async (given: string) => errorOf(await run(`book ${id} ${given} --yes --json`));
  expect((await refused('--traveller ana --traveller zoe')).code).toBe('traveller_not_found');
  expect((await refused('--traveller ana --traveller ana')).code).toBe('passengers_invalid');
  expect((await refused('--traveller ana')).detail?.issues).toEqual([
    { path: 'passengers', message: 'must have exactly 2 entries, and has 1.' },
  ]);
  expect((await refused('--traveller ana --passengers p.json')).code).toBe('usage');
  expect((await run('wallet balance --json')).json().usdc_atomic).toBe(before);
});

test('a passport that is missing is said before paying, with the command that adds it', async () => {
  const id = await lowcostIntent();
  const refused = errorOf(await run(`book ${id} --traveller ana --yes --json`));
  expect(refused).toMatchObject({ code: 'passengers_invalid', next: ['farelock travellers add ana --replace'] });
  expect(refused.detail?.issues[0]?.path).toBe('ana: nationality');
  const booked = await run(`book ${id} --traveller bo --yes --json`);
  expect(booked.json(), booked.stdout).toMatchObject({ status: 'booked' });
});

test('a passport that has expired since is shown in the list, and said before paying', async () => {
  const inTenYears = { now: () => Date.parse('2034-06-01'), sleep: async () => undefined };
  const listed = await run('travellers list --json name,passport', { clock: inTenYears });
  expect(listed.json()).toEqual({
    travellers: [
      { name: 'ana', passport: 'none' },
      { name: 'bo', passport: 'expired' },
    ],
  });
});

test('remove removes, once', async () => {
  expect((await run('travellers remove bo --dry-run')).stdout).toMatch(/Dry run\. This command would:/);
  expect((await run('travellers remove bo --json')).json()).toEqual({ name: 'bo', removed: true });
  expect((await run('travellers remove bo --json')).exitCode).toBe(3);
});
