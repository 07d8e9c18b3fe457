import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { farelockIn, PASSENGER, type Runner, serveIn } from '../e2e/farelock.ts';
import { proofTest } from '../proof-only.ts';
import { rounds } from '../rounds.ts';
import { closeTerminals, KEYS, openScreen, type Screen } from './terminal.ts';

/** The live desk on a terminal: 12 requests, decided by keys and beside it by commands. */

let tool: Runner;
/** What is done beside the desk. */
let beside: Runner;
/** Another operator. */
let cleo: Record<string, string>;

interface Offers {
  readonly offers: readonly {
    readonly offer_id: string;
    readonly total_currency: string;
    readonly conditions: { refund_allowed: boolean | null; refund_penalty_amount: string | null } | null;
  }[];
}
interface Case {
  readonly request_id: string;
  readonly status: string;
  readonly claimed_by: string | null;
  readonly notes: readonly { readonly text: string }[];
}

const json = async <T>(...args: string[]): Promise<T> => {
  const ran = await beside.run([...args, '--json']);
  if (ran.exitCode !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return ran.json<T>();
};
const queued = async () => (await json<{ refund_requests: Case[] }>('refund', 'queue')).refund_requests;
const shown = (id: string) => json<Case>('refund', 'show', id);

/** How many requests there are at first. */
const ALL = rounds(7, 12);
const listed = (count: number, then: string) => new RegExp(`1-${count} of ${count}[\\s\\S]*${then}`);

beforeAll(async () => {
  tool = farelockIn({ FARELOCK_LOWCOST_MS: '10', FARELOCK_TICKETING_MS: '10' });
  beside = inMemory(tool);
  const passengers = join(tool.home, 'passengers.json');
  writeFileSync(passengers, JSON.stringify([PASSENGER]), { mode: 0o600 });
  await json('wallet', 'airdrop', '--usdc', '50000');
  const { offers } = await json<Offers>(
    ...['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--all-fares', '--limit', '500'],
  );
  const fares = offers.filter((one) => one.total_currency === 'USD' && !one.offer_id.startsWith('lowcost:'));
  const pays = fares.filter(
    ({ conditions }) => conditions?.refund_allowed === true && conditions.refund_penalty_amount !== null,
  );
  const keeps = fares.filter(({ conditions }) => conditions?.refund_allowed === false);
  // The first ones pay something out; of the rest, half do not.
  for (const { offer_id } of [...pays.slice(0, ALL - 4), ...keeps.slice(0, 4)]) {
    const { intent_id: id } = await json<{ intent_id: string }>('intent', 'create', offer_id);
    await json('book', id, '--passengers', passengers, '--yes');
    await json('refund', 'request', id, '--reason', 'I broke a leg.', '--yes');
  }
  cleo = { FARELOCK_OPERATOR_KEY: (await json<{ key: string }>('keys', 'issue', 'cleo')).key };
}, 240_000);
afterAll(() => {
  closeTerminals();
  tool.close();
});

const PASTE = `${KEYS.escape}[200~`;
const PASTED = `${KEYS.escape}[201~`;
const NOTE = '搭乗券を紛失しました👨‍👩‍👧‍👦 أُلغيت الرحلة';

const openDesk = (columns: number, rows = 30, env: Record<string, string | undefined> = {}): Screen =>
  openScreen(['refund', 'desk'], { columns, rows, env: { ...tool.env, ...env }, thenStty: true });
const leaves = async (screen: Screen, key: string, code: number) => {
  screen.type(key);
  expect(await screen.ended(), screen.text()).toBe(code);
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor()).toBe(true);
  // Back on the terminal's own screen.
  expect(screen.raw().lastIndexOf('\u001b[?1049l')).toBeGreaterThan(screen.raw().lastIndexOf('\u001b[?1049h'));
  expect(screen.brokenLines()).toEqual([]);
};

