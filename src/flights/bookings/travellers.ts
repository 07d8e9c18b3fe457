import type { Provider } from '../../airlines/index.ts';
import { type Part, partRuleOf, type Share, sharesOf } from '../../kernel/domain/part-refunds.ts';
import { ageOn, agesOf, seatsFor, travellerType } from '../../kernel/domain/travel-ages.ts';
import { parseUsdc } from '../../kernel/money.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { Intent } from '../../wire/flights/index.ts';
import {
  type BookingRow,
  bookingOf,
  type FlightsPorts,
  type IntentRow,
  type KeptOrder,
  lockedOffer,
  lockedSeats,
  orderOf,
  partsRefunded,
  passengersIn,
  type RefundRequestRow,
  type Store,
} from '../base/index.ts';
import { openPassengers } from './identity.ts';
import { isAskable } from './order-record.ts';

interface Travellers {
  /** When the last direction departs. */
  readonly ages: readonly number[];
  /** Null if the seller does not disclose what each traveller paid. */
  readonly shares: readonly Share[] | null;
}

/** The travellers of a booking, in the order of its passengers; null once their data is purged. */
export function travellersOf(secrets: Secrets, intent: IntentRow, booking: BookingRow | undefined): Travellers | null {
  if (!booking?.passengers_sealed) return null;
  const offer = lockedOffer(intent);
  const day = offer.slices.at(-1)?.departing_at.slice(0, 10) ?? '';
  const ages = openPassengers(secrets, booking).map(({ born_on }) => ageOn(born_on, day));
  // Maps each passenger to a traveller of the offer.
  const searched = agesOf(offer);
  const places = searched ? seatsFor(ages, searched.seats) : ages.map((_, index) => index);
  const fares = offer.passengers?.map(({ total_amount_decimal: fare }) => (fare === null ? null : parseUsdc(fare)));
  const own = fares && places.map((place) => (place === null ? null : (fares[place] ?? null)));
  const chosen = lockedSeats(intent)?.chosen ?? [];
  const seats = places.map((place) =>
    chosen.reduce((sum, one) => (one.passenger_index === place ? sum + BigInt(one.amount) : sum), 0n),
  );
  return { ages, shares: sharesOf(BigInt(intent.amount), ages.map(travellerType), own, seats) };
}

/** The part of a refund of these travellers (null for all who are left); null for all of a booking without refunds. */
export async function partLeaving(
  on: Store,
  secrets: Secrets,
  intent: IntentRow,
  passengers: readonly number[] | null,
): Promise<Part | null> {
  const gone = (await partsRefunded(on, intent.intent_id)).flatMap(passengersIn);
  if (passengers === null && gone.length === 0) return null;
  const { shares } = travellersOf(secrets, intent, await bookingOf(on, intent.intent_id)) ?? { shares: null };
  // Equal shares if the travellers' data is purged.
  const adults = Array.from({ length: intent.passenger_count }, () => 'adult' as const);
  const all = shares ?? sharesOf(BigInt(intent.amount), adults, undefined) ?? [];
  const leaves = ({ passenger }: Share) => passengers?.includes(passenger) ?? !gone.includes(passenger);
  return { ends: passengers === null, of: all.filter(leaves) };
}

/** True if the order's airline can cancel single travellers. */
export const cancelsSome = (provider: Provider | null, order: KeptOrder | undefined): boolean =>
  provider?.cancelPassengers !== undefined && order !== undefined && isAskable(order.provider_order_id);

/** The travellers of a booking for several, and what a refund of each alone would pay; undefined for other bookings. */
export async function shownPassengers(
  ports: Pick<FlightsPorts, 'store' | 'secrets' | 'provider'>,
  intent: IntentRow,
  open: RefundRequestRow | undefined,
): Promise<Intent['passengers']> {
  const { store, secrets, provider } = ports;
  if (intent.passenger_count === 1) return undefined;
  const travellers = travellersOf(secrets, intent, await bookingOf(store, intent.intent_id));
  if (!travellers) return undefined;
  const order = await orderOf(store, intent.intent_id);
  const gone = (await partsRefunded(store, intent.intent_id)).flatMap(passengersIn);
  const isOpen = open !== undefined && ['received', 'approved', 'stuck'].includes(open.state);
  const asked = isOpen ? passengersIn(open) : [];
  const isAll = isOpen && open.passengers === null;
  const statusOf = (passenger: number) => {
    if (intent.status === 'refunded' || gone.includes(passenger)) return 'refunded';
    return isAll || asked.includes(passenger) ? 'refund_requested' : 'booked';
  };
  return travellers.ages.map((age, index) => {
    const share = travellers.shares?.[index];
    const part: Part | null = share ? { ends: false, of: [share] } : null;
    const back =
      part && cancelsSome(provider, order)
        ? partRuleOf(part, lockedOffer(intent), BigInt(intent.amount), order?.cancelled_by).payout
        : null;
    return {
      passenger: index + 1,
      type: travellerType(age),
      status: statusOf(index + 1),
      paid_amount: share?.amount ?? null,
      refund_amount: back === null ? null : Number(back),
    };
  });
}
