import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { once } from '../../src/kernel/once.ts';
import type { Intent, Offer } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** Every command in memory, on and off a terminal, against the real embedded service. */
const place = temporaryHome();
const passengers = join(place.home, 'p.json');
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
const run = (line: string, options: MemoryOptions = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), { ...options, environment: { ...environment, ...options.environment } });
const usdc = async () => Number((await run('wallet balance --json')).json().usdc_atomic);

/** An intent on the n-th offer of a search of its own. */
async function newIntent(
  number: number,
  options: MemoryOptions = {},
): Promise<Intent & { customer_support_code: string }> {
  const found = await run('search LIS BER --depart +30d --no-wait --json', options);
  const offers = (found.json().offers as Offer[]).filter((offer) => offer.total_currency === 'USD');
  const made = await run(`intent ${offers[number]?.offer_id} --json`, options);
  expect(made.exitCode, made.stdout).toBe(0);
  return made.json() as unknown as Intent & { customer_support_code: string };
}

/** One that no test pays for: a wallet holds a few at most. */
const unpaid = once(() => newIntent(1));

beforeAll(async () => {
  const first = await run('wallet show');
  expect(first.stderr).toMatch(/^Made a wallet with 10 SOL and 10,000 USDC of play money/);
  writeFileSync(passengers, JSON.stringify({ passengers: [ANA] }));
});
afterAll(() => place.close());

describe('wallet', () => {
  test('is made once, and said once', async () => {
    expect((await run('wallet show')).stderr).toBe('');
  });

  test('new never writes over a keypair', async () => {
    expect((await run('wallet new')).exitCode).toBe(5);
    const other = join(place.home, 'other.json');
    const made = await run(`wallet new --keypair ${other} --json`);
    expect(made.json()).toMatchObject({ keypair_file: other, created: true });
    expect((await run(`wallet balance --keypair ${other} --json`)).json()).toMatchObject({ usdc: '0.00', sol: '0' });
    expect((await run(`wallet airdrop --keypair ${other} --usdc 7.5 --sol 2 --json`)).exitCode).toBe(0);
    expect((await run(`wallet balance --keypair ${other} --json`)).json()).toMatchObject({ usdc: '7.50', sol: '2' });
  });

  test('a keypair file that does not exist is not made on the way', async () => {
    const none = await run(`wallet show --keypair ${join(place.home, 'none.json')}`);
    expect(none.exitCode).toBe(4);
  });
});

describe('search', () => {
  test('on a terminal: itineraries on stdout, cost and next command on stderr', async () => {
    const found = await run('search LIS BER --depart +30d --no-wait --limit 3', { terminal: true, columns: 100 });
    expect(found.exitCode).toBe(0);
    expect(found.stdout).toMatch(/^LIS → BER {2}.*3 of \d+ itineraries/);
    expect(found.stdout).toMatch(/━/);
    expect(found.stderr).toMatch(/Paid 0\.10 USDC · [\s\S]*Next: farelock intent 1/);
  });

  test('off a terminal: rows with tabs, a line for each phase on stderr, nothing but the result under --quiet', async () => {
    const found = await run('search LIS BER --depart +30d --no-wait --limit 3');
    const rows = found.stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(3);
    expect(rows.every((row) => row.split('\t').length === 12 && row.startsWith('off_'))).toBe(true);
    expect(found.stderr).toMatch(/^Searching…$/m);
    expect(found.stderr).toMatch(/^Paying for the search…$/m);
    expect((await run('search LIS BER --depart +30d --no-wait --limit 3 --quiet')).stderr).toBe('');
  });

  test('--json is one document: the service’s fields and the payment', async () => {
    const found = await run('search LIS BER --depart +30d --no-wait --json offers,payment --limit 2');
    expect(Object.keys(found.json())).toEqual(['offers', 'payment']);
    expect(found.json().payment).toMatchObject({ amount: '0.10' });
  });

  test('filters that nothing passes end with exit 0 and say so', async () => {
    const none = await run('search LIS BER --depart +30d --max-price 1', { terminal: true });
    expect(none).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^No offers match\.\n\d+ fares hidden: \d+ by --max-price\n$/),
    });
  });

  test('an airport that the service does not know is said before anything is paid', async () => {
    const before = await usdc();
    const wrong = await run('search LIS QQQ --depart +30d --json');
    expect(wrong.exitCode).toBe(2);
    expect((wrong.json().error as { code: string }).code).toBe('invalid_request');
    expect(await usdc()).toBe(before);
  });

  test('--dry-run and a cap below the price pay nothing', async () => {
    const before = await usdc();
    expect((await run('search LIS BER --depart +30d --no-wait --dry-run --json')).json()).toMatchObject({
      dry_run: true,
    });
    const capped = await run('search LIS BER --depart +30d --no-wait --max-payment 0.05 --yes --json');
    expect(capped.exitCode).toBe(6);
    expect((capped.json().error as { code: string }).code).toBe('payment_above_cap');
    expect(await usdc()).toBe(before);
  });

  test('a number of the screen stands for its offer', async () => {
    await run('search LIS BER --depart +30d --no-wait --limit 3', { terminal: true });
    const shown = await run('offer 2', { terminal: true });
    expect(shown.exitCode).toBe(0);
    expect(shown.stdout).toMatch(/^LIS → BER[\s\S]*Price/);
    expect((await run('offer 99')).exitCode).toBe(3);
  });
});

