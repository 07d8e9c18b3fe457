import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cabinLines, gridOf, seatPrice } from '../../src/cli/view/flights/seats.ts';
import { parseUsdc } from '../../src/kernel/money.ts';
import { plainPaint } from '../../src/terminal/paint.ts';
import type { CreatedIntent, Offer, OfferDetailsResponse, Order, SeatMap } from '../../src/wire/flights/index.ts';
import { ANA, runInMemory, temporaryHome } from './memory.ts';

const place = temporaryHome();
afterAll(() => place.close());
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' };
const run = (line: string, given: NonNullable<Parameters<typeof runInMemory>[1]> = {}) =>
  runInMemory(line.split(' '), { environment, ...given });

/** A seat without terms that a traveller can take, at its price. */
function freeSeats({ cabins }: SeatMap) {
  return cabins
    .flatMap((cabin) => gridOf(cabin).rows.flatMap(({ seats }) => seats))
    .flatMap((seat) => {
      const price = seat && !seat.disclosures ? seatPrice(seat, 0) : null;
      return seat && price !== null ? { designator: seat.designator, price: parseUsdc(price) } : [];
    });
}

test('seats are chosen from a map, locked, booked, and in the order, the status and the calendar', async () => {
  const { offers } = (await run('search LIS JFK --depart +30d --limit 500 --json offers')).json() as {
    offers: Offer[];
  };
  const at = offers.findIndex(
    ({ slices, total_currency, owner_name }) =>
      slices[0]?.segments.length === 2 && total_currency === 'USD' && owner_name !== 'Wayloft',
  );
  const shown = (await run(`offer ${at + 1} --seats --json`)).json() as unknown as OfferDetailsResponse;
  const [first, second] = shown.seat_maps as [SeatMap, SeatMap];
  const here = freeSeats(second)[0] ?? { designator: '', price: 0n };
  const price = (freeSeats(first)[0]?.price ?? 0n) + here.price;
  const map = await run(`offer ${at + 1} --seats`, { terminal: true, columns: 60 });
  for (const line of map.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(60);
  expect(map.stdout).toMatch(/^ {5}A {2}B/m);
  expect(map.stdout.replaceAll('\n', ' ')).toMatch(/USD: (0 free · )?1 [\d.]+ · .*× taken · ! terms/);
  expect(map.stderr).toMatch(/farelock intent \d+ --seats \d+[A-K]$/m);
  const plain = (await run(`offer ${at + 1} --seats --plain`)).stdout;
  expect(plain).toMatch(/^Row \d+: A (taken|[\d.]+ USD), .*, aisle, /m);
  expect(plain).not.toMatch(/[×●]/);

  const { origin_iata: from, destination_iata: to } = second;
  const seats = `${from}-${to}:${here.designator}/${freeSeats(first)[0]?.designator}`;
  expect((await run(`intent ${at + 1} --seats ${seats}`)).exitCode).toBe(2);
  const typed = `--seats ${freeSeats(first)[0]?.designator}/${here.designator}`;
  const made = (await run(`intent ${at + 1} ${typed} --json`)).json() as unknown as CreatedIntent;
  const total = parseUsdc(shown.offer.total_amount_decimal) + price;
  expect(made).toMatchObject({ escrow: { amount: Number(total) }, seats: { total_amount: Number(price) } });
  const booked = await run(`book ${made.intent_id} --passengers - --yes`, { stdin: JSON.stringify([ANA]) });
  expect(booked.stdout).toContain(
    `seats ${first.origin_iata} → ${first.destination_iata} ${freeSeats(first)[0]?.designator}`,
  );
  const calendar = join(place.home, 'trip.ics');
  const order = (await run(`order ${made.intent_id} --ics ${calendar} --json`)).json() as unknown as Order;
  expect(order.seats?.map(({ designator }) => designator)).toEqual([freeSeats(first)[0]?.designator, here.designator]);
  expect(
    readFileSync(calendar, 'utf8')
      .replaceAll('\r\n ', '')
      .match(/Seat \d+[A-K]/g),
  ).toEqual([`Seat ${freeSeats(first)[0]?.designator}`, `Seat ${here.designator}`]);
  const again = (await run(`intent ${at + 1} ${typed} --json`)).json().error as { code: string; next: string[] };
  expect(again).toMatchObject({
    code: 'seat_unavailable',
    next: [`farelock offer ${at + 1} --seats`, expect.anything()],
  });
});

test('a flight that the fare has not, and an offer without seats, are refused free of charge', async () => {
  const { offers } = (await run('search LIS BER --depart +30d --limit 500 --json offers')).json() as {
    offers: Offer[];
  };
  const agency = offers.findIndex(({ owner_name }) => owner_name === 'Wayloft') + 1;
  const none = await run(`offer ${agency} --seats`);
  expect([none.exitCode, none.stdout + none.stderr]).toEqual([
    5,
    expect.stringMatching(/shows no seats[\s\S]*cost nothing/),
  ]);
  const wrong = await run(`intent ${agency} --seats LIS-JFK:12A`);
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('LIS-JFK')]);
  expect((await run(`intent ${agency} --seats 12`)).exitCode).toBe(2);
  const paid = async () => (await run('payments list --json')).json().payments as object[];
  const before = (await paid()).length;
  const lowcost = await run('intent lowcost:any --seats 12A --json');
  expect([lowcost.exitCode, lowcost.json().error]).toMatchObject([5, { code: 'seats_unavailable' }]);
  expect(await paid()).toHaveLength(before);
  expect((await run(`offer ${agency} --seats --fares`)).exitCode).toBe(2);
});

