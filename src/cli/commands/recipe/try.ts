import { join } from 'node:path';
import { farelock } from '../../../kernel/shell-word.ts';
import { writeWhole } from '../../../kernel/storage.ts';
import { counted, harmlessDocument, type Screen, tableLines, type View, wrapBehind } from '../../../terminal/index.ts';
import type { OptionsOf, Run } from '../../spec/index.ts';
import { nextLines } from '../../view/index.ts';
import type * as spec from './spec.ts';
import {
  keptDocument,
  nearOf,
  placeText,
  type Trial,
  type TriedDocument,
  trialOf,
  valueText,
  visited,
} from './trial.ts';

const DOCUMENT = 'trial.json';
const RESUME = 'resume.json';

/** Visits the site without a card, and leaves a folder for the next trial. Exit 8 if the visit or the till failed. */
export const recipeTry: Run<typeof spec.recipeTry> = async (context, options) => {
  const { terminal } = context;
  const { until } = options;
  const { desk, recipe, folder, given, withoutAccount } = await trialOf(context, options, until);
  const kept = options.anew ? null : keptDocument<Trial['kept']>(folder, RESUME);
  terminal.phase(`Visiting ${recipe.carrier.name}`);
  const trial = await desk.tryRecipe({ ...given, until, kept });
  const document: TriedDocument = withoutAccount({
    ...visited({ recipe, trials: [trial], folder }),
    ...{ until, began_at: trial.began.at, because: trial.began.why },
    travellers: desk.inventedTravellers(given.query.adults).map((one) => `${one.given_name} ${one.family_name}`),
    offers: trial.kept.offers.map(({ offer, flights }) => ({
      flights: flights.map(({ flightNumber }) => flightNumber),
      departing_at: flights[0]?.departingAt ?? '',
      arriving_at: offer.slices[0]?.arriving_at ?? '',
      fare_brand_name: offer.fare_brand_name,
      ...{ total_amount_decimal: offer.total_amount_decimal, total_currency: offer.total_currency },
    })),
    fares: trial.kept.fares.map(({ brand, checkedBags, carryOnBags, conditions, ...fare }) => ({
      ...{ brand, checked_bags: checkedBags, carry_on_bags: carryOnBags },
      ...{ change_allowed: conditions?.change_allowed ?? null, refund_allowed: conditions?.refund_allowed ?? null },
      ...{ total_amount_decimal: fare.totalAmountDecimal, total_currency: fare.totalCurrency },
    })),
    till: trial.till && {
      ...{ total_amount_decimal: trial.till.total.decimal, total_currency: trial.till.total.currency },
      is_agreed: trial.till.isAgreed,
      found: trial.till.found.map(({ place, target, count, cover, near }) => ({
        ...{ path: placeText(place), looked_for: target, count, cover, nearest: near.map(nearOf) },
      })),
    },
    readings: trial.watch.readings.map(({ value, ...one }) => ({ ...one, value: valueText(value) })),
    steps: trial.watch.steps.map(({ place, step }) => ({ path: placeText(place), step })),
  });
  writeWhole(join(folder, DOCUMENT), `${JSON.stringify(document, null, 2)}\n`);
  writeWhole(join(folder, RESUME), JSON.stringify(trial.kept));
  terminal.result(document, view);
  const isWhole = document.failure === null && isSound(document.till);
  if (isWhole && until === 'till') terminal.aside(['', ...nextLines(doctorOf(options))]);
  return isWhole ? 0 : 8;
};

const doctorOf = ({ recipe, url, from, to, depart, out }: OptionsOf<typeof spec.recipeTry>) =>
  farelock`recipe doctor ${[recipe, ...(url === undefined ? [] : [url])]} --from ${from} --to ${to} --depart ${depart} ${out === undefined ? [] : ['--out', out]}`;

const isSound = (till: TriedDocument['till']): boolean =>
  till === null || (till.is_agreed !== false && till.found.every(({ count, cover }) => count === 1 && cover === null));

const MOST_EXAMPLES = 2;

const view: View<TriedDocument> = {
  lines(given, screen) {
    const document = harmlessDocument(given);
    const { paint, width } = screen;
    const { failure, until, till, pages, folder } = document;
    const mark = failure === null ? paint.good('✓') : paint.bad('✗');
    return [
      `${mark} ${paint.bold(document.carrier)}, version ${document.recipe_version}, at ${document.url}: ${failure === null ? `came to the ${until}` : `stopped in ${failure.part}`}`,
      paint.dim('  No card was given, and nothing was pressed.'),
      ...(document.because === null ? [] : [`  Began with the ${document.began_at}: ${document.because}.`]),
      ...failureLines(failure, screen),
      ...(till === null ? [] : tillLines(till, screen)),
      ...listed(document, screen),
      '',
      paint.dim(`Pages, in ${folder}`),
      ...tableLines(
        ['Part', 'Page', 'Picture, with its names beside it'],
        pages.map((one) => [one.part, `${one.path} ${one.heading}`.trim(), one.screenshot ?? one.names]),
        paint.dim,
        width,
      ),
      ...besidesLines(document, screen),
    ];
  },
};