describe('intent', () => {
  test('create prints escrow, amount, deadline and the support code once; list and show know it after', async () => {
    await run('search LIS BER --depart +30d --no-wait --limit 9', { terminal: true });
    const made = await run('intent create 1', { terminal: true });
    expect(made.stdout).toMatch(/^✓ Locked until[\s\S]*To pay[\s\S]*FLK-/);
    const [id = ''] = /int_\w+/.exec(made.stdout) ?? [];
    const shown = await run(`intent show ${id}`, { terminal: true });
    expect(shown.stdout).toMatch(/not paid yet/);
    expect(shown.stdout).not.toMatch(/FLK-/);
    const listed = await run('intent list --json intent_id,route');
    expect(listed.json().intents).toContainEqual({ intent_id: id, route: 'LIS-BER' });
    const again = await run('intent create 1');
    expect(again.exitCode).toBe(5);
    expect(again.stderr).toContain(`farelock book ${id}`);
  });

  test('verify reads the escrow from the cluster, and ends with 6 where it is not as promised', async () => {
    const { intent_id: id } = await unpaid();
    const verified = await run(`status ${id} --verify --json`);
    expect(verified.exitCode).toBe(0);
    expect(verified.json()).toMatchObject({ verified: true });
    expect((await run(`status ${id} --verify`, { terminal: true })).stdout).toMatch(/✓ {2}amount/);
  });

  test('one that does not exist is exit 3', async () => {
    for (const line of ['intent show int_none', 'status int_none', 'book int_none --yes', 'order int_none']) {
      expect((await run(line)).exitCode, line).toBe(3);
    }
  });
});

