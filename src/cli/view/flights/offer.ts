import type { KnownOrder } from '../../../client/base/index.ts';
import type { WantedSeat } from '../../../kernel/domain/seats.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import {
  capital,
  counted,
  dayName,
  durationMinutes,
  fieldLines,
  fromTo,
  harmless,
  harmlessDocument,
  hoursAndMinutes,
  listLines,
  localMinutes,
  momentText,
  type Paint,
  padEnd,
  type Screen,
  textWidth,
  utcTime,
  wrap,
} from '../../../terminal/index.ts';
import type {
  Conditions,
  FareMenu,
  Intent,
  MenuFare,
  OfferDetailsResponse,
  OfferPassenger,
  Passenger,
  Slice,
  WithBags,
} from '../../../wire/flights/index.ts';
import type { KnownFare } from '../../session/index.ts';
import { money } from '../index.ts';
import { bagsText, eachText, priceShown } from './fares.ts';

/** A direction, leg by leg: local times, airports with terminals, flight and aircraft, the wait between two legs. */
export function sliceLines(slice: Slice, { paint }: Screen): string[] {
  const places = slice.segments.map((segment) => {
    const from = `${segment.origin_iata}${segment.origin_terminal ? ` T${segment.origin_terminal}` : ''}`;
    const to = `${segment.destination_iata}${segment.destination_terminal ? ` T${segment.destination_terminal}` : ''}`;
    return `${from} → ${to}`;
  });
  const width = Math.max(...places.map(textWidth));
  const total = hoursAndMinutes(durationMinutes(slice.duration));
  const lines = [
    `${paint.bold(`${slice.origin_iata} → ${slice.destination_iata}`)}  ${dayName(slice.departing_at)}  ${paint.dim(total)}`,
  ];
  for (const [index, segment] of slice.segments.entries()) {
    const before = slice.segments[index - 1];
    if (before) {
      const wait = localMinutes(segment.departing_at) - localMinutes(before.arriving_at);
      lines.push(paint.dim(`  ╌ ${hoursAndMinutes(wait)} in ${segment.origin_iata}`));
    }
    const operated =
      segment.carrier_name === segment.marketing_carrier_name
        ? segment.carrier_name
        : `${segment.marketing_carrier_name}, operated by ${segment.carrier_name}`;
    const technical =
      segment.technical_stops > 0 ? `technical stop ${segment.technical_stop_airports.join(' ')}` : null;
    const facts = [segment.flight_number, operated, segment.aircraft_name, technical].filter(Boolean).join(' · ');
    lines.push(
      `  ${padEnd(fromTo(segment.departing_at, segment.arriving_at), 13)}  ${padEnd(places[index] ?? '', width)}  ${paint.dim(facts)}`,
    );
  }
  return lines;
}

