import type { OfferedService, OfferRequestRecord } from './books.ts';
import { type DuffelIds, diceOf } from './ids.ts';
import { amountOf } from './money.ts';
import { passengerIds, segmentId, traitOf } from './names.ts';
import { seatById } from './seats.ts';
import type { WorldOffer } from './world.ts';

interface Bag {
  readonly type: 'checked' | 'carry_on';
  readonly weightKg: number | null;
  readonly cents: number;
  readonly most: number;
}

/** Bags that a carrier sells beside its fare. */
function bagsFor({ ownerCode, offer }: WorldOffer): readonly Bag[] {
  if (ownerCode === null) return [];
  if (ownerCode === 'ZZ') return [{ type: 'checked', weightKg: 23, cents: 2_000, most: 1 }];
  const odd = diceOf(ownerCode, 'bags');
  const cents = 3_000 + 500 * (odd % 8);
  const bags: Bag[] = [{ type: 'checked', weightKg: odd % 3 === 0 ? null : 23, cents, most: 2 }];
  if (odd % 2 === 0) bags.push({ type: 'checked', weightKg: 32, cents: cents + 2_500, most: 1 });
  if (offer.carry_on_bags_included === 0)
    bags.push({ type: 'carry_on', weightKg: 10, cents: 1_800, most: 1 });
  return bags;
}

/** Places of bags in ids: the read goes up to 5,000 before it begins again. */
const READS = 5_000;
const OFFERS = 2_000;

/** Everything that can be bought with an offer: each bag for each passenger, on all of his flights. */
function offered(
  ids: DuffelIds,
  request: OfferRequestRecord,
  offer: WorldOffer,
): Omit<OfferedService, 'id'>[] {
  if (traitOf(request) === 'no_services') return [];
  return passengerIds(ids, request).flatMap((passengerId) =>
    bagsFor(offer).map(({ type, weightKg, cents, most }) => ({
      type,
      weightKg,
      quantity: 1,
      totalCents: cents,
      passengerId,
      most,
    })),
  );
}

/** The services of one read: their ids are new with every read, and all of them can be booked. */
export const servicesOf = (
  ids: DuffelIds,
  request: OfferRequestRecord,
  offer: WorldOffer,
  read: number,
): object[] => {
  const segments = offer.offer.slices.flatMap((slice, at) =>
    slice.segments.map((_, flight) => segmentId(ids, offer, `${at}.${flight}`)),
  );
  return offered(ids, request, offer).map((service, position) => ({
    id: ids.numbered('ase', offer.requestNumber * OFFERS + offer.index, position * READS + (read % READS)),
    type: 'baggage',
    maximum_quantity: service.most,
    passenger_ids: [service.passengerId],
    segment_ids: segments,
    // For all of these flights together.
    total_amount: amountOf(service.totalCents),
    total_currency: offer.offer.total_currency,
    metadata: {
      type: service.type,
      maximum_weight_kg: service.weightKg,
      maximum_height_cm: null,
      maximum_length_cm: null,
      maximum_depth_cm: null,
    },
  }));
};

/** The service of an id of any read of this offer, or one of its seats; null for any other. */
export function serviceById(
  ids: DuffelIds,
  request: OfferRequestRecord,
  offer: WorldOffer,
  id: string,
): OfferedService | null {
  const read = ids.read('ase', id);
  if (!read) return seatById(ids, request, offer, id);
  if (read.number !== offer.requestNumber * OFFERS + offer.index) return null;
  const service = offered(ids, request, offer)[Math.floor(read.index / READS)];
  return service ? { ...service, id } : null;
}
