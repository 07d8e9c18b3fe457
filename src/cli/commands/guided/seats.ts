import type { WantedSeat } from '../../../kernel/domain/seats.ts';
import { travellerType } from '../../../kernel/domain/travel-ages.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { harmlessDocument, isSpoken, type Screen, type StepLine } from '../../../terminal/index.ts';
import type { OfferDetailsResponse, SeatMap, SeatMapSeat } from '../../../wire/flights/index.ts';
import { askedBags } from '../../searching/index.ts';
import { loadSeatView } from '../../view/flights/index.ts';
import { money } from '../../view/index.ts';
import { paidCall, type Walk } from './walk.ts';

type View = Awaited<ReturnType<typeof loadSeatView>>;

/** A seat to choose: which traveller, on which flight. */
interface Turn {
  readonly map: SeatMap;
  readonly passenger: number;
  readonly message: string;
}

/** Asks for a seat for each traveller on each flight. Reads the seats of the fare first, unless they are known. */
export async function chooseSeats(walk: Walk, offerId: string): Promise<void> {
  const { trip, context } = walk;
  const { signal, terminal, session } = context;
  const known = trip.seats?.offerId === offerId ? trip.seats.details : null;
  const details = known ?? (await readSeats());
  const view = await loadSeatView();
  const turns = turnsOf(details, view, trip.adults);
  const chosen: (WantedSeat | null)[] = turns.map(() => null);
  for (let at = 0; at < turns.length; ) {
    const turn = turns[at];
    const taken = chosen.flatMap((seat, other) => (seat && other !== at ? seat : []));
    const designator = turn && (await ask(walk, view, turn, details.offer.total_currency, taken));
    if (designator === undefined && at === 0) return;
    if (turn && designator !== undefined) {
      const place = { passenger_index: turn.passenger, segment_index: turn.map.segment_index };
      chosen[at] = designator === null ? null : { ...place, designator };
    }
    at += designator === undefined ? -1 : 1;
  }
  const seats = chosen.filter((seat) => seat !== null);
  const prices = seats.map(({ passenger_index, segment_index, designator }) => {
    const map = turns.find((turn) => turn.map.segment_index === segment_index)?.map;
    const seat = map && view.seatsOn(map).find((one) => one.designator === designator);
    return parseUsdc((seat && view.seatPrice(seat, passenger_index)) ?? '0');
  });
  const cost = formatUsdc(prices.reduce((sum, price) => sum + price, 0n));
  const names = seats.map(({ designator }) => designator).join(', ');
  trip.seats = { offerId, details, chosen: seats, said: `${names} for ${cost} ${details.offer.total_currency}` };

  async function readSeats(): Promise<OfferDetailsResponse> {
    const flights = await session.flights();
    const onPhase = () => terminal.phase('Reading the seats');
    const asked = { signal, seats: true, ...askedBags(trip.bags), onPhase };
    const { value } = await paidCall(walk, 'the seats', () => flights.offerDetails(offerId, asked));
    terminal.settle();
    await session.paidHere.shown();
    return harmlessDocument(value);
  }
}

function turnsOf({ offer, seat_maps: maps = [] }: OfferDetailsResponse, { mapTitle }: View, adults: number): Turn[] {
  const ages = offer.passengers?.map(({ age }) => age) ?? Array.from({ length: adults }, () => null);
  return maps.flatMap((map) =>
    ages.flatMap((age, passenger): Turn[] => {
      if (travellerType(age) === 'infant') return [];
      const who = ages.length === 1 ? '' : ` for traveller ${passenger + 1}${age === null ? '' : `, ${age} years old`}`;
      return [{ map, passenger, message: `Seat${who}, ${mapTitle(map)}` }];
    }),
  );
}

/** @returns null for no seat, undefined for going back */
async function ask(
  walk: Walk,
  view: View,
  turn: Turn,
  currency: string,
  others: readonly WantedSeat[],
): Promise<string | null | undefined> {
  const { map, passenger, message } = turn;
  const { terminal, environment } = walk.context;
  const grid = view.gridOf({ ...map.cabins[0], rows: map.cabins.flatMap(({ rows }) => rows) } as SeatMap['cabins'][0]);
  const chosen = others.flatMap((seat) => (seat.segment_index === map.segment_index ? seat.designator : []));
  const priceOf = (seat: SeatMapSeat | null | undefined) =>
    seat && !chosen.includes(seat.designator) ? view.seatPrice(seat, passenger) : null;
  const seats = grid.rows.flatMap((row) => row.seats);
  let column = Math.max(
    0,
    grid.columns.findIndex((_, at) => grid.rows.some((row) => priceOf(row.seats[at]) !== null)),
  );
  const linesOn = (screen: Screen) => view.cabinLines(map, grid, { passenger, currency, chosen, column }, screen);
  const screen = terminal.asideScreen;
  if (isSpoken(screen.paint) || environment.TERM === 'dumb') {
    const { rows, terms } = linesOn(screen);
    for (const line of [...rows, ...terms]) terminal.note(line);
    const named = (text: string) => seats.find((seat) => seat?.designator === text.trim().toUpperCase());
    const answer = await walk.ask.text({
      message: `${message}, such as 12A; Enter for none`,
      mayBeEmpty: true,
      check: async (text) => (priceOf(named(text)) === null ? 'That seat is taken, or not on this flight.' : null),
    });
    return answer.kind === 'back' ? undefined : (named(answer.value)?.designator ?? null);
  }
  const drawn = () => {
    const { heading, rows, legend, terms } = linesOn({ ...screen, width: terminal.asideScreen.width - 3 });
    const lines = grid.rows.map(({ number }, at): StepLine<string> => {
      const name = rows[at] ?? '';
      return number === null ? { name } : { name, value: number, number };
    });
    return { heading: [...legend, ...terms, ...heading], lines: [{ name: 'No seat', value: '' }, ...lines] };
  };
  const seatIn = (row: string) => grid.rows.find(({ number }) => number === row)?.seats[column];
  for (let preset = ''; ; ) {
    const answer = await walk.ask.choose<string>({
      message,
      ...drawn(),
      redrawn: drawn,
      preset,
      sideways(by) {
        column = (column + by + grid.columns.length) % grid.columns.length;
      },
      left: (row) => (row === '' ? '' : said(seatIn(row), priceOf(seatIn(row)), currency)),
    });
    if (answer.kind === 'back') return undefined;
    if (answer.value === '') return null;
    const seat = seatIn(answer.value);
    if (seat && priceOf(seat) !== null) return seat.designator;
    preset = answer.value;
  }
}

/** `12B: 14.00 USD`, `12B: taken` */
function said(seat: SeatMapSeat | null | undefined, price: string | null, currency: string): string {
  if (!seat) return 'No seat there';
  const cost = price === null ? 'taken' : Number(price) === 0 ? 'free of charge' : `${money(price)} ${currency}`;
  return [`${seat.designator}: ${cost}`, ...(seat.name ? [seat.name] : [])].join(', ');
}
