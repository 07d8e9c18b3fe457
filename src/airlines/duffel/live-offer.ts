import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { AvailableService } from '../../wire/flights/index.ts';
import type { LiveOffer } from '../provider.ts';
import type { Attempts } from './attempts.ts';
import { readOffer } from './offers.ts';
import { documentRule } from './order-form.ts';
import { amount, count, currency, type Fields, list, object, offerId, quantity, text } from './read.ts';
import { type Answer, dataOf, failed, isOk, type Transport } from './transport.ts';
import type { Zones } from './zones.ts';

export interface OfferPorts {
  readonly transport: Transport;
  readonly zones: Zones;
}

interface FreshOffer extends LiveOffer {
  readonly saleKey: string;
  /** As Duffel gave it. */
  readonly raw: Fields;
}

/**
 * Reads an offer with its price of this moment. Seats are not promised by it.
 * @throws Problem `offer_not_found`, `offer_unavailable`, `offer_expired`, `upstream_rate_limited`, `provider_failed`
 */
export async function freshOffer({ transport, zones }: OfferPorts, id: string): Promise<FreshOffer> {
  // Not a Duffel id: no need to ask.
  if (offerId(id) === null) throw problem('offer_not_found');
  const answer = await transport.ask({
    operation: 'offer',
    method: 'GET',
    path: `/air/offers/${id}?return_available_services=true`,
    isRefusable: true,
  });
  if (!isOk(answer)) throw goneProblem(answer) ?? failed(answer);
  const raw = dataOf(answer);
  const gaps: string[] = [];
  const offer = readOffer(raw, {
    zones,
    missing(field) {
      gaps.push(field);
      return null;
    },
  });
  const passengerCount = list(raw.passengers)?.length ?? 0;
  if (offer?.offer_id !== id || passengerCount === 0) {
    throw failed(answer, `The airline's offer can't be read: ${gaps[0] ?? 'passengers'}.`);
  }
  return { offer, passengerCount, availableServices: readServices(raw), saleKey: saleKeyOf(raw), raw };
}

/** Offers of one search, and the order of it, have the same travellers, by Duffel's ids. */
export const saleKeyOf = (raw: Fields): string => text(object((list(raw.passengers) ?? [])[0])?.id) ?? String(raw.id);

/**
 * The same, for somebody who has no order on its search yet.
 * @throws Problem `offer_unavailable` where an order was made, or may have been made, from one of its offers; those of
 *   `freshOffer`
 */
export async function unsoldOffer(ports: OfferPorts & { readonly attempts: Attempts }, id: string): Promise<LiveOffer> {
  const { raw, ...live } = await freshOffer(ports, id);
  const attempts = await ports.attempts.bySearch(live.saleKey);
  if (attempts.some(({ verdict }) => verdict !== 'none')) throw problem('offer_unavailable');
  const { required, supported } = documentRule(raw);
  return { ...live, isUnpayable: required && !supported };
}

/** The problem of an offer that can't be had any more; null for any other answer. */
export function goneProblem({ status, codes }: Answer) {
  if (codes.includes('offer_expired')) return problem('offer_expired');
  if (codes.includes('offer_no_longer_available')) return problem('offer_unavailable');
  return status === 404 && codes.includes('not_found') ? problem('offer_not_found') : null;
}

interface Bag {
  readonly passenger: string;
  readonly segments: ReadonlySet<string>;
  readonly type: 'checked' | 'carry_on' | null;
  readonly weightKg: number | null;
  readonly most: number;
  readonly price: string;
  readonly currency: string;
}

/**
 * Bags that can be bought with an offer. Duffel sells a bag to one passenger for the segments that it names; ours is one
 * bag for the whole journey. Where an airline sells each direction by itself, the directions are added up; a bag that
 * can't be had for the whole way is left out, for its price would be misread.
 */
export function readServices(offer: Fields): AvailableService[] {
  const whole = (list(offer.slices) ?? [])
    .flatMap((slice) => list(object(slice)?.segments) ?? [])
    .flatMap((segment) => text(object(segment)?.id) ?? []);
  const bags = (list(offer.available_services) ?? []).flatMap((one) => readBag(object(one)) ?? []);
  const journeys = groups(bags, (bag) => keyOf(bag.passenger, bag.type, bag.weightKg, bag.currency)).flatMap((alike) =>
    wholeWay(alike, new Set(whole)),
  );
  return groups(journeys, (bag) => keyOf(bag.type, bag.weightKg, bag.price, bag.currency)).flatMap((same) => {
    const [bag] = same;
    if (!bag) return [];
    return [
      {
        type: 'baggage',
        baggage_type: bag.type,
        maximum_weight_kg: bag.weightKg,
        maximum_quantity: same.reduce((sum, { most }) => sum + most, 0),
        total_amount_decimal: bag.price,
        total_currency: bag.currency,
      } satisfies AvailableService,
    ];
  });
}

/** Bags of one passenger and one kind that together cover the whole journey. */
function wholeWay(alike: readonly Bag[], whole: ReadonlySet<string>): Bag[] {
  const covering = alike.filter(({ segments }) => covers(segments, whole));
  const partial = alike.filter(({ segments }) => !covers(segments, whole));
  const parts = partial.flatMap(({ segments }) => [...segments]);
  const [first] = partial;
  // Each flight once: two bags for the same flight at two prices can't be added up.
  if (!first || parts.length !== whole.size || !covers(new Set(parts), whole)) return covering;
  const sum = partial.reduce((total, { price }) => total + parseUsdc(price), 0n);
  const most = Math.min(...partial.map((bag) => bag.most));
  return [...covering, { ...first, segments: whole, most, price: formatUsdc(sum) }];
}

const covers = (segments: ReadonlySet<string>, whole: ReadonlySet<string>): boolean =>
  whole.size > 0 && [...whole].every((segment) => segments.has(segment));

function readBag(raw: Fields | null): Bag | null {
  if (raw?.type !== 'baggage') return null;
  const [passenger, ...others] = (list(raw.passenger_ids) ?? []).flatMap((one) => text(one) ?? []);
  const segments = (list(raw.segment_ids) ?? []).flatMap((one) => text(one) ?? []);
  const [price, of, most] = [amount(raw.total_amount), currency(raw.total_currency), count(raw.maximum_quantity)];
  if (passenger === undefined || others.length > 0 || segments.length === 0) return null;
  if (price === null || of === null || most === null || most === 0) return null;
  const about = object(raw.metadata);
  const type = about?.type;
  return {
    passenger,
    segments: new Set(segments),
    type: type === 'checked' || type === 'carry_on' ? type : null,
    weightKg: quantity(about?.maximum_weight_kg),
    most,
    price,
    currency: of,
  };
}

const keyOf = (...parts: readonly (string | number | null)[]): string => JSON.stringify(parts);

function groups<T>(all: readonly T[], keyOfOne: (one: T) => string): T[][] {
  const found = new Map<string, T[]>();
  for (const one of all) {
    const group = found.get(keyOfOne(one));
    if (group) group.push(one);
    else found.set(keyOfOne(one), [one]);
  }
  return [...found.values()];
}
