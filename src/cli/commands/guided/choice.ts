import {
  fromTo,
  harmlessDocument,
  isSpoken,
  type Screen,
  type StepLine,
  spokenPaint,
} from '../../../terminal/index.ts';
import { fareOf, fareOfOption, shortOf } from '../../session/index.ts';
import {
  airlineText,
  fareDetailLines,
  fareMenuLines,
  type ListRow,
  listParts,
  type NumberedFare,
  rowsOf,
  STACKED,
} from '../../view/flights/index.ts';
import { isMenuOffer, money, offerCommand, quoted } from '../../view/index.ts';
import { arranged, arrangementKeys } from './arrangement.ts';
import { lockCommand } from './commands.ts';
import { isTurnedDown, sayProblem } from './find.ts';
import { paidCall } from './money.ts';
import { type Found, type Step, said, type Walk } from './walk.ts';

/**
 * The screen inside a choice: its mark and a space stand before each line. Where questions are lines, nothing keeps
 * columns: each value has its name there.
 */
const insideOf = ({ context: { terminal, environment } }: Walk): Screen => ({
  paint: environment.TERM === 'dumb' ? spokenPaint : terminal.asideScreen.paint,
  width: terminal.asideScreen.width - 3,
});

/** The table of the search: the whole list, to be sorted, narrowed down and looked into. */
export const chooseItinerary: Step = async (walk) => {
  const { trip } = walk;
  const { list, title } = foundOf(walk);
  const { arrangement } = trip;
  const document = harmlessDocument(list);
  const rows = rowsOf(document.offers, title.grouped);
  const drawn = () => {
    const suiting = arranged(rows, arrangement);
    const sorted = { ...title, sort: arrangement.sort };
    const shown = { ...document, offers: suiting.map(({ offer }) => offer) };
    const { above, headings, itineraries } = listParts(shown, sorted, insideOf(walk), suiting);
    return {
      heading: suiting.length > 0 ? [...above, '', ...headings] : [...above, ''],
      lines: suiting.flatMap(({ fares: [fare] }, index) =>
        fare ? [{ name: (itineraries[index] ?? []).join('\n'), value: fare.offerId, number: fare.number }] : [],
      ),
    };
  };
  const answer = await walk.ask.choose<string>({
    message: 'Which flight?',
    ...drawn(),
    redrawn: drawn,
    preset: trip.marked ?? undefined,
    keys: arrangementKeys(arrangement),
    search: {
      text: () => arrangement.text,
      set(text) {
        arrangement.text = text;
      },
    },
    details: detailsIn(walk, rows),
  });
  // Who answers has seen the list: the same search once more is one of its own.
  await walk.context.session.paidHere.shown();
  if (answer.kind === 'back') return 'back';
  const row = rowOf(rows, answer.value);
  if (!row) return 'back';
  const { offer } = row;
  trip.offer = list.offers[rows.indexOf(row)] ?? null;
  trip.marked = answer.value;
  trip.offerId = null;
  const times = offer.slices.map((slice) => fromTo(slice.departing_at, slice.arriving_at)).join(' · ');
  const airline = offer.slices[0] ? airlineText(offer.slices[0]) : offer.owner_name;
  said(
    walk,
    'Flight',
    `${row.fares[0]?.number}.  ${times}  ${airline}`,
    offerCommand(offer.offer_id, shortOf(walk.context, offer.offer_id)),
  );
  return 'fare';
};

/** How many itineraries stay in sight after a walk that was cut off at its list. */
const LEFT = 5;

/**
 * The first itineraries as they were arranged, for a terminal that the question has left, and the command to go on with:
 * for the fare that is marked, or else the first one of these; null for an empty list.
 */
export function listLeft(walk: Walk): { readonly lines: readonly string[]; readonly next: string | null } {
  const { list, title } = foundOf(walk);
  const { arrangement, marked } = walk.trip;
  const document = harmlessDocument(list);
  const all = rowsOf(document.offers, title.grouped);
  const rows = arranged(all, arrangement);
  const shown = { ...document, offers: rows.map(({ offer }) => offer) };
  const sorted = { ...title, sort: arrangement.sort };
  const screen = walk.context.terminal.asideScreen;
  const { above, headings, itineraries } = listParts(shown, sorted, screen, rows);
  const left = rows.slice(0, LEFT).flatMap(({ fares }) => fares);
  const fare =
    all.flatMap(({ fares }) => fares).find(({ offerId }) => offerId === marked) ??
    left.find(({ offerId }) => !isMenuOffer(offerId)) ??
    left[0];
  return {
    lines: [...above, ...headings, ...itineraries.slice(0, LEFT).flat()],
    next: fare ? offerCommand(fare.offerId, fare.number) : null,
  };
}

const rowOf = (rows: readonly ListRow[], offerId: string): ListRow | undefined =>
  rows.find(({ fares }) => fares.some((fare) => fare.offerId === offerId));