/** Shows flights, fares, and each field both as the page has it and as it was read. */
function listed({ offers, fares, readings }: TriedDocument, { paint, width }: Screen): string[] {
  const table = (title: string, columns: string[], rows: string[][]) =>
    rows.length === 0 ? [] : ['', paint.bold(title), ...tableLines(columns, rows, paint.dim, width)];
  const yes = (flag: boolean | null) => (flag === null ? '–' : flag ? 'yes' : 'no');
  const fields = [...new Set(readings.map(({ part, field }) => `${part} ${field}`))].flatMap((name) => {
    const own = readings.filter(({ part, field }) => `${part} ${field}` === name);
    const seen = [...new Map(own.map((one) => [one.text, one])).values()];
    return seen
      .slice(0, MOST_EXAMPLES)
      .map(({ part, field, text, value }, i) => [
        i === 0 ? part : '',
        i === 0 ? `${field}${own.length > 1 ? ` (${own.length})` : ''}` : '',
        text === null ? '–' : `"${text}"`,
        value ?? '–',
      ]);
  });
  return [
    ...table(
      counted(offers.length, 'offer'),
      ['Flights', 'Departs', 'Arrives', 'Total'],
      offers.map((one) => [
        ...[one.flights.join(', '), one.departing_at, one.arriving_at],
        `${one.total_amount_decimal} ${one.total_currency}`,
      ]),
    ),
    ...table(
      counted(fares.length, 'fare'),
      ['Brand', 'Checked', 'Cabin', 'Change', 'Refund', 'Total'],
      fares.map((one) => [
        ...[one.brand ?? '–', String(one.checked_bags ?? '–'), String(one.carry_on_bags ?? '–')],
        ...[yes(one.change_allowed), yes(one.refund_allowed), `${one.total_amount_decimal} ${one.total_currency}`],
      ]),
    ),
    ...table('Read', ['Part', 'Field', 'On the page', 'Value'], fields),
  ];
}

function tillLines(till: NonNullable<TriedDocument['till']>, { paint }: Screen): string[] {
  const total = `${till.total_amount_decimal} ${till.total_currency}`;
  const agreed = { true: "the fare's price", false: paint.bad("not the fare's price: a purchase would end here") };
  const said = till.is_agreed === null ? '' : `: ${agreed[`${till.is_agreed}`]}`;
  return [
    '',
    `${paint.bold('Till')}  ${total}${said}`,
    ...till.found.flatMap(({ path, count, cover, nearest }) => [
      count === 1 && cover === null
        ? `  ${paint.good('✓')} ${path}: is there, and was not touched`
        : `  ${paint.bad('✗')} ${path}: ${cover ?? (count === 0 ? 'nothing fits' : `${count} fit`)}`,
      ...nearLines(nearest, paint),
    ]),
  ];
}

/** Shows the place of the failure, its step, what the page had, and the nearest matches. */
export function failureLines(failure: TriedDocument['failure'], { paint, width }: Screen): string[] {
  if (failure === null) return [];
  const { path, step, saw, nearest } = failure;
  return [
    '',
    ...wrapBehind(`${paint.bad('✗')} `, `${path === null ? '' : `${path}, `}${step}: ${saw}`, width),
    ...(nearest.length === 0 ? [] : ['  On the page there is:']),
    ...nearLines(nearest, paint),
  ];
}

const nearLines = (nearest: NonNullable<TriedDocument['failure']>['nearest'], paint: Screen['paint']): string[] =>
  nearest.map(({ target, words, likeness }) => `    ${words}  ${paint.dim(`${likeness}  ${JSON.stringify(target)}`)}`);

export const besidesLines = (
  { refused_hosts: hosts, dialogs }: Pick<TriedDocument, 'refused_hosts' | 'dialogs'>,
  { width }: Screen,
): string[] => {
  const said = [
    ...dialogs.map((one) => `The page asked, and was answered with no: ${one}`),
    ...(hosts.length === 0 ? [] : [`Refused, as site.hosts does not list them: ${hosts.join(', ')}`]),
  ];
  return said.length === 0 ? [] : ['', ...said.flatMap((line) => wrapBehind('! ', line, width))];
};
