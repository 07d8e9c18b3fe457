import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ANA } from '../cli/memory.ts';
import { farelockIn, type Runner } from '../e2e/farelock.ts';
import { proofTest } from '../proof-only.ts';
import { closeTerminals, KEYS, openScreen, type Screen } from './terminal.ts';

/** The walk of questions as a person walks it: real keys on a real terminal. */

let tool: Runner;
beforeAll(() => {
  tool = farelockIn({ FARELOCK_TICKETING_MS: '20' });
});
afterEach(closeTerminals);
afterAll(() => tool.close());

const begin = (columns: number): Screen =>
  openScreen([], { env: tool.env, cwd: tool.home, columns, rows: 40, thenStty: true });

const answer = async (screen: Screen, question: RegExp, typed: string) => {
  await screen.shows(question);
  screen.type(`${typed}${KEYS.enter}`);
};

const statuses = async () =>
  (await tool.run(['intent', 'list', '--json'])).json<{ intents: { status: string }[] }>().intents;

const bookingsPaid = async () => {
  const { payments } = (await tool.run(['payments', 'list', '--json'])).json<{ payments: { amount: string }[] }>();
  return payments.filter(({ amount }) => Number(amount) >= 10).length;
};

/** A search from Lisbon to Berlin, and the plainest fare of a Lorelei flight, which needs no documents. */
async function toTheFare(screen: Screen): Promise<void> {
  await answer(screen, /From: a city/, 'lisbon');
  await answer(screen, /To: a city/, 'ber');
  await answer(screen, /Depart, such as/, '+30d');
  await answer(screen, /Return: a date/, '');
  await answer(screen, /Travellers, 1 to 9/, '');
  await answer(screen, /Search LIS → BER\?/, '');
  // A terminal may show the screen half of the list alone.
  const list = (await screen.shows(/Which flight\?[\s\S]*❯[\s\S]*Lorelei[\s\S]*Ctrl-C quit/)).split('\n');
  const lines = list.slice(list.findIndex((text) => text.includes('❯')));
  const before = lines.slice(
    0,
    lines.findIndex((text) => text.includes('Lorelei')),
  );
  screen.type(KEYS.down.repeat(before.filter((text) => text.includes('→')).length));
  await answer(screen, /❯.*Lorelei/, '');
  await answer(screen, /Which fare\?/, '');
}

const LEFT_AS_IT_WAS = /stty: icanon isig echo|stty: isig icanon echo/;

test('Ctrl-C before anything costs says so; Esc goes back a question', async () => {
  const screen = begin(80);
  await answer(screen, /From: a city/, 'lisbon');
  await screen.shows(/To: a city/);
  screen.type(KEYS.escape);
  await screen.shows(/\? From: a city/);
  // The answer that is gone back to has left the screen with its question.
  await answer(screen, /\? From: a city/, 'porto');
  expect((await screen.shows(/To: a city/)).match(/^From /gm)).toHaveLength(1);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/Interrupted\. Nothing was paid\./);
  expect(screen.text()).toMatch(LEFT_AS_IT_WAS);
  expect(screen.hasCursor()).toBe(true);
});

proofTest('b at the search adds a bag each: the list is priced with it, and the command to copy says so', async () => {
  const screen = begin(80);
  await answer(screen, /From: a city/, 'lisbon');
  await answer(screen, /To: a city/, 'ber');
  await answer(screen, /Depart, such as/, '+30d');
  await answer(screen, /Return: a date/, '');
  await answer(screen, /Travellers, 1 to 9/, '');
  await screen.shows(/Search LIS → BER\?[\s\S]*checked bags each: 0/);
  screen.type('b');
  await screen.shows(/checked bags each: 1/);
  screen.type(KEYS.enter);
  const list = await screen.shows(/Which flight\?[\s\S]*Ctrl-C quit/);
  expect(list).toMatch(/with 1 bag each/);
  expect(list).toMatch(/--bags 1/);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
});

