import { problem } from '../../kernel/problems.ts';
import type { FlightsPorts } from '../ports.ts';

export const BOOKING_DISABLED = 'booking_disabled';
export const LOWCOST_DISABLED = 'lowcost_booking_disabled';

/**
 * The operator's switch over new intents and bookings; what is under way goes on.
 * @throws Problem `booking_disabled`
 */
export async function checkBookingEnabled({ store, options }: FlightsPorts): Promise<void> {
  if (options.bookingDisabled) throw problem('booking_disabled', { retryAfter: 300 });
  const row = await store
    .selectFrom('meta')
    .select('value')
    .where('key', '=', BOOKING_DISABLED)
    .executeTakeFirst();
  if (row && row.value !== '0') throw problem('booking_disabled', { retryAfter: 300 });
}

/** Flips the switch for every process on this database. */
export async function setBookingDisabled(
  { store }: Pick<FlightsPorts, 'store'>,
  disabled: boolean,
): Promise<void> {
  const value = disabled ? '1' : '0';
  await store
    .insertInto('meta')
    .values({ key: BOOKING_DISABLED, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/**
 * The operator's switch over new intents and bookings on lowcost offers; what is under way goes on.
 * @throws Problem `lowcost_booking_unavailable`
 */
export async function checkLowcostOpen({
  store,
  options,
}: Pick<FlightsPorts, 'store' | 'options'>): Promise<void> {
  if (options.lowcostDisabled) throw problem('lowcost_booking_unavailable');
  const row = await store
    .selectFrom('meta')
    .select('value')
    .where('key', '=', LOWCOST_DISABLED)
    .executeTakeFirst();
  if (row && row.value !== '0') throw problem('lowcost_booking_unavailable');
}

/** Flips the lowcost switch for every process on this database. */
export async function setLowcostDisabled(
  { store }: Pick<FlightsPorts, 'store'>,
  disabled: boolean,
): Promise<void> {
  const value = disabled ? '1' : '0';
  await store
    .insertInto('meta')
    .values({ key: LOWCOST_DISABLED, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}