/** One offer in full: its flights, its fare and conditions, the parts of its price, and possible extras. */
export function offerLines(
  { offer, available_services: services, fare_menu: menu }: OfferDetailsResponse,
  /** The number to type for a fare of its menu, by offer id. */
  numbers: Readonly<Record<string, string>>,
  nowMs: number,
  screen: Screen,
): string[] {
  const { paint } = screen;
  // Other deployments leave out what they don't know.
  const unknown = (value: string | number | null | undefined) => String(value ?? '–');
  const amount = (decimal: string | null | undefined) => (decimal == null ? '–' : money(decimal));
  const price = `${money(offer.total_amount_decimal)} ${offer.total_currency}`;
  const lines = [
    ...offer.slices.flatMap((slice) => [...sliceLines(slice, screen), '']),
    ...fieldLines(paint.dim, [
      [
        'Price',
        `${paint.bold(price)}  ${paint.dim(`base ${amount(offer.base_amount_decimal)}, tax ${amount(offer.tax_amount_decimal)}`)}`,
      ],
      ['For', offer.passengers ? sharesText(offer.passengers) : null],
      ['Fare', `${unknown(offer.fare_brand_name)}, ${cabinText(offer)}`],
      ['Seller', offer.owner_name],
      ['Checked bags', unknown(offer.checked_bags_included)],
      ['Cabin bags', unknown(offer.carry_on_bags_included)],
      ['With bags', offer.with_bags ? withBagsText(offer.with_bags, offer.total_currency) : null],
      ['Refund', conditionText(offer.conditions, 'refund')],
      ['Change', conditionText(offer.conditions, 'change')],
      ['CO2', offer.total_emissions_kg == null ? '–' : `${offer.total_emissions_kg} kg`],
      ['Loyalty', offer.supported_loyalty_programmes?.join(', ') || '–'],
      ['Passports', offer.identity_documents_required ? `needs ${PASSPORTS}` : null],
      ['Good until', momentText(offer.expires_at, nowMs)],
      ...holdFields(offer, nowMs),
    ]),
  ];
  if (services.length > 0) {
    lines.push(
      '',
      ...listLines({ paint }, services, [
        {
          title: 'Extra',
          cell: ({ baggage_type: bag, type }) => (bag == null ? type : `${bag.replaceAll('_', '-')} bag`),
        },
        { title: 'Up to', cell: (one) => String(one.maximum_quantity) },
        { title: 'Weight', cell: ({ maximum_weight_kg: kg }) => (kg == null ? '–' : `${kg} kg`) },
        { title: 'Each', align: 'right', cell: (one) => `${money(one.total_amount_decimal)} ${one.total_currency}` },
      ]),
      paint.dim('Bags are bought with the fare: lock it with --bags or --carry-on.'),
    );
  }
  if (isUndisclosed(offer, services)) lines.push('', paint.dim('– not disclosed by the airline'));
  if (menu) {
    const { heading, fares, foot } = fareMenuParts(menu, numbers, nowMs, screen);
    lines.push('', ...heading, ...fares, ...(fares.length > 0 ? ['', ...foot] : foot));
  }
  return lines;
}

/** Says that an airline would keep the seats unpaid, and that this service does not use it. */
function holdFields(
  { requires_instant_payment, payment_required_by: by }: OfferDetailsResponse['offer'],
  nowMs: number,
) {
  if (requires_instant_payment !== false) return [];
  const until = by == null ? 'by the airline, unpaid' : `can be held unpaid until ${momentText(by, nowMs)}`;
  return [
    ['Hold', until],
    ['', 'not used here: a booking pays the ticket at once'],
  ] as const;
}

/** `2 adults 120.00 each, child of 8 96.50, infant of 1 12.00`; shares only if the seller discloses them. */
export function sharesText(passengers: readonly OfferPassenger[]): string {
  const adults = passengers.filter(({ age }) => age === null);
  const share = ({ total_amount_decimal: amount }: OfferPassenger) => (amount === null ? '' : ` ${money(amount)}`);
  const [first] = adults;
  const each = first && share(first) !== '' && adults.length > 1 ? ' each' : '';
  return [
    ...(first ? [`${counted(adults.length, 'adult')}${share(first)}${each}`] : []),
    ...passengers.flatMap((one) => (one.age === null ? [] : [`${one.type} of ${one.age}${share(one)}`])),
  ].join(', ');
}

/** `151.20 USD, 30.00 of it for bags`, `121.20 USD, included`, `–` */
function withBagsText({ way, bags_amount_decimal: bags, total_amount_decimal: total }: WithBags, currency: string) {
  if (total === null || bags === null) return '–';
  return `${money(total)} ${currency}, ${way === 'service' ? `${money(bags)} of it for bags` : 'included'}`;
}

/** True if a dash is shown because the airline did not disclose something. */
function isUndisclosed(
  offer: OfferDetailsResponse['offer'],
  services: OfferDetailsResponse['available_services'],
): boolean {
  const conditions = (['refund', 'change'] as const).map((kind) => conditionOf(offer.conditions, kind));
  const shown = [
    ...[offer.base_amount_decimal, offer.tax_amount_decimal, offer.fare_brand_name],
    ...[offer.cabin_class_marketing_name ?? offer.cabin_class, offer.total_emissions_kg],
    ...[offer.checked_bags_included, offer.carry_on_bags_included],
    ...[offer.supported_loyalty_programmes?.[0], ...services.map((service) => service.maximum_weight_kg)],
    ...conditions.map(({ allowed, penalty }) => (allowed ? penalty : allowed)),
  ];
  return shown.some((value) => value == null);
}

