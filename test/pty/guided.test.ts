import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { farelockIn, type Runner } from '../e2e/farelock.ts';
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
  const { payments } = (await tool.run(['payments', 'list', '--json'])).json<{
    payments: { amount: string }[];
  }>();
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
  const list = (await screen.shows(/Which flight\?[\s\S]*❯[\s\S]*Lorelei[\s\S]*Ctrl-C leave/)).split('\n');
  const lines = list.slice(list.findIndex((text) => text.includes('❯')));
  screen.type(KEYS.down.repeat(lines.findIndex((text) => text.includes('Lorelei'))));
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

test('Ctrl-C says at each step what is paid; a list follows the size of the terminal, with its mark', async () => {
  const home = join(tool.home, 'steps');
  const screen = openScreen([], { env: { ...tool.env, FARELOCK_HOME: home }, cwd: tool.home, rows: 40 });
  await answer(screen, /From: a city/, 'lisbon');
  await answer(screen, /To: a city/, 'ber');
  await answer(screen, /Depart, such as/, '+30d');
  await answer(screen, /Return: a date/, '+37d');
  await answer(screen, /Travellers, 1 to 9/, '');
  await answer(screen, /Search LIS → BER\?/, '');
  await screen.shows(/Which flight\?[\s\S]*❯[\s\S]*Ctrl-C leave/);
  screen.type(KEYS.down.repeat(2));
  // Drawn to its end: a terminal that changes its size between two halves of a frame breaks its lines.
  await screen.shows(/❯ →.* 3 [\s\S]*Ctrl-C leave$/);
  screen.resize(120, 40);
  await screen.shows(/ Time .*\n[\s\S]*❯ →.* 3 [\s\S]*Ctrl-C leave$/);
  screen.resize(80, 30);
  await screen.shows(/Local {9}\d\d .*\n(?!.* Time )[\s\S]*❯ →.* 3 [\s\S]*Ctrl-C leave$/);
  // Nothing of the wider list stays above it, once it is drawn to its end.
  await screen.shows(/^(?![\s\S]*Which flight\?[\s\S]*Which flight\?)/);
  screen.type(KEYS.ctrlC);
  expect(await screen.ended()).toBe(130);
  expect(screen.text()).toMatch(
    /Interrupted\. Paid so far: the search \(0\.10 USDC\); nothing is\s+locked\./,
  );
  expect(screen.text()).toMatch(/\$ farelock intent create <number>/);
});

test.each([
  {
    at: 'the question whether to lock the fare',
    walk: async (screen: Screen) => void (await screen.shows(/Lock this fare\?/)),
    said: /Paid so far: the search \(0\.10 USDC\); nothing is\s+locked\.[\s\S]*\$ farelock intent create off_/,
    locks: 0,
  },
  {
    at: 'a passenger’s family name',
    walk: async (screen: Screen) => {
      await answer(screen, /Lock this fare\?/, '');
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

test('Ctrl-C at the review leaves the ticket unpaid, and the next walk goes on with it to the booking', async () => {
  const first = begin(80);
  await toTheFare(first);
  await answer(first, /Lock this fare\?/, '');
  await answer(first, /Given names/, 'Ana');
  await answer(first, /Family name/, 'Moreira');
  await answer(first, /Born on/, '1990-04-12');
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
  await answer(second, /Go on with what you began\?\s+❯ LIS → BER/, '');
  await answer(second, /who flies\?\s+❯ ana/, '');
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
