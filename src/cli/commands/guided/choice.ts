import { instant } from '../../../kernel/clock.ts';
import { filterOffers, hiddenTogether, type OfferFilters } from '../../../kernel/domain/offer-filters.ts';
import { type OfferSort, sortOffers } from '../../../kernel/domain/offers.ts';
import { farelock, type NextStep } from '../../../kernel/shell-word.ts';
import type { StepKey } from '../../../terminal/index.ts';
import {
  counted,
  fromNow,
  fromTo,
  harmless,
  harmlessDocument,
  isSpoken,
  type Screen,
  type StepLine,
  spokenPaint,
  wrap,
} from '../../../terminal/index.ts';
import type { SearchRequestInput } from '../../../wire/flights/index.ts';
import { askedBags, gatherOffers } from '../../searching/index.ts';
import { fareOf, fareOfOption, shortOf } from '../../session/index.ts';
import {
  airlineText,
  fareDetailLines,
  fareMenuParts,
  filterWords,
  hiddenLines,
  type ListRow,
  leftOutText,
  listParts,
  type NumberedFare,
  numberedOffers,
  priceShown,
  rowsOf,
  STACKED,
  stopsText,
} from '../../view/flights/index.ts';
import { isMenuOffer, lockCommand, money, offerCommand } from '../../view/index.ts';
import {
  loadBirthdays,
  openSearchMemory,
  paidSearch,
  type SearchMemory,
  searchRequestOf,
  titleOf,
  type WaitingOptions,
} from '../search/index.ts';
import { type Airlines, narrowingOf } from './narrowing.ts';
import {
  agrees,
  asFound,
  type Found,
  isTurnedDown,
  paidCall,
  type Searched,
  type Step,
  said,
  sayProblem,
  searchCommand,
  type Trip,
  type Walk,
} from './walk.ts';

/** Says the cost of a search before it is paid, and waits for the slower sellers. */
export const searchStep: Step = async (walk) => {
  const { trip, context } = walk;
  const wanted = await askWanted(walk);
  if (wanted === null) return 'back';
  const options = optionsOf(trip);
  const request = searchRequestOf(options);
  if (options.childAges) await (await loadBirthdays()).warnOfBirthdays(context, options);
  const known = memoryOf(walk).find(request);
  // A new search forgets the last result and choice.
  Object.assign(trip, { found: null, offer: null, offerId: null, marked: null });
  Object.assign(trip.arrangement, asFound());
  try {
    const found = wanted === 'known' && known ? known : await search(walk, request);
    const { list } = found;
    trip.found = found;
    await context.session.recentOffers.remember(list.offers, numberedOffers(list, true), trip.bags);
    if (list.offers.length > 0) return 'itinerary';
    context.terminal.note('No offers match. Try another day.');
    await context.session.paidHere.shown();
    return 'depart';
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    await sayProblem(walk, error, { name: 'search', ...searchCommand(trip) });
    return 'from';
  }
};

const optionsOf = (trip: Trip): WaitingOptions => ({
  from: trip.from?.iata ?? '',
  to: trip.to?.iata ?? '',
  depart: trip.depart ?? '',
  ...(trip.back !== null && { return: trip.back }),
  ...(trip.onward.length > 0 && { onward: trip.onward.slice() }),
  adults: trip.adults,
  ...(trip.childAges.length > 0 && { childAges: trip.childAges.slice() }),
  bags: trip.bags.checked,
  ...(trip.bags.carry_on > 0 && { carryOn: true as const }),
  wait: true,
});

/** Remembers the lists of walks: a search is not paid for again while one of its offers is available. */
const memoryOf = ({ context }: Walk): SearchMemory<Searched> =>
  openSearchMemory(
    context,
    'recent-walks.json',
    ({ list, ...rest }, nowMs) => {
      const offers = list.offers.filter((offer) => Date.parse(offer.expires_at) > nowMs);
      return offers.length === 0 ? null : { ...rest, list: { ...list, offers, total_offers: offers.length } };
    },
    Number.POSITIVE_INFINITY,
  );

