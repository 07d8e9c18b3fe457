import type { Secrets } from '../../kernel/secrets.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import type { BookingRow } from '../base/index.ts';

/** Where the text is at home: it opens in the row of its own booking alone. */
const place = (intentId: string): string => `bookings.passengers_sealed.${intentId}`;

export const sealPassengers = (secrets: Secrets, intentId: string, passengers: readonly Passenger[]): string =>
  secrets.encrypt(place(intentId), JSON.stringify(passengers));

/** The passengers of a booking, in clear: for the airline, and for what is said to the lead passenger. */
export const openPassengers = (
  secrets: Secrets,
  booking: Pick<BookingRow, 'intent_id' | 'passengers_sealed'>,
): Passenger[] => JSON.parse(secrets.decrypt(place(booking.intent_id), booking.passengers_sealed)) as Passenger[];