/** The refund or change of a fare, and its penalty; null or undefined if not disclosed. */
export const conditionOf = (conditions: Conditions | null, kind: 'refund' | 'change') => ({
  allowed: conditions?.[`${kind}_allowed` as const],
  penalty: conditions?.[`${kind}_penalty_amount` as const],
  currency: conditions?.[`${kind}_penalty_currency` as const],
});

/** `yes, free`, `yes, for 40.00 USD`, `no`, `–`; if room is scarce, without the currency or the `yes`. */
export function conditionText(
  conditions: Conditions | null,
  kind: 'refund' | 'change',
  form: 'whole' | 'no currency' | 'short' = 'whole',
): string {
  const { allowed, penalty, currency } = conditionOf(conditions, kind);
  if (allowed == null) return '–';
  if (!allowed) return 'no';
  const cost =
    penalty == null
      ? 'penalty –'
      : Number(penalty) === 0
        ? 'free'
        : `for ${money(penalty)} ${form === 'whole' ? (currency ?? '') : ''}`.trimEnd();
  return form === 'short' ? cost : `yes, ${cost}`;
}

/** The cabin in the words of a search, or in the airline's own where they say more. */
export function cabinText(fare: {
  readonly cabin_class?: string | null;
  readonly cabin_class_marketing_name: string | null;
}): string {
  const cabin = fare.cabin_class?.replaceAll('_', ' ') ?? '–';
  const own = fare.cabin_class_marketing_name ?? cabin;
  return own.toLowerCase() === cabin ? cabin : own;
}

/** A fare before it is chosen: its flights, its bags and its rules. */
export const fareDetailLines = (fare: KnownFare, screen: Screen): string[] => [
  ...fare.slices.flatMap((slice) => sliceLines(slice, screen)),
  ...fieldLines(screen.paint.dim, fareFields(fare), screen.width),
];

export const fareFields = (fare: KnownFare): readonly (readonly [string, string])[] => [
  ['Fare', `${fare.fare_brand_name ?? '–'}, ${cabinText(fare)}, sold by ${fare.owner_name}`],
  [
    'Bags',
    `${allowanceText(fare.checked_bags_included, 'checked')}, ${allowanceText(fare.carry_on_bags_included, 'cabin')}`,
  ],
  ['Refund', conditionText(fare.conditions, 'refund')],
  ['Change', conditionText(fare.conditions, 'change')],
  ...(fare.identity_documents_required ? ([['Passports', `needs ${PASSPORTS}`]] as const) : []),
];

/** The travel documents that a fare may ask for. */
export const PASSPORTS = "each passenger's nationality, passport number and expiry date";

const allowanceText = (count: number | null, kind: string): string =>
  count === null ? `${kind} bags not disclosed` : counted(count, `${kind} bag`);

/**
 * The fares of a lowcost flight, a line for each, or the reason why they are unknown.
 * @param numbers the number to type for a fare, by its offer id; default: its number in the menu
 */
export function fareMenuParts(
  menu: FareMenu,
  numbers: Readonly<Record<string, string>>,
  nowMs: number,
  screen: Screen,
): { readonly heading: string[]; readonly fares: string[]; readonly foot: string[] } {
  const { paint } = screen;
  const moment = (at: string | null) => (at === null ? '–' : momentText(at, nowMs));
  const none = (said: string, foot: string[] = []) => ({
    heading: [`${paint.bold('Fares')}  ${said}`],
    fares: [],
    foot,
  });
  if (menu.status === 'pending') return none(paint.accent('still being looked up; this call cost nothing'));
  if (menu.status === 'failed') {
    const said = `tried ${moment(menu.checked_at)}; can be tried again ${moment(menu.expires_at)}`;
    return none(paint.bad('could not be looked up'), [`       ${paint.dim(said)}`]);
  }
  if (menu.fares.length === 0) return none('none are sold on this flight now');
  // On a narrower screen a penalty's currency, or its `yes`, would push the price off the line.
  const form = screen.width >= 100 ? 'whole' : screen.width >= 74 ? 'no currency' : 'short';
  const price = (fare: MenuFare) =>
    paint.bold(`${money(priceShown(fare) ?? fare.total_amount_decimal)} ${fare.total_currency}`);
  const [heading = '', ...fares] = listLines(screen, menu.fares, [
    { title: '#', align: 'right', cell: (fare) => paint.bold(numbers[fare.offer_id] ?? String(fare.fare_index)) },
    { title: 'Fare', cuts: true, cell: (fare) => fare.fare_brand_name ?? '–' },
    { title: 'Bags', align: 'right', cell: bagsText },
    { title: 'Cabin', align: 'right', cell: (fare) => String(fare.carry_on_bags_included ?? '–') },
    { title: 'Refund', cell: ({ conditions }) => conditionText(conditions, 'refund', form) },
    { title: 'Change', cell: ({ conditions }) => conditionText(conditions, 'change', form) },
    { title: 'Price', align: 'right', cell: price },
  ]);
  return {
    heading: [heading],
    fares,
    foot: [paint.dim(`These fares can be locked until ${moment(menu.expires_at)}.`)],
  };
}

