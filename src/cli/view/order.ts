import type { Order } from '../../flights/wire.ts';
import type { Screen } from '../terminal.ts';
import { money } from './fares.ts';
import { sliceLines } from './itinerary.ts';
import { fieldLines } from './table.ts';

/** The airline order: the booking reference first, for it is what one came for. */
export function orderLines(order: Order, screen: Screen): string[] {
  const { paint } = screen;
  return [
    `${paint.bold(order.booking_reference ?? '–')}  ${paint.good(order.status)}`,
    ...fieldLines(
      [
        ['Order', order.order_id],
        ['Passengers', String(order.passenger_count)],
        ['Total', `${money(order.total_amount_decimal)} ${order.total_currency}`],
        ...order.documents.map((document) => [label(document.type), document.number] as const),
      ],
      paint.dim,
    ),
    ...order.slices.flatMap((slice) => ['', ...sliceLines(slice, screen)]),
  ];
}

/** `electronic_ticket` reads `Electronic ticket`. */
const label = (type: string): string => {
  const words = type.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