proofTest('Ctrl-C says at each step what is paid; a list follows the size of the terminal, with its mark', async () => {
  const home = join(tool.home, 'steps');
  const screen = openScreen([], { env: { ...tool.env, FARELOCK_HOME: home }, cwd: tool.home, rows: 40 });
  await answer(screen, /From: a city/, 'lisbon');
  await answer(screen, /To: a city/, 'ber');
  await answer(screen, /Depart, such as/, '+30d');
  await answer(screen, /Return: a date/, '+37d');
  await answer(screen, /Travellers, 1 to 9/, '');
  await answer(screen, /Search LIS → BER\?/, '');
  await screen.shows(/Which flight\?[\s\S]*❯[\s\S]*Ctrl-C quit/);
  screen.type(KEYS.down.repeat(2));
  // Drawn to its end: a terminal that changes its size between two halves of a frame breaks its lines.
  await screen.shows(/❯ →.*\n {2}←.*\n +3 [\s\S]*Ctrl-C quit$/);
  screen.resize(120, 40);
  await screen.shows(/ Time .* # Fare .*\n[\s\S]*❯ →.* 3 [\s\S]*Ctrl-C quit$/);
  screen.resize(80, 30);
  // Above the screen stands what the terminal itself has broken and moved there.
  const narrow = / Time .*\n +# Fare .*\n[\s\S]*❯ →.*\n {2}←.*\n +3 [\s\S]*Ctrl-C quit$/;
  const text = await screen.shows(narrow);
  const seen = text.split('\n').slice(-30).join('\n');
  expect(seen.match(/Which flight\?/g)).toHaveLength(1);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/Interrupted\. Paid so far: the search \(0\.10 USDC\); nothing is\s+locked\./);
  expect(screen.text()).toMatch(/ 1 .*[\s\S]*\$ farelock offer 1\n/);
});

proofTest.each([
  {
    at: 'the question whether to lock the fare',
    walk: async (screen: Screen) => void (await screen.shows(/Lock this fare for 0\.10 USDC\?/)),
    said: /Paid so far: the search \(0\.10 USDC\); nothing is\s+locked\.[\s\S]*\$ farelock intent [\d.]+\n/,
    locks: 0,
  },
  {
    at: 'a passenger’s family name',
    walk: async (screen: Screen) => {
      await answer(screen, /Lock this fare for 0\.10 USDC\?/, '');
      await answer(screen, /Given names/, 'Ana');
      await screen.shows(/Family name/);
    },
    said: /The fare is locked, and the ticket of [\d.,]+ USDC is not\s+paid\.[\s\S]*\$ farelock book int_\w+/,
    locks: 1,
  },
])('Ctrl-C at $at says what is locked and paid', async ({ walk, said, locks }) => {
  const env = { ...tool.env, FARELOCK_HOME: join(tool.home, `locks-${locks}`) };
  const screen = openScreen([], { env, cwd: tool.home, rows: 40, thenStty: true });
  await toTheFare(screen);
  await walk(screen);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(said);
  expect(screen.text()).toMatch(LEFT_AS_IT_WAS);
  expect(screen.hasCursor()).toBe(true);
  const { payments } = (await tool.run(['payments', 'list', '--json'], { env })).json<{
    payments: { resource: string }[];
  }>();
  expect(payments.filter(({ resource }) => resource === 'POST /air/intents')).toHaveLength(locks);
  expect(payments).toHaveLength(1 + locks);
});

/** By arrows, the first seat that is free next to another letter; none on further flights. */
async function chooseSeat(screen: Screen): Promise<void> {
  const map = await screen.shows(/\? Seat, LIS → [\s\S]*\[A\] B[\s\S]*No seat[\s\S]*Ctrl-C quit$/);
  const [, row = ''] = /^ +(\d+) . {2}\d {2}/m.exec(map.slice(map.indexOf('No seat'))) ?? [];
  screen.type(`${row}${KEYS.right}${KEYS.right}${KEYS.left}`);
  await screen.shows(new RegExp(`A \\[B\\] C[\\s\\S]*${row}B: [\\d.]+ USD`));
  screen.type(KEYS.enter);
  await answer(screen, /\? Seat, FRA → BER/, '');
  await answer(screen, new RegExp(`Change the seats: ${row}B for [\\d.]+ USD`), '');
  await screen.shows(new RegExp(`Seats .*${row}B; [\\d.]+ USDC of the price`));
}