/** Asks whether to search. Keys change the bags, which saves a question. */
async function askWanted(walk: Walk) {
  const { trip, ask, context } = walk;
  const { clock, terminal } = context;
  const cities = trip.onward.map((flight) => flight.split('@')[0]?.replace('-', ' → '));
  const route = [`${trip.from?.iata} → ${trip.to?.iata}`, ...cities].join(', ');
  const knownNow = () => memoryOf(walk).find(searchRequestOf(optionsOf(trip)));
  const known = knownNow();
  const drawn = () => {
    const found = knownNow();
    return {
      lines: [
        ...(found ? [{ name: 'Show them again, free of charge', value: 'known' as const }] : []),
        { name: found ? `Search again, for ${terminal.usdc('0.10')}` : 'Search', value: 'search' as const },
        { name: 'Change something', value: null },
      ],
    };
  };
  const answer = await ask.choose<'known' | 'search' | null>({
    message: known
      ? `You searched ${route} ${fromNow(instant(known.atMs), clock.now())}, and those fares are still available.`
      : `Search ${route}? It costs ${terminal.usdc('0.10')}, more at busy times.`,
    ...drawn(),
    redrawn: drawn,
    keys: bagKeys(trip),
  });
  return answer.kind === 'back' ? null : answer.value;
}

const MOST_BAGS = 3;

const bagKeys = (trip: Trip): StepKey[] => [
  {
    key: 'b',
    label: () => `checked bags each: ${trip.bags.checked}`,
    press() {
      trip.bags = { ...trip.bags, checked: (trip.bags.checked + 1) % (MOST_BAGS + 1) };
    },
  },
  {
    key: 'c',
    label: () => `cabin bag each: ${trip.bags.carry_on > 0 ? 'yes' : 'no'}`,
    press() {
      trip.bags = { ...trip.bags, carry_on: 1 - trip.bags.carry_on };
    },
  },
];

async function search(walk: Walk, request: SearchRequestInput): Promise<Found> {
  const { trip, context } = walk;
  const { session, signal, terminal } = context;
  const title = titleOf(optionsOf(trip));
  const flights = await session.flights();
  const { value, payment } = await paidCall(walk, 'the search', () => paidSearch(context, flights, request));
  const limit = Number.POSITIVE_INFINITY;
  const { list, ended } = await gatherOffers(context, flights, { first: value, request, title, limit });
  if (ended.kind === 'interrupted') throw signal.reason;
  terminal.settle();
  const count = counted(list.total_offers, 'itinerary', 'itineraries');
  said(walk, 'Search', `${count}${payment ? `, ${terminal.usdc(payment.amount)}` : ''}`, searchCommand(trip));
  if (list.sellers_left_out) terminal.note(leftOutText(list));
  if (ended.kind !== 'complete') terminal.note('Slower sellers may be missing from this list.');
  return memoryOf(walk).remember(request, { request, list, title });
}

/**
 * The screen inside a choice, narrower by the mark at the start of each line. A dumb terminal does not keep columns, so
 * each value is named.
 */
const insideOf = ({ context: { terminal, environment } }: Walk): Screen => ({
  paint: environment.TERM === 'dumb' ? spokenPaint : terminal.asideScreen.paint,
  width: terminal.asideScreen.width - 3,
});

/** Draws the list as it is sorted and narrowed now, and returns all of its rows too. */
function arrangedList(walk: Walk, screen: Screen) {
  const { list, title } = foundOf(walk);
  const { arrangement, airlines } = walk.trip;
  const document = harmlessDocument(list);
  const all = rowsOf(document.offers, title.grouped);
  const { words, filters, wrong } = narrowingOf(arrangement.text, airlines ?? NO_AIRLINES);
  const { passed, hidden } = narrowed(all, filters, airlines ?? NO_AIRLINES);
  const rows = arranged(passed, { ...arrangement, text: words });
  const shown = { ...document, offers: rows.map(({ offer }) => offer) };
  const { above, ...parts } = listParts(shown, { ...title, sort: arrangement.sort }, screen, rows);
  const said = [...hiddenLines(hidden, screen), ...(wrong === null ? [] : wrap(harmless(wrong), screen.width))];
  return { ...parts, above: [...above, ...said.map(screen.paint.dim)], all, rows, filters };
}