describe('book', () => {
  test('says everything that is wrong in the passengers at once, and pays nothing', async () => {
    const { intent_id: id } = await unpaid();
    const before = await usdc();
    const stdin = JSON.stringify([{ ...ANA, born_on: '2020-01-01', email: 'nobody', title: 'sir' }, ANA]);
    const wrong = await run(`book ${id} --passengers - --yes --json`, { stdin });
    expect(wrong.exitCode).toBe(2);
    const { code, detail } = wrong.json().error as { code: string; detail: { issues: { path: string }[] } };
    expect(code).toBe('passengers_invalid');
    // Age depends on the day of departure, which this home has from its search.
    expect(detail.issues.map((issue) => issue.path)).toEqual([
      'passengers',
      'passengers.0.born_on',
      'passengers.0.title',
      'passengers.0.email',
    ]);
    expect(await usdc()).toBe(before);
  });

  test('asks nobody off a terminal: without --yes or passengers it is exit 2, and nothing is paid', async () => {
    const { intent_id: id } = await unpaid();
    const before = await usdc();
    const unasked = await run(`book ${id} --passengers ${passengers} --json`);
    expect(unasked.exitCode).toBe(2);
    expect((unasked.json().error as { code: string }).code).toBe('input_required');
    expect((await run(`book ${id} --yes`)).exitCode).toBe(2);
    expect((await run(`book ${id} --passengers ${passengers} --no-input`, { terminal: true })).exitCode).toBe(2);
    expect((await run(`book ${id} --passengers ${join(place.home, 'none.json')} --yes`)).exitCode).toBe(2);
    expect((await run(`book ${id} --passengers ${passengers} --yes --max-payment 1`)).exitCode).toBe(6);
    expect((await run(`book ${id} --passengers ${passengers} --dry-run`)).stdout).toMatch(
      /Dry run\. This command would:/,
    );
    expect(await usdc()).toBe(before);
  });

  test('asks a person for the passengers and for the payment; no is exit 6, yes books', async () => {
    const { intent_id: id, escrow } = await newIntent(4);
    const answers = ['Ana', 'Moreira', 'yesterday', '1990-04-12', 'ms', 'female', 'ana@example.com', '+351912345678'];
    const before = await usdc();
    const declined = await run(`book ${id}`, { terminal: true, answers: [...answers, false] });
    expect(declined.exitCode).toBe(6);
    expect(await usdc()).toBe(before);
    const booked = await run(`book ${id}`, { terminal: true, answers: [...answers, true] });
    expect(booked.exitCode, booked.stderr).toBe(0);
    expect(booked.asked.at(-1)).toMatch(/^Pay \d+\.\d\d USDC and book\?$/);
    expect(booked.stdout).toMatch(/booked[\s\S]*funded[\s\S]*ticketed[\s\S]*captured/);
    expect(booked.stderr).toMatch(/Next: farelock order$/m);
    expect(before - (await usdc())).toBe(escrow.amount);
  });

  test('books from a file, answers again without paying again, and its order can be read by both ids', async () => {
    const { intent_id: id, escrow } = await newIntent(5);
    const before = await usdc();
    const booked = await run(`book ${id} --passengers ${passengers} --yes --json`);
    expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
    expect(booked.json()).toMatchObject({ status: 'booked', payment: { amount: expect.any(String) } });
    const again = await run(`book ${id} --passengers ${passengers} --yes --json`);
    expect(again.json()).toMatchObject({ status: 'booked', order_id: booked.json().order_id });
    expect(before - (await usdc())).toBe(escrow.amount);

    const status = await run(`status ${id} --verbose`, { terminal: true, columns: 140 });
    expect(status.stdout).toMatch(/✓ funded {6}\d+\.\d\d USDC in escrow[\s\S]*✓ captured/);
    expect(status.stdout.match(/^ +[1-9A-HJ-NP-Za-km-z]{86,88}$/gm)).toHaveLength(2);
    const order = await run(`order ${id} --json`);
    expect(order.json()).toMatchObject({ status: 'ticketed', booking_reference: expect.stringMatching(/^\w{6}$/) });
    const byOrder = await run(`order ${booked.json().order_id}`, { terminal: true });
    expect(byOrder.stdout).toMatch(new RegExp(`^${order.json().booking_reference} `));
    const verified = await run(`status ${id} --verify --json`);
    expect(verified.json()).toMatchObject({ verified: true });
  });

  test('--no-wait returns at once, and --watch follows it with a line for each change', async () => {
    const { intent_id: id } = await newIntent(6);
    const queued = await run(`book ${id} --passengers ${passengers} --yes --no-wait --json`);
    expect(queued.json()).toMatchObject({ status: 'active', booking_requested_at: expect.any(String) });
    const watched = await run(`status ${id} --watch --json status,ticketed_at`);
    const events = watched.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: string });
    expect(watched.exitCode).toBe(0);
    expect(events.at(-1)).toMatchObject({ status: 'booked' });
    expect(events.every((event) => Object.keys(event).length === 2)).toBe(true);
  });

  test('a booking that fails is paid back: exit 8, and the money trail says where it went', async () => {
    const failing = { environment: { FARELOCK_SCENARIO: 'ticketing_fails' } };
    const { intent_id: id } = await newIntent(7, failing);
    const before = await usdc();
    const booked = await run(`book ${id} --passengers ${passengers} --yes`, { ...failing, terminal: true });
    expect(booked.exitCode).toBe(8);
    expect(booked.stdout).toMatch(/refunded[\s\S]*✓ funded[\s\S]*✗ not booked[\s\S]*✓ refunded/);
    expect(await usdc()).toBe(before);
    expect((await run(`status ${id} --watch`)).exitCode).toBe(8);
    expect((await run(`order ${id}`)).exitCode).toBe(3);
    expect((await run(`status ${id} --verify --json`)).json()).toMatchObject({ verified: true });
  });

  test('interrupted while ticketing: exit 130, the money is told, and the same command goes on', async () => {
    const slow = { environment: { FARELOCK_TICKETING_MS: '1500' } };
    const { intent_id: id, escrow } = await newIntent(8, slow);
    const before = await usdc();
    const { problem } = await import('../../src/kernel/problems.ts');
    const stop = new AbortController();
    const booking = run(`book ${id} --passengers ${passengers} --yes`, { ...slow, interrupted: stop.signal });
    await expect.poll(async () => (await run(`status ${id} --json`, slow)).json().booking_requested_at).not.toBeNull();
    stop.abort(problem('interrupted'));
    const cut = await booking;
    expect(cut.exitCode).toBe(130);
    expect(cut.stderr).toMatch(/are in the escrow; the booking continues when a\s+command runs/);
    expect(cut.stderr).toMatch(/never pays twice/);
    const again = await run(`book ${id} --passengers ${passengers} --yes --json`, slow);
    expect(again.json()).toMatchObject({ status: 'booked' });
    expect(before - (await usdc())).toBe(escrow.amount);
  });
});

test('payments are listed newest first and shown one by one', async () => {
  const listed = await run('payments list --json payment_id,resource,state');
  const [latest] = listed.json().payments as { payment_id: string; state: string }[];
  const shown = await run(`payments show ${latest?.payment_id} --json`);
  expect(shown.json()).toMatchObject({ ...latest });
  expect((await run('payments list')).stdout.split('\n')[0]?.split('\t')).toHaveLength(8);
  expect((await run('payments show pay_none')).exitCode).toBe(3);
});

test('of several bookings none is refunded unasked, and the command for the first can be copied', async () => {
  const several = await run('refund request --reason Ill --json');
  const { next } = several.json().error as { next: string[] };
  expect([several.exitCode, next]).toEqual([2, ['farelock refund request 1']]);
  const first = await run(`${next[0]?.replace('farelock ', '')} --reason Ill --dry-run --json`);
  expect(first.exitCode, first.stdout).toBe(0);
});