test('Ctrl-C at the review leaves the ticket unpaid, and the next walk goes on with it to the booking', async () => {
  const first = begin(80);
  await toTheFare(first);
  await answer(first, /Lock this fare for 0\.10 USDC\?/, KEYS.down);
  await chooseSeat(first);
  await answer(first, /Given names/, 'Ana');
  await answer(first, /Family name/, 'Moreira');
  await answer(first, /Date of birth/, '1990-04-12');
  await answer(first, /\. Title/, KEYS.down.repeat(2));
  await answer(first, /\. Gender/, '');
  await answer(first, /E-mail/, 'ana@example.com');
  await answer(first, /Phone/, '+351912345678');
  await answer(first, /Save this traveller/, '');
  await answer(first, /Save as/, 'ana');
  await first.shows(/Pay [\d.,]+ USDC into the escrow and book\?/);
  expect(first.text()).toMatch(/Ms Ana Moreira, born 12 Apr 1990/);
  first.type(KEYS.ctrlC);
  expect(await first.ended()).toBe(130);
  expect(first.text()).toMatch(/The fare is locked, and the ticket of [\d.,]+ USDC is not paid\./);
  expect(first.text()).toMatch(/\$ farelock book int_\w+ --traveller ana/);
  expect(first.text()).toMatch(LEFT_AS_IT_WAS);
  expect(first.hasCursor()).toBe(true);
  expect(await statuses()).toMatchObject([{ status: 'active' }]);
  expect(await bookingsPaid()).toBe(0);

  const second = begin(140);
  await answer(second, /Continue where you left off\?\s+❯ LIS → BER/, '');
  await answer(second, /who is flying\?\s+❯ ana/, '');
  await answer(second, /Pay [\d.,]+ USDC into the escrow and book\?/, '');
  await second.shows(/Show the airline order\?/);
  expect(second.text()).toMatch(/✓ Paid [\d.,]+ USDC into the escrow[\s\S]* booked/);
  second.type(KEYS.ctrlC);
  expect(await second.ended()).toBe(130);
  expect(second.text()).toMatch(/Interrupted\. The flight is booked\./);
  expect(second.text()).not.toMatch(/not paid/);
  expect(second.text()).toMatch(LEFT_AS_IT_WAS);
  expect(second.brokenLines()).toEqual([]);
  expect(await statuses()).toMatchObject([{ status: 'booked' }]);
  expect(await bookingsPaid()).toBe(1);
});

/** What a person types: an arrow is one stroke. */
const strokes = (typed: string): number => typed.replaceAll(KEYS.down, '↓').length;

proofTest('a saved traveller books a return flight for two, with a bag, in at most 60 keystrokes', async () => {
  const env = { ...tool.env, FARELOCK_HOME: join(tool.home, 'strokes') };
  for (const name of ['ana', 'bea']) {
    const fields = { ...ANA, given_name: name, email: `${name}@example.com` };
    const added = await tool.run(['travellers', 'add', name, '-'], { env, input: JSON.stringify(fields) });
    expect(added.exitCode, added.stderr).toBe(0);
  }
  const screen = openScreen([], { env, cwd: tool.home, rows: 40, thenStty: true });
  let count = 0;
  const type = async (question: RegExp, typed: string) => {
    await screen.shows(question);
    count += strokes(typed);
    screen.type(typed);
  };
  const enter = KEYS.enter;
  await type(/From: a city/, `lisbon${enter}`);
  await type(/To: a city/, `ber${enter}`);
  await type(/Depart, such as/, `+30d${enter}`);
  await type(/Return: a date/, `+37d${enter}`);
  await type(/Travellers, 1 to 9/, `2${enter}`);
  await type(/Search LIS → BER\?/, enter);
  await type(/b with a bag/, 'b');
  await type(/with a bag: on/, `/lorelei${enter}`);
  await type(/search: lorelei/, enter);
  await type(/Which fare\?/, enter);
  await type(/Lock this fare for 0\.10 USDC\?/, enter);
  await type(/Passenger 1.*who is flying\?\s+❯ ana/, enter);
  await type(/Passenger 2.*who is flying\?\s+❯ bea/, enter);
  await type(/Pay [\d.,]+ USDC into the escrow and book\?/, enter);
  await type(/Show the airline order\?/, `${KEYS.down}${enter}`);
  expect(await screen.ended()).toBe(0);
  expect(screen.text()).toMatch(/ booked/);
  expect(count).toBeLessThanOrEqual(60);
});

/** The times at which the listed flights leave. */
const departures = (text: string): string[] =>
  [...text.slice(text.indexOf('Which flight?')).matchAll(/^[❯ ] → (\d\d:\d\d)–/gm)].map(([, at = '']) => at);