const NO_AIRLINES: Airlines = { airlineKnown: () => null, airlinesNear: () => [] };

/** The fares that pass the filters, with their itineraries, and how many each filter hides. */
function narrowed(rows: readonly ListRow[], filters: OfferFilters, { airlineKnown }: Airlines) {
  const each = rows.map((row) => ({
    row,
    ...filterOffers(
      row.fares.map((fare) => asOffer(row, fare)),
      filters,
      airlineKnown,
    ),
  }));
  return {
    passed: each.flatMap(({ row, passed }) =>
      passed.length === 0 ? [] : [{ ...row, fares: passed.map(({ fare }) => fare) }],
    ),
    hidden: hiddenTogether(...each.map(({ hidden }) => hidden)),
  };
}

/** Turns a fare of an itinerary into an offer of its own. */
function asOffer({ offer }: ListRow, fare: NumberedFare) {
  const brands = fare.fare_brand_name?.split(' / ') ?? [null];
  return {
    ...offer,
    ...fare,
    fare,
    slices: offer.slices.map((slice, at) => ({ ...slice, fare_brand_name: brands[at] ?? brands[0] ?? null })),
    conditions: { refund_allowed: fare.refundable },
    total_amount: Math.round(Number(fare.total_amount_decimal) * 1_000_000),
  };
}

/** Shows the whole list, to sort, narrow down and look into. */
export const chooseItinerary: Step = async (walk) => {
  const { trip, context } = walk;
  const { arrangement } = trip;
  trip.airlines ??= await import('../../../kernel/domain/airline-table.ts');
  const { all } = arrangedList(walk, insideOf(walk));
  const drawn = () => {
    const { above, headings, itineraries, rows } = arrangedList(walk, insideOf(walk));
    return {
      heading: rows.length > 0 ? [...above, '', ...headings] : [...above, ''],
      lines: rows.flatMap(({ fares: [fare] }, index) =>
        fare ? [{ name: (itineraries[index] ?? []).join('\n'), value: fare.offer_id, number: fare.number }] : [],
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
      hint: 'search, or filter: --no-basic --max-duration 5h',
    },
    details: detailsIn(walk, all),
    left: leftIn(walk, all),
  });
  // The answer proves that the list was seen: the same search made again is a new one.
  await context.session.paidHere.shown();
  const row = answer.kind === 'back' ? undefined : rowOf(all, answer.value);
  if (answer.kind === 'back' || !row) return 'back';
  const { offer } = row;
  trip.offer = foundOf(walk).list.offers[all.indexOf(row)] ?? null;
  trip.marked = answer.value;
  trip.offerId = null;
  const times = offer.slices.map((slice) => fromTo(slice.departing_at, slice.arriving_at)).join(' · ');
  const airline = offer.slices[0] ? airlineText(offer.slices[0]) : offer.owner_name;
  const command = offerCommand(offer.offer_id, shortOf(context, offer.offer_id));
  const filters = filterWords(arrangedList(walk, insideOf(walk)).filters);
  if (filters.length > 0) said(walk, 'Filters', filters.join(' '), searchCommand(trip, filters));
  said(walk, 'Flight', `${row.fares[0]?.number}.  ${times}  ${airline}`, command);
  return 'fare';
};

/** The number of itineraries that stay on the screen after a walk is cut off at its list. */
const LEFT = 5;

/**
 * The first itineraries of the list, to print once the question has left the screen. `next` is the command for the
 * marked fare, or else for the first fare of these itineraries; null for an empty list.
 */
