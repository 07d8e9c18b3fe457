import { yearsLater } from '../clock.ts';

/** Ages count on the day when the last direction departs, as Duffel counts them: a later connection changes none. */

export type TravellerType = 'adult' | 'youth' | 'child' | 'infant';

/** The age that was searched for one traveller; null for an adult. */
export type Seat = number | null;

/** The ages at which a traveller is no longer a lap infant, a child, or a youth. */
export const CHILD_FROM = 2;
export const YOUTH_FROM = 12;
export const ADULT_FROM = 18;

export const travellerType = (age: Seat): TravellerType => {
  if (age === null || age >= ADULT_FROM) return 'adult';
  return age < CHILD_FROM ? 'infant' : age < YOUTH_FROM ? 'child' : 'youth';
};

/** The age in whole years on a day; a birthday on 29 February counts from 1 March. */
export function ageOn(bornOn: string, day: string): number {
  const years = Number(day.slice(0, 4)) - Number(bornOn.slice(0, 4));
  return yearsLater(bornOn, years) > day ? years - 1 : years;
}

/** An offer without `passengers` is for adults only. */
interface AgedOffer {
  readonly passengers?: readonly { readonly age: Seat }[] | undefined;
  readonly slices: readonly { readonly departing_at: string }[];
}

/** The searched ages, and the day that they count on: the last direction's departure. Undefined for adults only. */
export const agesOf = ({ passengers, slices }: AgedOffer): { on: string; seats: readonly Seat[] } | undefined =>
  passengers && { on: slices.at(-1)?.departing_at.slice(0, 10) ?? '', seats: passengers.map(({ age }) => age) };

/** Says why no seller takes these ages together; null if they can be searched. */
export function agesFault(adults: number, childAges: readonly number[]): string | null {
  if (adults + childAges.length > MOST_TRAVELLERS)
    return `makes more than ${MOST_TRAVELLERS} travellers with the adults.`;
  const infants = childAges.filter((age) => age < CHILD_FROM).length;
  if (infants > adults) return `has ${infants} under ${CHILD_FROM}: each needs the lap of an adult.`;
  return null;
}

export const MOST_TRAVELLERS = 9;

/**
 * Gives each passenger a seat, as an index of `seats`: a seat of the same age first, then of the same type, then an
 * adult's seat to a youth. Null if no seat is left for the age.
 */
export function seatsFor(ages: readonly number[], seats: readonly Seat[]): (number | null)[] {
  const given: (number | null)[] = ages.map(() => null);
  const taken = new Set<number>();
  const give = (fits: (age: number, seat: Seat) => boolean) => {
    for (const [passenger, age] of ages.entries()) {
      if (given[passenger] !== null) continue;
      const place = seats.findIndex((seat, at) => !taken.has(at) && fits(age, seat));
      if (place < 0) continue;
      taken.add(place);
      given[passenger] = place;
    }
  };
  give((age, seat) => (seat === null ? age >= ADULT_FROM : seat === age));
  give((age, seat) => travellerType(seat) === travellerType(age));
  give((age, seat) => seat === null && age >= YOUTH_FROM);
  return given;
}

/** `2 adults`, `1 adult and children of 8 and 1` */
export function seatsText(seats: readonly Seat[]): string {
  const ages = seats.filter((age) => age !== null);
  const adults = seats.length - ages.length;
  const said = `${adults} ${adults === 1 ? 'adult' : 'adults'}`;
  if (ages.length === 0) return said;
  const [last, ...before] = ages.map(String).reverse();
  const listed = before.length === 0 ? last : `${before.reverse().join(', ')} and ${last}`;
  return `${said} and ${ages.length === 1 ? 'a child' : 'children'} of ${listed}`;
}