test('a request is approved by two keys: what moves is shown, Esc leaves it, and the money moves once', async () => {
  const [first, second] = await queued();
  const desk = openDesk(120);
  await desk.shows(listed(ALL, '▸ [\\s\\S]*│[\\s\\S]*I broke a leg\\.'));
  // A pasted text presses no keys.
  desk.type(`${PASTE}a\r${PASTED}`);
  desk.type('a');
  await desk.shows(/The treasury holds[\s\S]*Pay out [\d.]+ USDC\? +Enter yes, Esc no/);
  desk.type(KEYS.escape);
  await desk.shows(/Nothing changed\./);
  expect((await shown(first?.request_id ?? '')).status).toBe('received');
  desk.type('a');
  await desk.shows(/Pay out [\d.]+ USDC\?/);
  desk.type(KEYS.enter);
  await desk.shows(listed(ALL - 1, '✓ LIS → BER, .*: ticket cancelled, [\\d.]+ USDC paid out'));
  expect((await shown(first?.request_id ?? '')).status).toBe('refunded');
  // The next one has its place: a note goes there.
  await desk.shows(/I broke a leg\./);
  desk.type('n');
  await desk.shows(/Note:$/);
  desk.type(`${PASTE}Called them.\rThey said:\r\n${NOTE}${PASTED}`);
  await desk.shows(/Note: Called them\.\nThey said:\n搭乗/);
  desk.type(KEYS.enter);
  await desk.shows(/✓ .*note written/);
  expect((await shown(second?.request_id ?? '')).notes).toMatchObject([{ text: `Called them.\nThey said:\n${NOTE}` }]);
  await leaves(desk, 'q', 0);
  expect(desk.text()).toMatch(/✓ .*paid out\n✓ .*note written/);
});

test('a request is declined by keys, after its mail was shown', async () => {
  const [first] = await queued();
  const desk = openDesk(100);
  await desk.shows(/I broke a leg\./);
  desk.type('x');
  await desk.shows(/Message to the customer:$/);
  desk.type('The rules say yes');
  await desk.shows(/yes$/);
  desk.type(`\u0017no.${KEYS.enter}`);
  await desk.shows(/Refund request rejected[\s\S]*The rules say no\.[\s\S]*Reject, and send this\? +Enter yes/);
  expect((await shown(first?.request_id ?? '')).status).toBe('received');
  desk.type(KEYS.enter);
  await desk.shows(listed(ALL - 2, '✓ .*: rejected; the passenger gets the reason'));
  expect((await shown(first?.request_id ?? '')).status).toBe('rejected');
  await leaves(desk, 'q', 0);
});

proofTest('what others do shows up: a claim, a decision by a command; and a refusal is said in place', async () => {
  const [first, second] = await queued();
  const desk = openDesk(100);
  await desk.shows(listed(ALL - 2, ''));
  await beside.run(['refund', 'claim', first?.request_id ?? '', '--json'], { env: cleo });
  await desk.shows(listed(ALL - 2, '▸○[\\s\\S]*Claimed by +cleo'));
  for (const key of ['a', 'x', 'c', 'u']) {
    desk.type(key);
    await desk.shows(/✗ Another operator has claimed this case\.[\s\S]*cleo[\s\S]*\$ farelock refund show ref_/);
    desk.type(KEYS.down);
    desk.type(KEYS.up);
    await desk.shows(/^(?![\s\S]*✗)[\s\S]*all keys/);
  }
  const approved = await json<Case>('refund', 'approve', second?.request_id ?? '', '--yes');
  expect(approved.status).toBe('refunded');
  await desk.shows(/1-9 of 9/);
  // The case that somebody else decides under the mark makes room for the next one, and that is said.
  desk.type(KEYS.ctrlC);
  expect(await desk.ended(), desk.text()).toBe(130);
  expect(desk.text()).toMatch(/Interrupted\. Nothing was in progress\.[\s\S]*\$ farelock refund queue/);
  expect(desk.text()).toMatch(/stty: isig icanon echo$/);
  expect((await shown(first?.request_id ?? '')).claimed_by).toBe('cleo');
  await beside.run(['refund', 'claim', first?.request_id ?? '', '--release', '--json'], { env: cleo });
});