export function listLeft(walk: Walk): { readonly lines: readonly string[]; readonly next: NextStep | null } {
  const { above, headings, itineraries, all, rows } = arrangedList(walk, walk.context.terminal.asideScreen);
  const left = rows.slice(0, LEFT).flatMap(({ fares }) => fares);
  const fare =
    all.flatMap(({ fares }) => fares).find(({ offer_id }) => offer_id === walk.trip.marked) ??
    left.find(({ offer_id }) => !isMenuOffer(offer_id)) ??
    left[0];
  return {
    lines: [...above, ...headings, ...itineraries.slice(0, LEFT).flat()],
    next: fare ? offerCommand(fare.offer_id, fare.number) : null,
  };
}

const rowOf = (rows: readonly ListRow[], offerId: string): ListRow | undefined =>
  rows.find(({ fares }) => fares.some((fare) => fare.offer_id === offerId));

const detailsIn =
  (walk: Walk, rows: readonly ListRow[]) =>
  (offerId: string): string[] => {
    const offer = rowOf(rows, offerId)?.offer;
    if (!offer) return [];
    const option = offer.fare_options?.find((one) => one.offer_id === offerId);
    const isFirst = !option || offerId === offer.offer_id;
    return fareDetailLines(isFirst ? fareOf(offer) : fareOfOption(offer, option), insideOf(walk));
  };