/** The flights, bags and rules of the marked fare. */
const detailsIn =
  (walk: Walk, rows: readonly ListRow[]) =>
  (offerId: string): string[] => {
    const offer = rowOf(rows, offerId)?.offer;
    if (!offer) return [];
    const option = offer.fare_options?.find((one) => one.offer_id === offerId);
    const isFirst = !option || offerId === offer.offer_id;
    return fareDetailLines(isFirst ? fareOf(offer) : fareOfOption(offer, option), insideOf(walk));
  };

/** The fares of the itinerary unfold, under its flights. */
export const chooseFare: Step = async (walk) => {
  const { trip } = walk;
  const { list, title } = foundOf(walk);
  const document = harmlessDocument(list);
  const rows = rowsOf(document.offers, title.grouped);
  const row = trip.marked === null ? undefined : rowOf(rows, trip.marked);
  if (!trip.offer || !row) return 'back';
  const { fares, offer } = row;
  const drawn = () => {
    const inside = insideOf(walk);
    const screen = { ...inside, width: Math.min(inside.width, STACKED) };
    const { headings, itineraries } = listParts(document, title, screen, [row]);
    const [journeyHeading = '', fareHeading = ''] = headings;
    // A number leads it where it is read aloud.
    const lines = itineraries[0]?.slice(isSpoken(screen.paint) ? 1 : 0) ?? [];
    const journeys = lines.slice(0, offer.slices.length);
    return {
      heading: [journeyHeading, ...journeys, fareHeading].filter(Boolean),
      lines: fareLines(lines.slice(journeys.length), fares),
    };
  };
  const answer = await walk.ask.choose({
    message: 'Which fare?',
    ...drawn(),
    redrawn: drawn,
    preset: trip.marked ?? undefined,
    details: detailsIn(walk, rows),
  });
  if (answer.kind === 'back') return 'back';
  const fare = fares.find(({ offerId }) => offerId === answer.value);
  const price = fare ? `${fare.brand ?? 'fare'}  ${money(fare.price)} ${fare.currency}  ${fare.seller}` : '';
  if (isMenuOffer(answer.value)) {
    const chosen = await chooseFromMenu(walk, answer.value, price);
    if (chosen === null) return 'fare';
    trip.offerId = chosen;
  } else {
    trip.offerId = answer.value;
    said(walk, 'Fare', price, lockCommand(shortOf(walk.context, answer.value)));
  }
  return 'lock';
};

/** A line for each fare; how many sell the same for more is only shown. */
function fareLines(lines: readonly string[], fares: readonly NumberedFare[]): StepLine<string>[] {
  return lines.map((name, index) => {
    const fare = fares[index];
    return fare ? { name, value: fare.offerId, number: fare.number } : { name };
  });
}

/** The fare menu of a lowcost carrier: looked up, and paid for, when the person asks for it. */
async function chooseFromMenu(walk: Walk, offerId: string, price: string): Promise<string | null> {
  const { context, ask } = walk;
  const { session, signal, terminal, clock } = context;
  const open = await ask.choose({
    message: 'This is a low-cost flight: its fares have to be looked up. That costs 0.10 USDC if they are found.',
    lines: [
      { name: 'Look them up', value: true },
      { name: 'Choose another fare', value: false },
    ],
  });
  if (open.kind === 'back' || !open.value) return null;
  const flights = await session.flights();
  try {
    const { value } = await paidCall(walk, 'the fare menu', () =>
      flights.offerDetails(offerId, { signal, onPhase: () => terminal.phase('Opening the fare menu') }),
    );
    terminal.settle();
    said(walk, 'Fare', price, `farelock offer ${quoted(shortOf(context, offerId))}`);
    const menu = value.fare_menu;
    if (menu?.status !== 'ready' || menu.fares.length === 0) {
      terminal.note('Its fares could not be looked up.');
      return null;
    }
    const numbers = await session.recentOffers.rememberMenu(value.offer, menu.fares);
    const document = harmlessDocument(menu);
    const drawn = () => {
      const [heading = '', ...rest] = fareMenuLines(document, numbers, clock.now(), insideOf(walk));
      return {
        heading: [heading],
        lines: rest.flatMap((name, index) => {
          const fare = menu.fares[index];
          if (fare) return [{ name, value: fare.offer_id }];
          return name === '' ? [] : [{ name }];
        }),
      };
    };
    const answer = await ask.choose<string>({ message: 'Which fare from the menu?', ...drawn(), redrawn: drawn });
    await session.paidHere.shown();
    if (answer.kind === 'back') return null;
    const fare = menu.fares.find((one) => one.offer_id === answer.value);
    const menuFare = `${fare?.fare_brand_name ?? 'fare'}  ${money(fare?.total_amount_decimal ?? '0')} ${fare?.total_currency}`;
    said(walk, 'Menu', menuFare, lockCommand(shortOf(context, answer.value)));
    return answer.value;
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    await sayProblem(walk, error, { name: 'offer', line: offerCommand(offerId), options: { offerId } });
    return null;
  }
}

function foundOf({ trip }: Walk): Found {
  if (trip.found) return trip.found;
  throw new Error('nothing was searched');
}
