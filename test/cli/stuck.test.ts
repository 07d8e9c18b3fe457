import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepEvidence } from '../../src/airlines/browser/exits.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import { openStore } from '../../src/service/home.ts';
import type { AuditTrail, Offer, OfferDetailsResponse, Stuck, StuckItem } from '../../src/wire/flights/index.ts';
import { recipeFor } from '../airlines/browser/site.ts';
import { worldClock } from '../clock.ts';
import { cases, proofTest } from '../proof-only.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** An operator ends what is stuck, in the tool: a booking on whose website pay was pressed, and nothing came. */

const SERVICE = {
  FARELOCK_TICKETING_MS: '20',
  FARELOCK_LOWCOST_MS: '20',
  FARELOCK_SCENARIO: 'pay_pressed_no_confirmation',
};
const PASSENGER = { ...ANA, nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2099-05-01' };

const embedded = temporaryHome();
const server = temporaryHome();
const traveller = temporaryHome();
const stop = new AbortController();
let serving: Promise<MemoryRun>;
const places: Record<string, { traveller: Record<string, string>; operator: Record<string, string> }> = {};

beforeAll(async () => {
  const here = { FARELOCK_HOME: embedded.home, ...SERVICE };
  places.embedded = { traveller: here, operator: here };
  const line = new Promise<string>((ready) => {
    serving = runInMemory(['serve', '--port', '0', '--json'], {
      environment: { FARELOCK_HOME: server.home, ...SERVICE },
      interrupted: stop.signal,
      onStdout: ready,
    });
  });
  const listening = JSON.parse(await line) as Record<string, string>;
  const remote = {
    FARELOCK_HOME: traveller.home,
    FARELOCK_FLIGHTS_URL: listening.flights_url ?? '',
    FARELOCK_RPC_URL: listening.rpc_url ?? '',
  };
  const key = readFileSync(listening.operator_key_file ?? '', 'utf8').trim();
  places['over HTTP'] = { traveller: remote, operator: { ...remote, FARELOCK_OPERATOR_KEY: key } };
  await runInMemory(['wallet', 'new'], { environment: remote });
  await runInMemory(['wallet', 'airdrop', '--sol', '1', '--usdc', '5000'], { environment: remote });
});
afterAll(async () => {
  stop.abort();
  await serving;
  for (const place of [embedded, server, traveller]) place.close();
});

describe.each(cases(['over HTTP'], ['embedded']))('%s', (place) => {
  const run = (line: string, options: MemoryOptions = {}, who: 'traveller' | 'operator' = 'operator') =>
    runInMemory(line.split(' '), { ...options, environment: { ...places[place]?.[who], ...options.environment } });
  const asTraveller = async <T = Record<string, unknown>>(line: string): Promise<T> => {
    const ran = await run(`${line} --json`, {}, 'traveller');
    expect(ran.exitCode, `${line}: ${ran.stdout}${ran.stderr}`).toBe(0);
    return ran.json() as T;
  };
  let bookings = 0;
  const usdc = async () => Number((await asTraveller<{ usdc_atomic: string }>('wallet balance')).usdc_atomic);

  /** The id of a booking that waits for a person, and what was paid for it. */
  async function stuck(): Promise<{ id: string; amount: number }> {
    await asTraveller('wallet show');
    const { offers } = await asTraveller<{ offers: Offer[] }>(
      'search LIS BER --depart +30d --all-fares --limit 500 --wait',
    );
    const flight = offers.filter((one) => one.offer_id.startsWith('lowcost:'))[bookings++];
    const { fare_menu } = await asTraveller<OfferDetailsResponse>(`offer ${flight?.offer_id}`);
    const made = await asTraveller<{ intent_id: string; escrow: { amount: number } }>(
      `intent create ${fare_menu?.fares[1]?.offer_id}`,
    );
    const home = places[place]?.traveller.FARELOCK_HOME ?? '';
    writeFileSync(join(home, 'p.json'), JSON.stringify([PASSENGER]));
    await asTraveller(`book ${made.intent_id} --passengers ${join(home, 'p.json')} --yes --no-wait`);
    const listed = async () => (await run('stuck list --json')).json() as unknown as Stuck;
    await expect
      .poll(async () => (await listed()).bookings.map((one) => one.intent_id), { timeout: 20_000 })
      .toContain(made.intent_id);
    return { id: made.intent_id, amount: made.escrow.amount };
  }

  proofTest('a traveller learns at once that the operator decides, and is not kept waiting for it', async () => {
    const { id } = await stuck();
    const book = await run(`book ${id} --json`, {}, 'traveller');
    const { error } = book.json() as { error: { code: string; message: string; next: string[] } };
    expect([book.exitCode, error.code]).toEqual([5, 'booking_in_review']);
    expect(error.message).toMatch(/operator was told .* in the escrow.* anyone can refund them from \d/);
    expect(error.next).toEqual([`farelock status ${id} --watch`]);
    expect(await asTraveller(`status ${id}`)).toMatchObject({
      status: 'active',
      operator_review_since: expect.stringMatching(/Z$/),
    });
    const { stdout } = await run(`status ${id}`, {}, 'traveller');
    expect(stdout).toMatch(/in review by the operator/);
    expect(stdout).not.toMatch(/the airline is issuing the ticket/);
  });

  test('ticketed: shown first, moved only when it is agreed to, and told by status, order and audit', async () => {
    const { id, amount } = await stuck();
    const screen = await run('stuck', { terminal: true, columns: 120 });
    expect(screen.stdout).toMatch(/^Kind +Id +Why +Since/);
    expect(screen.stdout).toContain('payment_pressed_no_confirmation');
    const shown = await run(`stuck show ${id}`, { terminal: true, columns: 120 });
    expect(shown.stdout).toMatch(/Escrow +open[\s\S]*not-ticketed\n[\s\S]*refund wallet/);

    const verdict = `stuck resolve ${id} ticketed --reference QX7RTP --ticket 999-1234567890`;
    const plan = (await run(`${verdict} --dry-run --json`)).json();
    expect(plan).toMatchObject({ dry_run: true, amount, decision: 'ticketed' });
    expect((await run(`${verdict} --json`)).exitCode).toBe(2);
    const declined = await run(verdict, { terminal: true, answers: [false] });
    expect([declined.exitCode, declined.stderr.includes('Capture')]).toEqual([6, true]);
    expect((await run(`stuck show ${id} --json`)).json()).toMatchObject({ is_stuck: true });

    const done = await run(`${verdict} --yes --json`);
    expect(done.exitCode, done.stdout + done.stderr).toBe(0);
    expect(done.json()).toMatchObject({ is_stuck: false, state: 'booked', decided: { decision: 'ticketed' } });
    expect(await asTraveller(`status ${id}`)).toMatchObject({ status: 'booked' });
    expect(await asTraveller(`order ${id}`)).toMatchObject({
      booking_reference: 'QX7RTP',
      documents: [{ type: 'electronic_ticket', number: '999-1234567890' }],
    });
    expect((await run(`stuck resolve ${id} not-ticketed --yes --json`)).exitCode).toBe(5);
    const trail = (await run(`audit --subject ${id} --json`)).json() as unknown as AuditTrail;
    expect(trail.entries.map((one) => one.action)).toEqual(['stuck.ticketed']);
    expect((await run('audit list --limit 5')).stdout).toContain('stuck.ticketed');
  });

  test('not-ticketed: the money is back, to the unit', async () => {
    const { id, amount } = await stuck();
    const before = await usdc();
    const done = await run(`stuck resolve ${id} not-ticketed --yes --json`);
    expect(done.exitCode, done.stdout + done.stderr).toBe(0);
    expect((done.json() as unknown as StuckItem).state).toBe('refunded');
    expect((await usdc()) - before).toBe(amount);
    expect(await asTraveller(`status ${id}`)).toMatchObject({ status: 'refunded', refund_reason: 'not_ticketed' });
  });

  proofTest('retry asks the website again; unresolved, it is exit 8', async () => {
    const { id } = await stuck();
    expect((await run(`stuck resolve ${id} retry --yes --json`)).exitCode).toBe(8);
    expect((await run(`stuck resolve ${id} retry --reference QX7RTP --yes`)).exitCode).toBe(2);
    expect((await run(`stuck resolve ${id} not-ticketed --yes`)).exitCode).toBe(0);
    expect((await run('stuck show int_nothing --json')).exitCode).toBe(3);
  });

  test('switches are shown, and turned after a question', async () => {
    expect((await run('switch --json')).json()).toEqual({ booking: 'on', lowcost: 'on' });
    expect((await run('switch lowcost off --dry-run --json')).json()).toMatchObject({ lowcost: 'off' });
    const declined = await run('switch lowcost off', { terminal: true, answers: [false] });
    expect([declined.exitCode, declined.stderr.includes('lowcost_booking_unavailable')]).toEqual([6, true]);
    expect((await run('switch lowcost --json')).exitCode).toBe(2);
    expect((await run('switch lowcost off --yes --json')).json()).toEqual({ booking: 'on', lowcost: 'off' });
    expect((await run('switch')).stdout).toMatch(/lowcost +off/);
    expect((await run('switch lowcost on --yes --json')).json()).toEqual({ booking: 'on', lowcost: 'on' });
  });
});

test('the pages of a visit are shown by a route or a booking that waits for nobody, and written to a folder', async () => {
  const environment = { FARELOCK_HOME: embedded.home, ...SERVICE };
  const run = (line: string) => runInMemory(line.split(' '), { environment });
  await run('stuck list');
  const store = await openStore(join(embedded.home, 'service.db'));
  const page = {
    url: () => 'https://www.carrier.example/search',
    context: () => ({ newCDPSession: () => Promise.reject(new Error('gone')) }),
  };
  const visit = { page: page as never, recipe: recipeFor('https://www.carrier.example'), personal: new Set<string>() };
  const secrets = openSecrets(join(embedded.home, 'keys', 'service.json'));
  await keepEvidence({ store, secrets, clock: worldClock }, visit, {
    subject: 'VIE-LIS',
    outcome: 'recipe_misfit',
    step: 'search 2',
  });
  await store.destroy();
  const folder = join(embedded.home, 'seen');
  const shown = await run(`stuck show VIE-LIS --evidence ${folder} --json`);
  const { id, evidence } = shown.json() as { id: string; evidence: { step: string; text_file: string }[] };
  expect([shown.exitCode, id, evidence[0]?.step]).toEqual([0, 'VIE-LIS', 'search 2']);
  expect(readFileSync(evidence[0]?.text_file ?? '', 'utf8')).toContain('www.carrier.example');
  expect((await run('stuck show VIE-LIS --evidence')).stdout).toContain('recipe_misfit');
  const none = await run('stuck show VIE-LGW --evidence --json');
  expect(none.json()).toMatchObject({ error: { code: 'stuck_not_found' } });
});