proofTest('the whole list is reached, sorted, narrowed down and looked into by keys, and paid once', async () => {
  const env = { ...tool.env, FARELOCK_HOME: join(tool.home, 'list') };
  const journey = async (on: Screen): Promise<void> => {
    await answer(on, /From: a city/, 'lisbon');
    await answer(on, /To: a city/, 'ber');
    await answer(on, /Depart, such as/, '+30d');
    await answer(on, /Return: a date/, '');
    await answer(on, /Travellers, 1 to 9/, '');
  };
  const screen = openScreen([], { env, cwd: tool.home, rows: 36, columns: 60, thenStty: true });
  await journey(screen);
  await answer(screen, /Search LIS → BER\?/, '');
  const first = await screen.shows(/\n1–\d+ of \d+\n[\s\S]*Ctrl-C quit$/);
  const [, total = ''] = /1–\d+ of (\d+)/.exec(first) ?? [];
  expect(Number(total)).toBeGreaterThan(20);
  screen.type('\u001b[F');
  await screen.shows(new RegExp(`\\n\\d+–${total} of ${total}\\n`));
  await screen.shows(new RegExp(`❯ →.*\\n +${total} `));
  screen.type('\u001b[H');
  await screen.shows(/\n1–\d+ of/);

  screen.type('ss');
  const byTime = departures(await screen.shows(/sort: departure/));
  expect(byTime.length).toBeGreaterThan(5);
  expect(byTime).toEqual(byTime.toSorted());
  screen.type('s');
  const byCo2 = await screen.shows(/ CO2\n[\s\S]*sort: CO2/);
  const kilos = [...byCo2.matchAll(/ (\d+) kg$/gm)].map(([, kg]) => Number(kg));
  expect(kilos.length).toBeGreaterThan(5);
  expect(kilos).toEqual(kilos.toSorted((a, b) => a - b));

  screen.type('d');
  const direct = await screen.shows(/direct only: on/);
  expect(direct).toMatch(new RegExp(`\\d+ of ${total} itineraries`));
  expect(direct).not.toMatch(/ 1 [A-Z]{3} /);
  screen.type('r');
  const refundable = await screen.shows(/refundable: on/);
  expect(refundable).toMatch(/ yes (yes|no {1}|– {2}) +\d/);
  screen.type('/nobody');
  await screen.shows(/Nothing matches\.[\s\S]*Search: nobody/);
  screen.type(KEYS.escape);
  await screen.shows(/❯ →[\s\S]*\/ search/);
  screen.type('i');
  await screen.shows(
    /LIS → BER {2}Mon 21 Dec 2026 {2}\d+h\d\d\n[\s\S]*\nBags {4}[\s\S]*\nRefund {2}yes[\s\S]*i hide details/,
  );
  screen.resize(80, 36);
  await screen.shows(/direct only: on[\s\S]*i hide details/);

  screen.type(KEYS.escape);
  await screen.shows(/You searched LIS → BER .* ago, and those fares are still\s+available\./);
  screen.type(KEYS.enter);
  await screen.shows(/Which flight\?[\s\S]*Ctrl-C quit$/);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(/Paid so far: the search \(0\.10 USDC\)/);
  expect(screen.text()).toMatch(LEFT_AS_IT_WAS);
  expect(screen.hasCursor()).toBe(true);

  const later = openScreen([], { env, cwd: tool.home, rows: 36, columns: 80 });
  await journey(later);
  await answer(later, /You searched LIS → BER .* ago, and those fares are still\s+available\./, '');
  await later.shows(new RegExp(`\\n1–\\d+ of ${total}\\n[\\s\\S]*Ctrl-C quit$`));
  later.type(KEYS.ctrlC);
  expect(await later.ended()).toBe(130);
  const { payments } = (await tool.run(['payments', 'list', '--json'], { env })).json<{ payments: unknown[] }>();
  expect(payments).toHaveLength(1);
});

proofTest('every question has the same mark and names the same keys', async () => {
  const env = { ...tool.env, FARELOCK_HOME: join(tool.home, 'marks') };
  const screen = openScreen([], { env, cwd: tool.home, rows: 40 });
  const like = (message: string) => new RegExp(`^\\? ${message}[\\s\\S]*Esc back · Ctrl-C quit$`, 'm');
  await screen.shows(like('From: '));
  await answer(screen, /From: a city/, 'lisbon');
  await screen.shows(like('To: '));
  await answer(screen, /To: a city/, 'zzqq');
  // What is wrong stands where the keys were, until something is typed.
  await screen.shows(/^> No airport matches zzqq/m);
  screen.type('\u007f'.repeat(4));
  await answer(screen, /Ctrl-C quit$/, 'ber');
  await screen.shows(like('Depart'));
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
});