test('a walk that is read aloud asks for a seat of each traveller, and Enter is none', async () => {
  const route = ['lisbon', 'ber', '+30d', '', '2', 'Search', 'Lorelei', 'Light'];
  let said = '';
  const walk = async (...answers: string[]) => {
    said = '';
    const given = { environment, terminal: true, columns: 100, answers: [...route, ...answers] };
    await runInMemory(['--plain'], { ...given, onStderr: (text) => (said += text) }).catch(() => undefined);
    return said;
  };
  const [, row, letter] = /^Row (\d+): .*?([A-F]) [\d.]+ USD(?!, with)/m.exec(await walk('Choose seats', 'back')) ?? [];
  const last = await walk('Choose seats', `${row}${letter?.toLowerCase()}`, `${row}${letter}`, '', '', '', 'Lock it');
  expect(last).toMatch(new RegExp(`^Seats: .* ${row}${letter}; [\\d.]+ USDC of the price`, 'm'));
  expect(last).toMatch(new RegExp(`farelock intent \\S+ --seats ${row}${letter}$`, 'm'));
});

const cabin = (rows: SeatMap['cabins'][number]['rows']): SeatMap => ({
  ...{ segment_index: 0, origin_iata: 'LIS', destination_iata: 'BER', flight_number: 'ZA1' },
  cabins: [{ deck: 0, cabin_class: 'economy', rows }],
});
const seat = (designator: string, price: string | null, more: object = {}) => ({
  designator,
  prices: price === null ? [] : [{ total_amount_decimal: price, ...more }],
});

test('a row that lacks a letter keeps its columns, and more than nine prices share bands', () => {
  const many = Array.from({ length: 12 }, (_, at) => [
    [seat(`${at + 3}A`, `${at + 1}.00`)],
    [seat(`${at + 3}D`, null)],
  ]);
  const map = cabin([
    [
      [seat('1A', '5.00'), seat('1B', '0.00'), seat('1C', null)],
      [seat('1D', '5.00'), seat('1E', '5.00')],
    ],
    [['exit_row'], ['exit_row']],
    [[seat('2A', '5.00', { passenger_indexes: [0] }), seat('2C', '5.00')], [seat('2E', '5.00')]],
    ...many,
  ]);
  const grid = gridOf(map.cabins[0] as SeatMap['cabins'][number]);
  const shown = { currency: 'USD', passenger: 1, chosen: ['1D'] };
  const { heading, rows, legend } = cabinLines(map, grid, shown, { paint: plainPaint, width: 80 });
  expect([...heading, ...rows.slice(0, 3)]).toEqual([
    '     A  B  C     D  E',
    '   1 3  0  ×     ●  3',
    '     – exit –',
    '   2 ×     3        3',
  ]);
  expect(legend.join(' ')).toContain('USD: 0 free · 1 1.00–2.00 · 2 3.00–4.00');
});
