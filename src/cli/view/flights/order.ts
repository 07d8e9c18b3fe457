import type { KnownOrder } from '../../../client/base/index.ts';
import { fieldLines, type Screen, utcTime } from '../../../terminal/index.ts';
import { money } from '../payment.ts';
import { sliceLines } from './offer.ts';

/** The airline order: the booking reference first, for it is what one came for. */
export function orderLines(order: KnownOrder, screen: Screen): string[] {
  const { paint } = screen;
  return [
    `${paint.bold(order.booking_reference ?? '–')}  ${order.status === 'unknown' ? paint.dim('status unknown') : paint.good(order.status)}`,
    ...fieldLines(
      [
        ['Order', order.order_id],
        ['Passengers', order.passenger_count === null ? '–' : String(order.passenger_count)],
        ['Total', totalOf(order)],
        ...(order.airline_changed_at == null
          ? []
          : [['Changed', `by the airline, ${utcTime(order.airline_changed_at)}`] as const]),
        ...(order.documents.length === 0 && order.status === 'ticketed'
          ? [['Tickets', 'none: the carrier checks you in by the booking reference'] as const]
          : []),
        ...order.documents.map(({ type, number }) => [label(type ?? 'document'), number ?? '–'] as const),
      ],
      paint.dim,
    ),
    ...order.slices.flatMap((slice) => ['', ...sliceLines(slice, screen)]),
  ];
}

const totalOf = ({ total_amount_decimal: amount, total_currency: currency }: KnownOrder): string =>
  amount === null ? '–' : `${money(amount)} ${currency ?? ''}`.trimEnd();

/** `electronic_ticket` reads `Electronic ticket`. */
const label = (type: string): string => {
  const words = type.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