const leftIn =
  ({ context: { clock } }: Walk, rows: readonly ListRow[]) =>
  (offerId: string): string => {
    const seconds = Math.floor((Date.parse(rowOf(rows, offerId)?.offer.expires_at ?? '') - clock.now()) / 1_000);
    return seconds > 0
      ? `This offer ends in ${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
      : 'This offer has ended: go back, and search again.';
  };

/** Unfolds the fares of the itinerary under its flights. */
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
    // Skips the row number, which is the first line for screen readers.
    const lines = itineraries[0]?.slice(isSpoken(screen.paint) ? 1 : 0) ?? [];
    const journeys = lines.slice(0, offer.slices.length);
    return {
      heading: [journeyHeading, ...journeys, fareHeading].filter(Boolean),
      // The line that counts sellers with higher prices is not a choice.
      lines: lines.slice(journeys.length).map((name, index): StepLine<string> => {
        const fare = fares[index];
        return fare ? { name, value: fare.offer_id, number: fare.number } : { name };
      }),
    };
  };
  const answer = await walk.ask.choose({
    message: 'Which fare?',
    ...drawn(),
    redrawn: drawn,
    preset: trip.marked ?? undefined,
    details: detailsIn(walk, rows),
    left: leftIn(walk, rows),
  });
  if (answer.kind === 'back') return 'back';
  const fare = fares.find(({ offer_id }) => offer_id === answer.value);
  const price = fare
    ? `${fare.fare_brand_name ?? 'fare'}  ${money(priceShown(fare) ?? fare.total_amount_decimal)} ${fare.total_currency}  ${fare.owner_name}`
    : '';
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

/** Looks up and pays for the fare menu of a low-cost carrier, once the person agrees. */
async function chooseFromMenu(walk: Walk, offerId: string, listed: string): Promise<string | null> {
  const { context, ask } = walk;
  const { session, signal, terminal, clock } = context;
  const question = `This is a low-cost flight, and needs passports. Looking up its fares costs ${terminal.usdc('0.10')} if they are found.`;
  if (!(await agrees(walk, question, 'Look them up', 'Choose another fare'))) return null;
  const flights = await session.flights();
  try {
    const { value } = await paidCall(walk, 'the fare menu', () =>
      flights.offerDetails(offerId, {
        signal,
        ...askedBags(walk.trip.bags),
        onPhase: () => terminal.phase('Opening the fare menu'),
      }),
    );
    terminal.settle();
    said(walk, 'Fare', listed, farelock`offer ${shortOf(context, offerId)}`);
    const menu = value.fare_menu;
    if (menu?.status !== 'ready' || menu.fares.length === 0) {
      terminal.note('Its fares could not be looked up.');
      return null;
    }
    const numbers = await session.recentOffers.rememberMenu(value.offer, menu.fares);
    const document = harmlessDocument(menu);
    const drawn = () => {
      const { heading, fares, foot } = fareMenuParts(document, numbers, clock.now(), insideOf(walk));
      return {
        heading,
        lines: [
          ...menu.fares.map((fare, index) => ({ name: fares[index] ?? '', value: fare.offer_id })),
          ...foot.map((name) => ({ name })),
        ],
      };
    };
    const answer = await ask.choose<string>({ message: 'Which fare from the menu?', ...drawn(), redrawn: drawn });
    await session.paidHere.shown();
    if (answer.kind === 'back') return null;
    const fare = menu.fares.find((one) => one.offer_id === answer.value);
    const price = (fare && priceShown(fare)) ?? fare?.total_amount_decimal ?? '0';
    const menuFare = `${fare?.fare_brand_name ?? 'fare'}  ${money(price)} ${fare?.total_currency}`;
    said(walk, 'Menu', menuFare, lockCommand(shortOf(context, answer.value)));
    return answer.value;
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    await sayProblem(walk, error, { name: 'offer', ...offerCommand(offerId), options: { offerId } });
    return null;
  }
}

function foundOf({ trip }: Walk): Found {
  if (trip.found) return trip.found;
  throw new Error('nothing was searched');
}

type Arrangement = ReturnType<typeof asFound>;

const SORTS = { price: 'price', duration: 'duration', departure: 'departure', emissions: 'CO2' } as const;

/** The matching itineraries, sorted, each with the first of its matching fares. */
function arranged(rows: readonly ListRow[], arrangement: Arrangement): ListRow[] {
  const suiting = rows.flatMap((row) => {
    const fare = row.fares.find((one) => suits(row, one, arrangement));
    return fare ? [{ offer: row.offer, fares: [fare], sameForMore: 0, ...orderOf(row, fare) }] : [];
  });
  return sortOffers(suiting, arrangement.sort);
}

function suits({ offer }: ListRow, fare: NumberedFare, asked: Arrangement): boolean {
  if (asked.isDirect && offer.slices.some((slice) => slice.stops > 0)) return false;
  if (asked.hasBag && !fare.checked_bags_included) return false;
  if (asked.isRefundable && fare.refundable !== true) return false;
  const flights = offer.slices.flatMap((slice) => [
    airlineText(slice),
    stopsText(slice),
    ...slice.segments.flatMap((one) => [one.marketing_carrier_name, one.carrier_name, one.flight_number]),
  ]);
  const text = plain([...flights, fare.fare_brand_name, fare.owner_name].join(' '));
  return plain(asked.text)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();

/** The sort keys of the shown fare, which may not be the cheapest. */
const orderOf = ({ offer }: ListRow, fare: NumberedFare) => ({
  offer_id: fare.offer_id,
  departing_at: offer.departing_at,
  slices: offer.slices,
  total_amount: Number(fare.total_amount_decimal),
  total_currency: fare.total_currency,
  total_emissions_kg: offer.total_emissions_kg,
  with_bags: fare.with_bags,
});

function arrangementKeys(arrangement: Arrangement): StepKey[] {
  const filter = (key: string, name: string, field: 'isDirect' | 'hasBag' | 'isRefundable'): StepKey => ({
    key,
    label: () => (arrangement[field] ? `${name}: on` : name),
    press() {
      arrangement[field] = !arrangement[field];
    },
  });
  return [
    {
      key: 's',
      label: () => `sort: ${SORTS[arrangement.sort]}`,
      press() {
        const sorts = Object.keys(SORTS) as OfferSort[];
        arrangement.sort = sorts[(sorts.indexOf(arrangement.sort) + 1) % sorts.length] ?? 'price';
      },
    },
    filter('d', 'direct only', 'isDirect'),
    filter('b', 'with a bag', 'hasBag'),
    filter('r', 'refundable', 'isRefundable'),
  ];
}
