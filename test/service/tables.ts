import type { FlightsDatabase } from '../../src/flights/base/tables.ts';
import type { Store as NotifyStore } from '../../src/notify/tables.ts';
import type { Store as PartnerStore } from '../../src/partner/base/tables.ts';
import type { Store } from '../../src/service/home.ts';
import type { Leased } from '../../src/store/leases.ts';

/** Compiles only while a room takes the whole database, and can name no table of another room. */
export const rooms = {
  given: (store: Store): PartnerStore => store,
  own: (store: PartnerStore) => store.selectFrom('partners'),
  // @ts-expect-error: a table of flights
  ofFlights: (store: PartnerStore) => store.selectFrom('bookings'),
  // @ts-expect-error: a table of flights
  ofItsUser: (store: NotifyStore) => store.selectFrom('intents'),
};

/** Compiles only while what is leased has the columns of a lease, and the key is one of its columns. */
export type Leases = [
  Leased<FlightsDatabase, 'bookings'>,
  // @ts-expect-error: it has no lease
  Leased<FlightsDatabase, 'orders'>,
];
