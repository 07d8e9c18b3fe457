import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { once } from '../../../src/kernel/once.ts';
import type { Intent, Offer } from '../../../src/wire/flights/index.ts';
import { runningClock } from '../../flights/world.ts';
import { ANA, ENTER, type MemoryOptions, runInMemory, temporaryHome } from '../memory.ts';

/** What a person sees before a ticket is paid. */

const place = temporaryHome();
const clock = runningClock();
const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), {
    clock,
    ...options,
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', ...options.environment },
  });
const BO = { ...ANA, given_name: 'Bo', family_name: 'Li', title: 'mr', gender: 'm', born_on: '1985-07-09' };
const passengers = join(place.home, 'p.json');

let offers: Offer[];
beforeAll(async () => {
  writeFileSync(passengers, JSON.stringify([ANA, BO]));
  const search = 'search LIS BER --depart 2026-12-22 --return 2026-12-29 --adults 2 --json';
  offers = (await run(search)).json().offers as Offer[];
});
afterAll(() => place.close());

/** Locks the n-th offer that needs no documents. */
async function locked(n: number, more = ''): Promise<{ offer: Offer; intent: Intent }> {
  const offer = offers.filter((one) => !one.identity_documents_required)[n];
  const made = await run(`intent create ${offer?.offer_id}${more} --json`);
  expect(made.exitCode, made.stdout).toBe(0);
  return { offer: offer as Offer, intent: made.json() as unknown as Intent };
}

/** One that no test pays for: a wallet holds a few at most. */
const unpaid = once(() => locked(0));

test.each([60, 100])(
  'says what is bought, for whom, what it costs and where the money goes: %d columns',
  async (columns) => {
    const { offer, intent } = await unpaid();
    const declined = await run(`book ${intent.intent_id} --passengers ${passengers}`, {
      terminal: true,
      columns,
      answers: [false],
    });
    expect(declined.exitCode).toBe(6);
    const text = declined.stderr.replace(/\s+/g, ' ');
    const [out, back] = offer.slices;
    for (const said of [
      'LIS → BER Tue 22 Dec 2026',
      'BER → LIS Tue 29 Dec 2026',
      `${out?.departing_at.slice(11, 16)}–${out?.arriving_at.slice(11, 16)}`,
      back?.segments[0]?.flight_number,
      `sold by ${offer.owner_name}`,
      offer.fare_brand_name,
      `${offer.checked_bags_included} checked bag`,
      /Refund (yes|no)/,
      /Change (yes|no)/,
      'Ms Ana Moreira, born 12 Apr 1990',
      'Mr Bo Li, born 9 Jul 1985',
      `${offer.total_amount_decimal} USDC for 2 passengers`,
      `base ${offer.base_amount_decimal}, tax ${offer.tax_amount_decimal}`,
      `escrow ${intent.escrow.address} until ticketed`,
      `${intent.refund_wallet}, your wallet`,
      /Book until 2026-\d\d-\d\d/,
    ]) {
      expect(text).toMatch(said instanceof RegExp ? said : String(said));
    }
    // A command to copy is never broken.
    const lines = declined.stderr.split('\n').filter((line) => !line.startsWith('  $ '));
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns + 12);
    expect(declined.asked).toEqual([`Pay ${offer.total_amount_decimal} USDC and book?`]);
  },
);

test('a mere Enter does not pay where a refund would go to another wallet', async () => {
  const key = join(place.home, 'other.json');
  const other = (await run(`wallet new --keypair ${key} --json`)).json().address as string;
  expect((await run(`wallet airdrop --keypair ${key} --json`)).exitCode).toBe(0);
  const { intent } = await locked(2, ` --refund-wallet ${other}`);
  const line = `book ${intent.intent_id} --passengers ${passengers} --refund-wallet ${other}`;
  const entered = await run(line, { terminal: true, answers: [ENTER] });
  expect(entered.stderr.replace(/\s+/g, ' ')).toContain('which is not the wallet that pays');
  expect(entered.exitCode, entered.stderr).toBe(6);
  const agreed = await run(line, { terminal: true, answers: [true] });
  expect(agreed.exitCode, agreed.stderr).toBe(0);
});

