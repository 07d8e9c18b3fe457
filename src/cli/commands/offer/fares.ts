import type { PaymentReceipt } from '../../../client/base/index.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { counted, type Screen, tableLines, type View, wrap } from '../../../terminal/index.ts';
import type { AvailableService, MenuFare, OfferDetailsResponse } from '../../../wire/flights/index.ts';
import { loadPaidPlan } from '../../paying/index.ts';
import { shortOf } from '../../session/index.ts';
import type { Run } from '../../spec/index.ts';
import { conditionOf, conditionText } from '../../view/flights/index.ts';
import { money, nextLines, offerCommand } from '../../view/index.ts';
import type { ComparedFare, FareComparison } from './result.ts';
import type * as spec from './spec.ts';

/** More fares are hard to compare on a screen. */
const MOST_FARES = 8;

/**
 * `offer <id> --fares`: compares the fares of an itinerary and the price of a bag. Reads each fare again, for 0.01 USDC
 * each. For a low-cost offer, one call opens the menu with all its fares.
 */
export const offerFares: Run<typeof spec.offer> = async (context, options) => {
  const { terminal, session, signal } = context;
  const wanted = session.recentOffers.fareFamily(options.offerId).slice(0, MOST_FARES);
  if (context.globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    const [first] = wanted;
    return planPaid(context, (flights) => flights.offerDetails(first?.offerId ?? options.offerId, { signal }), {
      after: [
        ...(wanted.length > 1 ? [`Do the same for ${counted(wanted.length - 1, 'more fare')} of the itinerary.`] : []),
        'Show them side by side.',
      ],
      facts: { offer_ids: wanted.map(({ offerId }) => offerId) },
    });
  }
  const flights = await session.flights();
  const found: { details: OfferDetailsResponse; number: string | null }[] = [];
  const payments: PaymentReceipt[] = [];
  const gone: string[] = [];
  for (const { offerId, number } of wanted) {
    terminal.phase(`Reading ${counted(wanted.length, 'fare')}`);
    try {
      const { value, payment } = await flights.offerDetails(offerId, { signal });
      if (payment) payments.push(payment);
      found.push({ details: value, number });
    } catch (error) {
      // A sold-out fare does not hide the others, unless it is the only one.
      if (wanted.length === 1 || !isProblem(error) || (error.kind.exit !== 3 && error.kind.exit !== 5)) throw error;
      gone.push(`${number ?? offerId}: ${error.message}`);
    }
  }
  const [first] = found;
  const menu = first?.details.fare_menu;
  const numbers = menu && first ? await session.recentOffers.rememberMenu(first.details.offer, menu.fares) : {};
  const fares = found
    .flatMap(({ details, number }) =>
      details.fare_menu
        ? details.fare_menu.fares.map((fare) => comparedFare(details, fare, numbers[fare.offer_id] ?? null))
        : [comparedFare(details, details.offer, number)],
    )
    .toSorted(
      (a, b) =>
        Number(a.total_currency !== 'USD') - Number(b.total_currency !== 'USD') ||
        Number(a.total_amount_decimal) - Number(b.total_amount_decimal),
    );
  if (menu && menu.status !== 'ready') terminal.note('The fare menu is not open yet; this call cost nothing.');
  const paid = payments.reduce((sum, one) => sum + parseUsdc(one.amount), 0n);
  const { origin_iata = '', destination_iata = '', departing_at = '' } = first?.details.offer ?? {};
  terminal.result(
    { origin_iata, destination_iata, departing_at, fares, paid_amount: formatUsdc(paid), payments },
    fares.length === 0 ? { lines: () => ['No fares.'] } : comparisonView,
  );
  for (const line of gone) terminal.note(line);
  const [cheapest] = fares;
  terminal.aside([
    '',
    ...(payments.length > 0 ? [`Paid ${terminal.usdc(paid)}`] : []),
    ...(cheapest ? nextLines(offerCommand(cheapest.offer_id, shortOf(context, cheapest.offer_id))) : []),
  ]);
  return 0;
};

/** @param number the short name that a person may type */
function comparedFare(
  { offer, available_services }: OfferDetailsResponse,
  fare: MenuFare | OfferDetailsResponse['offer'],
  number: string | null,
): ComparedFare {
  return {
    number,
    offer_id: fare.offer_id,
    fare_brand_name: fare.fare_brand_name,
    owner_name: offer.owner_name,
    cabin_class: offer.cabin_class,
    total_amount_decimal: fare.total_amount_decimal,
    total_currency: fare.total_currency,
    checked_bags_included: fare.checked_bags_included,
    carry_on_bags_included: fare.carry_on_bags_included,
    conditions: fare.conditions,
    ...bagFor(fare, available_services),
  };
}

export function bagFor(
  fare: Pick<ComparedFare, 'total_amount_decimal' | 'total_currency'>,
  services: readonly AvailableService[],
): Pick<ComparedFare, 'checked_bag' | 'with_bag'> {
  const bags = services.filter(({ type, baggage_type }) => type === 'baggage' && baggage_type === 'checked');
  const bag = bags.toSorted((a, b) => Number(a.total_amount_decimal) - Number(b.total_amount_decimal))[0];
  if (!bag) return { checked_bag: null, with_bag: null };
  const price = bag.total_amount_decimal;
  return {
    checked_bag: { price, currency: bag.total_currency },
    with_bag:
      bag.total_currency === fare.total_currency
        ? formatUsdc(parseUsdc(fare.total_amount_decimal) + parseUsdc(price))
        : null,
  };
}

