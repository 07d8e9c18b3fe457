import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer, RefundCase, RefundQueue } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** The desk of an operator, command by command: the queue, its numbers, and decisions that say what they do. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20' };
const run = (line: string | readonly string[], options: MemoryOptions = {}) =>
  runInMemory(typeof line === 'string' ? line.split(' ') : line, {
    ...options,
    environment: { ...environment, ...options.environment },
  });
const atDesk = (line: string | readonly string[], options: MemoryOptions = {}) =>
  run(line, { terminal: true, columns: 100, rows: 60, ...options });
/** Another operator's key. */
let cleo: Readonly<Record<string, string>>;

const isOf = {
  refundable: ({ conditions }: Offer) =>
    conditions?.refund_allowed === true && Number(conditions.refund_penalty_amount ?? 0) > 0,
  non_refundable: ({ conditions }: Offer) => conditions?.refund_allowed === false,
  undisclosed: ({ conditions }: Offer) =>
    conditions?.refund_allowed === true && conditions.refund_penalty_amount === null,
};

beforeAll(async () => {
  const passengers = join(place.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([ANA]));
  await run('wallet show');
  const found = await run('search LIS BER --depart +30d --all-fares --limit 500 --json');
  const offers = (found.json().offers as Offer[]).filter(
    (one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'),
  );
  const refundable = offers.filter(isOf.refundable);
  const picked = [refundable[0], refundable[1], offers.find(isOf.non_refundable), offers.find(isOf.undisclosed)];
  for (const offer of picked) {
    const made = (await run(['intent', offer?.offer_id ?? '', '--json'])).json();
    const id = String(made.intent_id);
    expect((await run(['book', id, '--passengers', passengers, '--yes', '--json'])).exitCode).toBe(0);
    const asked = await run(['refund', id, '--reason', 'I broke a leg.', '--json']);
    expect(asked.exitCode, asked.stdout).toBe(0);
  }
  cleo = { FARELOCK_OPERATOR_KEY: String((await run('keys issue cleo --json')).json().key) };
}, 180_000);
afterAll(() => place.close());

const queued = async () => ((await run('refund queue --json')).json() as unknown as RefundQueue).refund_requests;
const shown = async (id: string) => (await run(['refund', 'show', id, '--json'])).json() as unknown as RefundCase;

test('the queue says route, departure, rule, paid, pay-out, age and holder at every width', async () => {
  const [first] = await queued();
  for (const columns of [60, 72, 80, 99, 100, 131, 132, 140]) {
    const { stdout } = await atDesk('refund queue', { columns });
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines[0]).toMatch(/^# +Route +Departs .*Paid +Pay-out +Age +Claimed( by( +Request)?|…)$/);
    // At 60 columns the width of an age decides.
    if (columns > 60) expect(lines[0]).toContain('Claimed by');
    const payout = ((first?.refund_rule.payout_amount ?? 0) / 1e6).toFixed(2);
    expect(lines[1]).toMatch(new RegExp(`^1 +LIS ?→ ?BER .*\\d\\d? [A-Z][a-z]{2}.* ${payout} .* –( +ref_\\w+)?$`));
    const [free, asked] = columns < 80 ? ['', ''] : ['not refundable ', 'ask the airline '];
    expect(stdout).toMatch(new RegExp(`^3 .*${free}.* none  `, 'm'));
    expect(stdout).toMatch(new RegExp(`^4 .*${asked}.* you decide  `, 'm'));
  }
});

test('a number of the queue stands for its case in every command, and no script renumbers it', async () => {
  const [first, second] = await queued();
  await atDesk('refund queue --sort age');
  expect((await run('refund queue --limit 1 --json', { place: 'script' })).exitCode).toBe(0);
  expect((await run('refund show 2 --json')).json().request_id).toBe(second?.request_id);
  expect((await run('refund claim 2 --json')).json()).toMatchObject({
    request_id: second?.request_id,
    claimed_by: 'local',
  });
  expect((await run('refund claim 2 --release --json')).json().claimed_by).toBeNull();
  expect((await run(['refund', 'note', '1', 'Asked them.', '--json'])).json().request_id).toBe(first?.request_id);
  const none = await run('refund show 9 --json');
  expect([none.exitCode, none.json()]).toMatchObject([
    3,
    { error: { code: 'refund_request_not_found', message: 'Your last list has no row 9.' } },
  ]);
});

test("somebody else's case is refused before anything is asked", async () => {
  expect((await run('refund claim 2 --json', { environment: cleo })).exitCode).toBe(0);
  for (const line of ['refund approve 2', 'refund reject 2', 'refund approve 2 --dry-run']) {
    const refused = await atDesk(line);
    expect([refused.exitCode, refused.asked], refused.stderr).toEqual([5, []]);
    expect(refused.stderr).toMatch(/Another operator has claimed this case[\s\S]*cleo/);
  }
  await run('refund claim 2 --release', { environment: cleo });
});

test('an amount that cannot be is refused before anything is asked, in USDC and by its option', async () => {
  const refused = async (line: string, code: string, words: RegExp) => {
    const said = await atDesk(line);
    expect([said.asked, said.stdout], said.stderr).toEqual([[], '']);
    expect(said.stderr).toMatch(words);
    const json = (await run(`${line} --yes --json`)).json() as { error: { code: string } };
    expect(json.error.code).toBe(code);
  };
  const paid = ((await shown('1')).captured_amount / 1e6).toFixed(2);
  const above = new RegExp(`9000\\.00 USDC is more than was paid: ${paid} USDC`);
  await refused('refund approve 1 --amount 9000 --note kind', 'invalid_request', above);
  await refused('refund approve 1 --amount 1', 'invalid_request', /Say why it is paid: --note <text>/);
  await refused('refund approve 3', 'payout_is_zero', /nothing would be paid out/);
  await refused('refund approve 4', 'payout_undecided', /does not say what a refund costs/);
});

test('a partial pay-out is called partial, and never a penalty', async () => {
  const line = ['refund', 'approve', '4', '--amount', '10', '--note', 'They said so'];
  const done = await atDesk(line, { answers: [true] });
  expect(done.exitCode, done.stderr).toBe(0);
  expect(done.stderr).toMatch(/Keep \d+\.\d\d USDC of \d+\.\d\d: this is a partial pay-out/);
  expect(done.stdout).toMatch(/^✓ LIS → BER, \d+ \w{3}, [A-Z0-9]{6}: ticket cancelled, 10\.00 USDC paid out\n/);
  expect(done.stdout.split('\n').length).toBeLessThan(4);
  const view = (await atDesk('refund show 4')).stdout;
  expect(view).toMatch(/Pay-out +10\.00 USDC, partial: \d+\.\d\d USDC kept/);
  expect(view).not.toMatch(/Penalty/);
});

test('a rejection shows the mail that it sends, asks, and pages nothing', async () => {
  const pager = async () => {
    throw new Error('a pager was opened');
  };
  const words = ['refund', 'reject', '3', '--reason', 'The fare is not refundable.'];
  const declined = await atDesk(words, { answers: [false], pager });
  expect([declined.exitCode, declined.asked]).toEqual([6, ['Reject the request?']]);
  expect(declined.stderr).toMatch(
    /Refund request rejected[\s\S]*Hello …,\s+Booking reference: [A-Z0-9]{6}\s+Your refund request was rejected: The fare is not refundable\./,
  );
  expect(declined.stderr).not.toContain(ANA.given_name);
  expect((await shown('3')).status).toBe('received');
  const script = await run([...words, '--json']);
  expect([script.exitCode, script.json()]).toMatchObject([2, { error: { code: 'input_required' } }]);
  const planned = (await run([...words, '--dry-run', '--json'])).json();
  expect(planned).toMatchObject({ dry_run: true, mail: { subject: 'Refund request rejected' } });
  const done = await atDesk(words, { answers: [true], pager, rows: 10 });
  expect([done.exitCode, done.stdout.split('\n').filter(Boolean).length]).toEqual([0, 1]);
  expect(done.stdout).toMatch(/^✓ LIS → BER, .*: rejected; the passenger gets the reason\n/);
  const again = await atDesk(words);
  expect([again.exitCode, again.asked]).toEqual([5, []]);
});

test('claims and notes end with a line of what changed, and print the whole case as JSON', async () => {
  for (const [line, said] of [
    ['refund claim 1', /: the case is yours$/],
    ['refund note 1 Called', /: note written \(2 on the case\)$/],
    ['refund claim 1 --release', /: given back, any operator can take it$/],
  ] as const) {
    const done = await atDesk(line);
    expect(done.stdout.trimEnd().split('\n')).toEqual([expect.stringMatching(said)]);
    expect(done.stdout).toMatch(/^✓ LIS → BER, /);
    // The number that was typed goes on standing for the case.
    if (line === 'refund claim 1')
      expect(done.stderr).toMatch(/Next: farelock refund show 1\n +farelock refund approve 1\n/);
  }
  const json = (await run('refund note 1 Again --json')).json() as unknown as RefundCase;
  expect([json.notes.length, json.timeline.length > 3]).toEqual([3, true]);
});

test('a decision is one command from the queue, with all that it needs on the screen', async () => {
  expect((await atDesk('refund queue')).stderr).toMatch(/farelock refund approve 1$/m);
  const before = await shown('1');
  const done = await atDesk('refund approve 1', { answers: [true] });
  expect(done.exitCode, done.stderr).toBe(0);
  expect(done.stderr).toMatch(/I broke a leg\.[\s\S]*penalty of the fare rule[\s\S]*treasury holds/);
  expect((await shown(before.request_id)).decision?.payout_amount).toBe(before.refund_rule.payout_amount);
});

test('the live desk needs a terminal that can move its cursor, and names the commands for scripts', async () => {
  for (const refused of [await run('refund desk'), await atDesk('refund desk', { environment: { TERM: 'dumb' } })]) {
    expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(/needs a terminal[\s\S]*refund queue, show, claim, note, approve and reject/);
  }
  expect((await run('refund desk --json')).json()).toMatchObject({ error: { code: 'usage' } });
});

test('a dry run of a switch says what would change', async () => {
  const off = await atDesk('switch booking off --dry-run');
  expect(off.stdout).toMatch(
    /Dry run\. This command would:\n +1\. Turn booking off, which is on now: new intents and bookings are refused/,
  );
  expect((await run('switch booking off --dry-run --json')).json()).toEqual({
    booking: 'off',
    lowcost: 'on',
    dry_run: true,
  });
  const turned = await atDesk('switch booking off --yes');
  expect(turned.stdout).toMatch(/✓ booking is off: new intents and bookings are refused/);
  expect(turned.stderr).toContain('farelock switch booking on');
  expect((await atDesk('switch booking on --yes')).stdout).toMatch(/✓ booking is on: /);
  // Where it stands already nobody is asked.
  const again = await atDesk('switch booking on');
  expect([again.asked, again.stdout]).toEqual([[], expect.stringContaining('booking is on already')]);
  expect((await atDesk('switch booking on --dry-run')).stdout).toMatch(/Nothing would change/);
  expect((await run('switch --json')).json()).toEqual({ booking: 'on', lowcost: 'on' });
});
