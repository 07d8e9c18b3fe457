import { fromNow, type Screen, tableLines, utcTime } from '../../../terminal/index.ts';
import type { FareMenu, MenuFare } from '../../../wire/flights/index.ts';
import { money } from '../payment.ts';
import { conditionText } from './offer.ts';

/**
 * The fares that a lowcost carrier sells on a flight, or why they are not known. `numbers` are what a person may type
 * for a fare, by its offer id; without them the fare's own number in the menu is shown.
 */
export function fareMenuLines(
  menu: FareMenu,
  numbers: Readonly<Record<string, string>>,
  nowMs: number,
  screen: Screen,
): string[] {
  const { paint } = screen;
  const moment = (at: string | null) => (at === null ? '–' : `${utcTime(at)} (${fromNow(at, nowMs)})`);
  if (menu.status === 'pending') {
    return [`${paint.bold('Fares')}  ${paint.accent('still being looked up; nothing was charged')}`];
  }
  if (menu.status === 'failed') {
    return [
      `${paint.bold('Fares')}  ${paint.bad('could not be looked up')}`,
      `       ${paint.dim(`tried ${moment(menu.checked_at)}; can be tried again ${moment(menu.expires_at)}`)}`,
    ];
  }
  if (menu.fares.length === 0) return [`${paint.bold('Fares')}  none are sold on this flight now`];
  const table = tableLines(
    [
      { title: '#', align: 'right' },
      { title: 'Fare', cuts: true },
      { title: 'Bags', align: 'right' },
      { title: 'Cabin', align: 'right' },
      { title: 'Refund' },
      { title: 'Change' },
      { title: 'Price', align: 'right' },
    ],
    menu.fares.map((fare) => fareCells(fare, numbers, screen)),
    paint.dim,
    screen.width,
  );
  return [...table, '', paint.dim(`These fares can be locked until ${moment(menu.expires_at)}.`)];
}

function fareCells(fare: MenuFare, numbers: Readonly<Record<string, string>>, { paint, width }: Screen): string[] {
  const count = (value: number | null) => (value === null ? '–' : String(value));
  // At 80 columns a penalty in words would push the price off the line.
  const condition = (kind: 'refund' | 'change') => {
    const said = conditionText(fare.conditions, kind);
    return width >= 100 ? said : said.replace(/ [A-Z]{3}$/, '');
  };
  return [
    paint.bold(numbers[fare.offer_id] ?? String(fare.fare_index)),
    fare.fare_brand_name ?? '–',
    count(fare.checked_bags_included),
    count(fare.carry_on_bags_included),
    condition('refund'),
    condition('change'),
    paint.bold(`${money(fare.total_amount_decimal)} ${fare.total_currency}`),
  ];
}
