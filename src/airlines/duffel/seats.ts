import {
  OTHER_ELEMENTS,
  type OtherElement,
  type Seat,
  type SeatMap,
  type SoldSeat,
} from '../../kernel/domain/seats.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { amount, count, currency, type Fields, list, object, objects, text, texts } from './read.ts';
import { type DuffelPorts, failed, goneProblem, isOk } from './transport.ts';

/** The service that sells a seat to one passenger, valid for this read of the map. */
export interface DuffelSeat extends SoldSeat {
  readonly id: string;
}

export const segmentIdsOf = (raw: Fields): string[] =>
  texts(objects(raw.slices).flatMap((slice) => objects(slice.segments).map(({ id }) => id)));

/**
 * Reads the seats of an offer's flights; airlines that show none leave the list empty.
 * @throws Problem `offer_*`, `upstream_rate_limited`, `provider_failed`
 */
export async function seatMapsOf({ transport }: DuffelPorts, offer: Fields): Promise<SeatMap<DuffelSeat>[]> {
  const path = `/air/seat_maps?offer_id=${offer.id}`;
  const answer = await transport.ask({ operation: 'seat_maps', path, isRefusable: true });
  const given = list(answer.data);
  if (!isOk(answer) || !given) throw goneProblem(answer) ?? failed(answer);
  const segments = segmentIdsOf(offer);
  const passengers = texts(objects(offer.passengers).map(({ id }) => id));
  return objects(given).flatMap((raw) => {
    const segment_index = segments.indexOf(String(raw.segment_id));
    const cabins = objects(raw.cabins).map((cabin) => ({
      deck: count(cabin.deck) ?? 0,
      cabin_class: cabinOf(cabin.cabin_class),
      rows: objects(cabin.rows).map((row) =>
        objects(row.sections).map((section) => objects(section.elements).map((one) => readElement(one, passengers))),
      ),
    }));
    return segment_index < 0 || cabins.length === 0 ? [] : { segment_index, cabins };
  });
}

const CABINS = ['economy', 'premium_economy', 'business', 'first'];
const cabinOf = (value: unknown): string | null => CABINS.find((cabin) => cabin === value) ?? null;

const DESIGNATOR = /^\d{1,3}[A-Z]$/;

/** `restricted_seat_general` is a seat, too. Unknown elements and seats without a usual name are `empty`. */
function readElement(raw: Fields, passengers: readonly string[]): Seat<DuffelSeat> | OtherElement {
  const designator = text(raw.designator);
  const isSeat = raw.type === 'seat' || raw.type === 'restricted_seat_general';
  if (!isSeat || designator === null || !DESIGNATOR.test(designator)) {
    return OTHER_ELEMENTS.find((kind) => kind === raw.type) ?? 'empty';
  }
  return {
    designator,
    name: text(raw.name),
    disclosures: termsOf(raw.disclosures),
    sold: objects(raw.available_services).flatMap((service) => {
      const [id, price, of] = [text(service.id), amount(service.total_amount), currency(service.total_currency)];
      const passenger_index = passengers.indexOf(String(service.passenger_id));
      if (id === null || price === null || of === null || passenger_index < 0) return [];
      return { id, passenger_index, amount: parseUsdc(price), currency: of };
    }),
  };
}

const MOST_TERMS = 2_000;

/** Cuts terms instead of leaving long ones out, as `text` would. */
const termsOf = (value: unknown): string[] =>
  (list(value) ?? []).flatMap((one) =>
    typeof one === 'string' && one.trim() !== '' ? one.trim().slice(0, MOST_TERMS) : [],
  );

export function seatsIn(
  raw: Fields,
): { passenger_index: number; segment_index: number; designator: string }[] | undefined {
  const segments = segmentIdsOf(raw);
  const passengers = objects(raw.passengers).map(({ id }) => id);
  const found = objects(raw.services).flatMap((service) => {
    const designator = text(object(service.metadata)?.designator);
    const passenger_index = passengers.indexOf(texts(service.passenger_ids)[0]);
    const segment_index = segments.indexOf(texts(service.segment_ids)[0] ?? '');
    if (designator === null || passenger_index < 0 || segment_index < 0) return [];
    return { passenger_index, segment_index, designator };
  });
  return found.length > 0 ? found : undefined;
}
