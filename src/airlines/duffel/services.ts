import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import type { AvailableService } from '../../wire/flights/index.ts';
import { amount, count, currency, type Fields, list, object, quantity, text } from './read.ts';

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
  const journeys = groups(bags, (bag) => keyOf(bag.passenger, bag.type, bag.weightKg, bag.currency)).flatMap(
    (alike) => wholeWay(alike, new Set(whole)),
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
  const [price, of, most] = [
    amount(raw.total_amount),
    currency(raw.total_currency),
    count(raw.maximum_quantity),
  ];
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