const hasUnknown = (fares: readonly ComparedFare[]): boolean =>
  fares.some(
    (fare) =>
      fare.checked_bags_included === null ||
      fare.carry_on_bags_included === null ||
      fare.checked_bag === null ||
      fare.conditions?.refund_allowed == null ||
      fare.conditions.change_allowed == null,
  );

/** The fares in columns, and whether a bag is cheaper bought or bundled. */
export const comparisonView: View<Pick<FareComparison, 'fares'>> = {
  lines: (comparison, screen) => [
    ...blocks(comparison.fares, screen),
    ...verdictLines(comparison.fares, screen),
    ...(hasUnknown(comparison.fares) ? ['', screen.paint.dim('– not disclosed by the airline, or not sold')] : []),
  ],
  rows: ({ fares }) =>
    fares.map((fare) => [
      fare.offer_id,
      fare.fare_brand_name,
      fare.total_amount_decimal,
      fare.total_currency,
      fare.checked_bags_included,
      fare.carry_on_bags_included,
      conditionText(fare.conditions, 'refund'),
      conditionText(fare.conditions, 'change'),
      fare.checked_bag?.price ?? null,
      fare.with_bag,
      fare.owner_name,
    ]),
};

const LABEL = 16;
const LEAST_COLUMN = 14;

/** Lays the fares out in blocks, each as wide as the screen. */
function blocks(fares: readonly ComparedFare[], screen: Screen): string[] {
  const room = Math.max(1, Math.floor((screen.width - LABEL) / (LEAST_COLUMN + 2)));
  const most = Math.max(1, Math.ceil(fares.length / Math.ceil(fares.length / room)));
  const lines: string[] = [];
  for (let at = 0; at < fares.length; at += most) {
    if (at > 0) lines.push('');
    lines.push(...block(fares.slice(at, at + most), screen, fares[0]));
  }
  return lines;
}

function block(fares: readonly ComparedFare[], screen: Screen, first: ComparedFare | undefined): string[] {
  const { paint, width } = screen;
  const unknown = (value: string | number | null) => (value === null ? '–' : String(value));
  const priceOf = (fare: ComparedFare) => `${money(fare.total_amount_decimal)} ${fare.total_currency}`;
  const roomy = (width - LABEL) / fares.length >= 22;
  const condition = (kind: 'refund' | 'change') => (fare: ComparedFare) => {
    const said = conditionText(fare.conditions, kind, roomy ? 'whole' : 'short');
    const { allowed } = conditionOf(fare.conditions, kind);
    return allowed ? paint.good(said) : allowed === false ? paint.dim(said) : said;
  };
  const rows: [string, (fare: ComparedFare) => string][] = [
    ['Price', (fare) => (fare === first ? paint.good(paint.bold(priceOf(fare))) : paint.bold(priceOf(fare)))],
    ['Checked bags', (fare) => unknown(fare.checked_bags_included)],
    ['Cabin bags', (fare) => unknown(fare.carry_on_bags_included)],
    ['Change', condition('change')],
    ['Refund', condition('refund')],
    ['Cabin', (fare) => fare.cabin_class.replaceAll('_', ' ')],
    ['Seller', (fare) => fare.owner_name],
    [
      'One checked bag',
      (fare) => (fare.checked_bag ? `+${money(fare.checked_bag.price)} ${fare.checked_bag.currency}` : '–'),
    ],
    ['With that bag', (fare) => (fare.with_bag ? `${money(fare.with_bag)} ${fare.total_currency}` : '–')],
  ];
  return tableLines(
    [
      { title: '' },
      ...fares.map((fare) => ({
        title: [fare.number, fare.fare_brand_name ?? '–'].filter(Boolean).join(' '),
        cuts: true,
      })),
    ],
    rows.map(([label, cell]) => [paint.dim(label), ...fares.map(cell)]),
    paint.bold,
    width,
  );
}

/** The better way to fly with a bag: buy it with the bare fare, or take the fare that includes it. */
function verdictLines(fares: readonly ComparedFare[], { paint, width }: Screen): string[] {
  const bare = fares.find((fare) => fare.checked_bags_included === 0 && fare.with_bag !== null);
  const bundle = fares.find(
    (fare) => (fare.checked_bags_included ?? 0) > 0 && fare.total_currency === bare?.total_currency,
  );
  if (!bare?.with_bag || !bundle) return [];
  const named = (fare: ComparedFare) => fare.fare_brand_name ?? fare.offer_id;
  const difference = parseUsdc(bare.with_bag) - parseUsdc(bundle.total_amount_decimal);
  const currency = bare.total_currency;
  const bought = `${named(bare)} and a paid bag cost ${money(bare.with_bag)} ${currency}`;
  const bundled = `${named(bundle)} has ${bundle.checked_bags_included} for ${money(bundle.total_amount_decimal)}`;
  const verdict =
    difference === 0n
      ? 'the same'
      : difference > 0n
        ? `${formatUsdc(difference)} less`
        : `${formatUsdc(-difference)} more`;
  return ['', ...wrap(`With a bag: ${bought}; ${bundled}, ${verdict}.`, width).map((line) => paint.accent(line))];
}