/** The airline order, with the booking reference first. */
export function orderLines(order: KnownOrder, screen: Screen): string[] {
  const { paint } = screen;
  const isTicketless = order.documents.length === 0 && order.status === 'ticketed';
  return [
    `${paint.bold(order.booking_reference ?? '–')}  ${order.status === 'unknown' ? paint.dim('status unknown') : paint.good(order.status)}`,
    ...fieldLines(paint.dim, [
      ['Order', order.order_id],
      ['Passengers', String(order.passenger_count ?? '–')],
      ...travellerFields(order, paint),
      ['Total', totalOf(order)],
      ['Extra bags', extraText(order)],
      ['Seats', order.seats ? seatsText(order.seats, order.slices) : null],
      ['Changed', order.airline_changed_at == null ? null : `by the airline, ${utcTime(order.airline_changed_at)}`],
      ['Tickets', isTicketless ? 'none: the carrier checks you in by the booking reference' : null],
      ...order.documents.map(({ type, number }) => [label(type ?? 'document'), number ?? '–'] as const),
    ]),
    ...order.slices.flatMap((slice) => ['', ...sliceLines(slice, screen)]),
  ];
}

/** The travellers of an order for several, each with the refund that it would get alone. */
const travellerFields = ({ passengers = [] }: KnownOrder, { usdc }: Paint) =>
  passengers.map(({ passenger, type, status, paid_amount: paid, refund_amount: back }) => {
    const share = paid === null ? '' : `, ${usdc(paid)}`;
    const alone = back === null || status !== 'booked' ? '' : `, refundable alone: ${usdc(back)}`;
    const state = status === 'booked' ? '' : `, ${status.replace('_', ' ')}`;
    return [`Traveller ${passenger}`, `${type}${share}${alone}${state}`] as const;
  });

const extraText = ({ bags }: KnownOrder): string | null =>
  bags?.map(({ type, quantity }) => counted(quantity, type === 'checked' ? 'checked bag' : 'cabin bag')).join(', ') ??
  null;

const totalOf = ({ total_amount_decimal: amount, total_currency: currency }: KnownOrder): string =>
  amount === null ? '–' : `${money(amount)} ${currency ?? ''}`.trimEnd();

/** `electronic_ticket` reads `Electronic ticket`. */
const label = (type: string): string => capital(type.replaceAll('_', ' '));

/** A booking before it is paid. */
export interface Review {
  readonly intent: Intent;
  /** Null if no search and no offer of this home showed it. */
  readonly fare: KnownFare | null;
  readonly passengers: readonly Passenger[];
  /** The wallet that pays; null if there is none yet. */
  readonly wallet: string | null;
  readonly warnings: readonly string[];
}