test('a dry run shows the same, to people and to programs', async () => {
  const { offer, intent } = await unpaid();
  const line = `book ${intent.intent_id} --passengers ${passengers} --dry-run`;
  expect((await run(line)).stdout).toContain('BER → LIS  Tue 29 Dec 2026');
  expect((await run(`${line} --json`)).json()).toMatchObject({
    fare: { slices: offer.slices, conditions: offer.conditions, owner_name: offer.owner_name },
    passengers: [{ given_name: 'Ana' }, { given_name: 'Bo' }],
    refund_wallet: intent.refund_wallet,
    expires_at: intent.expires_at,
  });
});

test('passengers that were typed and not paid for are offered again until the lock ends, and kept sealed', async () => {
  const { intent } = await locked(4);
  const typed = (one: typeof ANA) => [
    one.given_name,
    one.family_name,
    one.born_on,
    one.title,
    one.gender === 'f' ? 'female' : 'male',
    one.email,
    one.phone_number,
  ];
  const book = `book ${intent.intent_id}`;
  const cut = await run(book, { terminal: true, answers: [...typed(ANA), 'Bo', 'Fjellström'] });
  expect(cut.exitCode).not.toBe(0);
  for (const file of ['client.db', 'client.db-wal']) {
    expect(readFileSync(join(place.home, file), 'latin1')).not.toMatch(/Fjellstr|Moreira/);
  }
  const rest = typed(BO).slice(2);
  const declined = await run(book, { terminal: true, answers: [true, ...rest, false] });
  expect(declined.asked[0]).toBe('Continue with Ana Moreira and Bo Fjellström, typed before?');
  expect(declined.stderr).toContain('Mr Bo Fjellström, born 9 Jul 1985');
  const booked = await run(book, { terminal: true, answers: [true, true] });
  expect(booked.asked).toHaveLength(2);
  expect(booked.exitCode, booked.stderr).toBe(0);

  const other = (await locked(5)).intent;
  await run(`book ${other.intent_id}`, { terminal: true, answers: typed(ANA) });
  clock.advance(Date.parse(other.expires_at) - clock.now() + 1_000);
  const late = await run(`book ${other.intent_id}`, { terminal: true, answers: ['x'] });
  expect(late.asked).not.toContainEqual(expect.stringContaining('typed before'));
});

describe('passengers.json in the working folder', () => {
  const folder = join(place.home, 'trip');
  const list = (...passengers: object[]) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'passengers.json'), JSON.stringify(passengers));
  };

  test('is offered by its names on a terminal, and what is missing from it is asked', async () => {
    const { intent } = await locked(6);
    const { phone_number: phone, ...rest } = BO;
    list(ANA, rest);
    const answers = [true, phone, true];
    const booked = await run(`book ${intent.intent_id}`, { terminal: true, folder, answers });
    expect(booked.asked[0]).toBe('Book for Ana Moreira and Bo Li, from passengers.json?');
    expect(booked.asked).toHaveLength(3);
    expect(booked.stderr).toContain('Mr Bo Li, born 9 Jul 1985');
    expect(booked.exitCode, booked.stderr).toBe(0);
  });

  test.each([
    ['of another number of passengers', () => list(ANA)],
    ['with a mistake', () => list(ANA, { ...BO, born_on: 'soon' })],
    ['that cannot be read', () => writeFileSync(join(folder, 'passengers.json'), '[')],
  ])('%s is not offered', async (_what, prepare) => {
    const { intent } = await unpaid();
    prepare();
    const asking = await run(`book ${intent.intent_id}`, { terminal: true, folder, answers: [] });
    expect(asking.asked.join()).not.toContain('passengers.json');
    expect(asking.asked).toHaveLength(1);
  });

  test('is never read off a terminal, or where --no-input is given', async () => {
    const { intent } = await unpaid();
    list(ANA, BO);
    for (const more of ['--yes', '--yes --no-input']) {
      const refused = await run(`book ${intent.intent_id} ${more}`, { folder });
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('--passengers <file>')]);
    }
  });
});