test('where the money goes stands whole before the question, however narrow the pane is', async () => {
  const { address } = await json<{ address: string }>('wallet', 'show');
  const desk = openDesk(80, 40);
  await desk.shows(/I broke a leg\./);
  desk.type('a');
  const asked = await desk.shows(/Pay out [\d.]+ USDC\?/);
  const pane = asked.split('\n').map((line) => line.split('│')[1]?.trim() ?? '');
  expect(pane.join('')).toContain(address);
  desk.type('n');
  await leaves(desk, 'q', 0);
});

test('Ctrl-C presses no key: nothing is claimed by its c', async () => {
  const desk = openDesk(80);
  await desk.shows(/I broke a leg\./);
  desk.type(KEYS.ctrlC);
  expect(await desk.ended()).toBe(130);
  expect(desk.text()).toMatch(/Nothing was in progress/);
  expect((await queued()).filter((one) => one.claimed_by !== null)).toEqual([]);
});

test('an amount of the operator’s own is asked for with its reason; what cannot be is said in place', async () => {
  const desk = openDesk(100);
  await desk.shows(/I broke a leg\./);
  const give = async (amount: string) => {
    desk.type('o');
    await desk.shows(/Pay out, in USDC:$/);
    desk.type(`${amount}${KEYS.enter}`);
  };
  await give('ten');
  await desk.shows(/Enter an amount such as [\d.]+\.\nPay out, in USDC:$/);
  desk.type(`90000${KEYS.enter}`);
  await desk.shows(/Enter [\d.]+ or less\.\nPay out, in USDC:$/);
  desk.type(`1${KEYS.enter}`);
  await desk.shows(/Reason \(kept in the audit log\):$/);
  desk.type(`Kind${KEYS.enter}`);
  await desk.shows(/this is a partial[\s\S]*Pay out 1\.00 USDC\?/);
  desk.type('n');
  await desk.shows(/Nothing changed/);
  await leaves(desk, 'q', 0);
});

proofTest('a narrow terminal shows one pane at a time, and a resize draws anew', async () => {
  const desk = openDesk(60, 20, { NO_COLOR: '1' });
  const queue = await desk.shows(/1-9 of 9[\s\S]*▸ [\s\S]*↑↓ Enter/);
  expect(queue).not.toMatch(/broke a leg/);
  desk.type(KEYS.enter);
  const one = await desk.shows(/← back/);
  expect(one).not.toMatch(/Leaves/);
  desk.resize(110, 30);
  await desk.shows(/Leaves[\s\S]*│[\s\S]*I broke a leg/);
  desk.resize(60, 20);
  await desk.shows(/^Refund desk[^│]*← back/);
  desk.type(KEYS.escape);
  await desk.shows(/↑↓ Enter/);
  desk.type('?');
  await desk.shows(/Nothing is paid or sent before you have seen it/);
  desk.type('x');
  await desk.shows(/↑↓ Enter/);
  expect(new RegExp(`${KEYS.escape}\\[\\d+m`).test(desk.raw()), 'colour under NO_COLOR').toBe(false);
  await leaves(desk, 'q', 0);
});

proofTest('what has not changed is not drawn again', async () => {
  const desk = openDesk(100);
  await desk.shows(/I broke a leg\./);
  await desk.shows(/1-9 of 9/);
  const before = desk.raw().length;
  await new Promise((resolve) => setTimeout(resolve, 3000));
  // At most the ages have moved on.
  expect(desk.raw().slice(before).split('Refund desk').length - 1).toBeLessThanOrEqual(1);
  await leaves(desk, 'q', 0);
});