/** Shows the flights, the passengers, the price, where the money goes and comes back to, and the deadline. */
export function reviewLines(
  { intent, fare: kept, passengers, wallet, warnings }: Review,
  nowMs: number,
  screen: Screen,
): string[] {
  const { paint } = screen;
  const fare = harmlessDocument(kept);
  const flights = fare?.slices.flatMap((slice) => sliceLines(slice, screen)) ?? [
    `The flights were not searched from here: farelock offer ${intent.offer_id} shows them for ${paint.usdc('0.01')}.`,
  ];
  return [
    ...flights,
    ...fieldLines(
      paint.dim,
      [
        ...(fare ? fareFields(fare) : []),
        ...passengers.map((passenger, index) => [index === 0 ? 'Passengers' : '', passengerText(passenger)] as const),
        ['Price', `${paint.bold(paint.usdc(intent.escrow.amount))}${partsText(intent, fare)}`],
        ...lockedBagsField(intent, paint),
        ...lockedSeatsField(intent, fare, paint),
        ['Held in', `escrow ${intent.escrow.address} until ticketed`],
        ['Refunds to', refundText(intent, wallet)],
        ['Book until', momentText(intent.expires_at, nowMs)],
      ],
      screen.width,
    ),
    ...warnings.flatMap((line) => wrap(line, screen.width)),
  ];
}

/** `Ms Ana Silva, born 4 Mar 1990` */
const passengerText = ({ title, given_name, family_name, born_on }: Passenger): string =>
  harmless(`${capital(title)} ${given_name} ${family_name}, born ${dayName(born_on).slice(4)}`);

/** `1 bag each, 60.00 USDC of the price` */
export const lockedBagsField = ({ bags }: Pick<Intent, 'bags'>, { usdc }: Paint): [string, string][] => {
  if (!bags) return [];
  const paid = bags.total_amount === 0 ? 'included in the fare' : `${usdc(bags.total_amount)} of the price`;
  return [['With', `${eachText(bags)}, ${paid}`]];
};

/** `12A, 12B`; of several flights `LIS → FRA 12A, 12B · FRA → JFK 3C`, or `flight 2 3C` where they are not known. */
export function seatsText(seats: readonly WantedSeat[], slices: readonly Slice[] | undefined): string {
  const flights = slices?.flatMap(({ segments }) => segments) ?? [];
  const indexes = [...new Set(seats.map(({ segment_index }) => segment_index))].toSorted((a, b) => a - b);
  return indexes
    .map((index) => {
      const flight = flights[index];
      const here = seats.filter(({ segment_index }) => segment_index === index);
      const named = flight ? `${flight.origin_iata} → ${flight.destination_iata} ` : `flight ${index + 1} `;
      return `${flights.length === 1 ? '' : named}${here.map(({ designator }) => designator).join(', ')}`;
    })
    .join(' · ');
}

/** The chosen seats, their part of the price, and their terms. */
export const lockedSeatsField = (
  { seats }: Pick<Intent, 'seats'>,
  fare: Pick<KnownFare, 'slices'> | null,
  { usdc }: Paint,
): [string, string][] => {
  if (!seats) return [];
  const paid = seats.total_amount === 0 ? 'free of charge' : `${usdc(seats.total_amount)} of the price`;
  const terms = seats.chosen.flatMap(({ designator, disclosures }): [string, string][] =>
    disclosures ? [['', harmless(`${designator}: ${disclosures.join(' ')}`)]] : [],
  );
  return [['Seats', `${seatsText(seats.chosen, fare?.slices)}; ${paid}`], ...terms];
};

/** The parts of the price, if the locked price is the one that was shown. */
function partsText(intent: Intent, fare: KnownFare | null): string {
  const people = intent.passenger_count === 1 ? '' : ` for ${intent.passenger_count} passengers`;
  if (!fare?.base_amount_decimal || !fare.tax_amount_decimal) return `${people}, all included`;
  const isSame = money(fare.total_amount_decimal) === formatUsdc(BigInt(intent.escrow.amount));
  if (!isSame) return `${people}, all included`;
  return `${people}: base ${money(fare.base_amount_decimal)}, tax ${money(fare.tax_amount_decimal)}`;
}

/** True if a refund would not go to the paying wallet. */
export const isRefundedElsewhere = ({ intent, wallet }: Pick<Review, 'intent' | 'wallet'>): boolean =>
  wallet !== null && intent.refund_wallet !== wallet;

const refundText = (intent: Intent, wallet: string | null): string =>
  isRefundedElsewhere({ intent, wallet })
    ? `! ${intent.refund_wallet}, which is not the wallet that pays`
    : `${intent.refund_wallet}${wallet === null ? '' : ', your wallet'}`;
