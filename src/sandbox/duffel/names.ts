import { testRoute } from './behaviours.ts';
import type { OfferRequestRecord } from './books.ts';
import type { DuffelIds } from './ids.ts';
import type { WorldOffer } from './world.ts';

/** Ids and traits of what a search has found, worked out from its numbers alone. */

export const offerIdOf = (ids: DuffelIds, { requestNumber, index }: WorldOffer): string =>
  ids.numbered('off', requestNumber, index);

export const passengerIds = (ids: DuffelIds, { number, passengersOf = number, ages }: OfferRequestRecord): string[] =>
  ages.map((_, position) => ids.numbered('pas', passengersOf, position));

/** @param where direction and flight: `0.1` */
export const segmentId = (ids: DuffelIds, { requestNumber, index }: WorldOffer, where: string): string =>
  ids.hashed('seg', requestNumber, index, where);

/** Of a test route. */
export const traitOf = ({ slices: [out] }: OfferRequestRecord): string | undefined =>
  out && testRoute(out.origin, out.destination)?.trait;