proofTest(
  'a key pressed while the service is gone says what to do in the desk, and works once it is back',
  async () => {
    const server = await serveIn(tool);
    const port = new URL(server.flightsUrl).port;
    const key = readFileSync(server.operatorKeyFile, 'utf8').trim();
    const env = { FARELOCK_FLIGHTS_URL: server.flightsUrl, FARELOCK_OPERATOR_KEY: key };
    const desk = openDesk(80, 30, { ...env, FARELOCK_HOME: join(tool.home, 'operator') });
    await desk.shows(/I broke a leg\./);
    server.kill();
    await server.ended;
    await desk.shows(/✗ as of \d+ s ago/);
    desk.type('a');
    const refused = await desk.shows(
      /✗ Can't reach [\s\S]*shows whether it was done\. If not, press the\nkey again\.$/m,
    );
    expect(refused).not.toMatch(/Run the command|\$ farelock/);
    const again = await serveIn(tool, ['--port', port]);
    await desk.shows(/^Refund desk(?!.*✗)/);
    desk.type('a');
    await desk.shows(/Pay out [\d.]+ USDC\?/);
    desk.type('n');
    await leaves(desk, 'q', 0);
    await again.stop();
  },
);

proofTest('all of 3,060 requests are within reach: by keys, filters, order, and the customers’ words', async () => {
  const [first] = await queued();
  const at = await shown(first?.request_id ?? '');
  const database = new Sqlite(join(tool.home, 'service.db'), { timeout: 15_000 });
  // Copies of one that was requested before them, for the same booking; none of them has words.
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 3051)
    insert into refund_requests (request_id, intent_id, payment_key, state, reason_sealed, journey_date, requested_at_ms,
      claimed_by, claimed_by_name, due_at_ms, lease_until_ms, fence, attempts, updated_at_ms)
    select printf('ref_fill%04d', i), intent_id, 'krr_fill' || i, 'received', '', date('2027-01-01', (i % 300) || ' days'),
      requested_at_ms + 600000 + i, iif(i % 100 = 0, 'key_other', null), iif(i % 100 = 0, 'cleo', null),
      requested_at_ms, 0, 1, 0, requested_at_ms
    from n, refund_requests where request_id = '${at.request_id}'`);
  database.close();
  const desk = openDesk(100);
  await desk.shows(/ 1-\d+ of 3,060$/m);
  desk.type(`${KEYS.escape}[F`);
  await desk.shows(/ 3,0\d\d-3,060 of 3,060$[\s\S]*▸/m);
  desk.type('2');
  await desk.shows(/of 3,030 \(3,060 waiting\) · unclaimed$/m);
  desk.type('34');
  await desk.shows(/^Refund desk {2}0 of 0 \(3,060 waiting\) · .*\n[\s\S]*No request matches\. Esc shows all\./);
  desk.type('0D');
  await desk.shows(/of 3,060 · by departure$/m);
  desk.type('A/fill3051');
  await desk.shows(/ 1-1 of 1 \(3,060 waiting\) · “fill3051”$/m);
  desk.type(`\u0015broke a leg`);
  await desk.shows(/ 0 of 0 \(3,060 waiting\) · “broke a leg”$/m);
  desk.type(KEYS.enter);
  await desk.shows(/ 1-9 of 9 \(3,060 waiting\)[\s\S]*9 requests with “broke a leg”, the customers’ words included/);
  desk.type(KEYS.escape);
  await desk.shows(/of 3,060$/m);
  await leaves(desk, 'q', 0);
  const { entries } = await json<{ entries: { action: string; detail: object }[] }>(
    ...['audit', 'list', '--subject', 'refund-requests', '--limit', '500'],
  );
  expect(entries.map(({ detail }) => detail)).toEqual([{ looked: 60 }, ...Array(6).fill({ looked: 500 })]);
});

test('SIGTERM leaves the terminal as it was', async () => {
  const desk = openScreen(['refund', 'desk'], { columns: 80, env: tool.env });
  await desk.shows(/I broke a leg\./);
  desk.kill('SIGTERM');
  expect(await desk.ended()).toBe(130);
  expect(desk.raw().lastIndexOf('\u001b[?1049l')).toBeGreaterThan(desk.raw().lastIndexOf('\u001b[?1049h'));
  expect(desk.hasCursor()).toBe(true);
});

test('without a terminal the desk names the commands for scripts', async () => {
  const piped = await tool.run(['refund', 'desk']);
  expect([piped.exitCode, piped.stdout]).toEqual([2, '']);
  expect(piped.stderr).toMatch(/needs a terminal[\s\S]*refund queue, show, claim, note, approve and reject/);
});
