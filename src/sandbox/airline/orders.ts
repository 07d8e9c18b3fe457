import { createHash, randomBytes } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { OrderedBags, ProviderOrder } from '../../airlines/index.ts';
import type { WantedSeat } from '../../kernel/domain/seats.ts';
import { CROCKFORD } from '../../kernel/ids.ts';
import { problem } from '../../kernel/problems.ts';
import type { Migration } from '../../store/base/index.ts';
import { openDatabase } from '../../store/index.ts';
import type { OnTrouble } from '../../store/libsql/index.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';

/** The airline's own orders. Of the travellers they have only the number. */
interface OrderTable {
  order_id: string;
  reference: string;
  offer_id: string;
  booking_reference: string;
  passenger_count: number;
  total_amount_decimal: string;
  total_currency: string;
  slices: string;
  refundable: number;
  fate: 'ticketed' | 'failed';
  settled_at_ms: number;
  cancelled_at_ms: number | null;
  created_at_ms: number;
  /** Extra bags (OrderedBags[], JSON); null if there are none. */
  bags: string | null;
  /** Chosen seats (WantedSeat[], JSON); null if there are none. */
  seats: string | null;
  /** Numbers from 1 (JSON) of the passengers without a seat, and of those cancelled one by one; null if none. */
  lap_passengers: string | null;
  cancelled_passengers: string | null;
}

interface AirlineTables {
  orders: OrderTable;
  /** Each seat of a flight is sold only once. */
  sold_seats: { seat: string; reference: string };
}

/** The airline's database also has the lowcost sales. */
export const airlineMigrations: readonly Migration[] = [
  {
    name: '001_airline_orders',
    statements: [
      `create table orders (
        order_id text primary key, reference text not null unique, offer_id text not null,
        booking_reference text not null, passenger_count bigint not null, total_amount_decimal text not null,
        total_currency text not null, slices text not null, refundable bigint not null, fate text not null,
        settled_at_ms bigint not null, cancelled_at_ms bigint, created_at_ms bigint not null)`,
    ],
  },
  {
    name: '002_lowcost_sales',
    statements: [
      `create table lowcost_sales (
        reference text primary key, run text not null, state text not null, offer_id text not null,
        passenger_count bigint not null, paid_amount_decimal text, booking_reference text, confirms_at_ms bigint,
        outcome text, cancelled_at_ms bigint, created_at_ms bigint not null, updated_at_ms bigint not null)`,
    ],
  },
  { name: '003_bags', statements: ['alter table orders add column bags text'] },
  {
    name: '004_seats',
    statements: [
      'alter table orders add column seats text',
      'create table sold_seats (seat text primary key, reference text not null)',
      'create index sold_seats_reference on sold_seats (reference)',
    ],
  },
  {
    name: '005_passengers',
    statements: [
      'alter table orders add column lap_passengers text',
      'alter table orders add column cancelled_passengers text',
    ],
  },
];

type Placed = Pick<
  OrderTable,
  | 'reference'
  | 'passenger_count'
  | 'fate'
  | 'settled_at_ms'
  | 'total_amount_decimal'
  | 'bags'
  | 'seats'
  | 'lap_passengers'
>;

export type OrderBook = Awaited<ReturnType<typeof openOrderBook>>;

export async function openOrderBook(path: string, onTrouble?: OnTrouble) {
  const database = await openDatabase<AirlineTables>(path, airlineMigrations, onTrouble);
  const find = (column: 'reference' | 'order_id', value: string) =>
    database.selectFrom('orders').selectAll().where(column, '=', value).executeTakeFirst();
  const byId = async (orderId: string, nowMs: number) => {
    const row = await find('order_id', orderId);
    if (!row) throw problem('order_not_found');
    return orderAt(row, nowMs);
  };
  const freeSeats = (reference: string) =>
    database.deleteFrom('sold_seats').where('reference', '=', reference).execute();
  return {
    /** The seats of all flights that other orders have. */
    async seatsTaken(reference: string): Promise<ReadonlySet<string>> {
      const rows = await database.selectFrom('sold_seats').select('seat').where('reference', '<>', reference).execute();
      return new Set(rows.map(({ seat }) => seat));
    },
    /** Takes seats for an order before it is made; returns false and takes none if another order has one of them. */
    async holdSeats(reference: string, seats: readonly string[]): Promise<boolean> {
      const rows = seats.map((seat) => ({ seat, reference }));
      await database
        .insertInto('sold_seats')
        .values(rows)
        .onConflict((conflict) => conflict.column('seat').doNothing())
        .execute();
      const held = await database.selectFrom('sold_seats').select('seat').where('reference', '=', reference).execute();
      if (seats.every((seat) => held.some((one) => one.seat === seat))) return true;
      await freeSeats(reference);
      return false;
    },
    /**
     * Adds an order, or finds the one with this reference; `made` is true for a new one.
     * @param placed `settled_at_ms`: the time of the ticket or the failure
     */
    async add(placed: Placed, offer: Offer, nowMs: number) {
      const { reference } = placed;
      const result = await database
        .insertInto('orders')
        .values({
          ...placed,
          order_id: `sbx_${randomBytes(12).toString('hex')}`,
          offer_id: offer.offer_id,
          booking_reference: recordLocator(),
          total_currency: offer.total_currency,
          slices: JSON.stringify(offer.slices),
          refundable: offer.conditions?.refund_allowed ? 1 : 0,
          created_at_ms: nowMs,
        })
        // The unique reference decides between concurrent processes.
        .onConflict((conflict) => conflict.column('reference').doNothing())
        .executeTakeFirst();
      const row = await find('reference', reference);
      if (!row) throw problem('provider_failed');
      return { order: orderAt(row, nowMs), made: Number(result.numInsertedOrUpdatedRows ?? 0) > 0 };
    },
    async byReference(reference: string, nowMs: number): Promise<ProviderOrder | null> {
      const row = await find('reference', reference);
      return row ? orderAt(row, nowMs) : null;
    },
    byId,
    async since(sinceMs: number, nowMs: number): Promise<ProviderOrder[]> {
      const rows = await database.selectFrom('orders').selectAll().where('created_at_ms', '>=', sinceMs).execute();
      return rows.map((row) => orderAt(row, nowMs));
    },
    async cancel(orderId: string, nowMs: number): Promise<ProviderOrder> {
      // Cancels only a live order, and only once.
      await database
        .updateTable('orders')
        .set({ cancelled_at_ms: nowMs })
        .where('order_id', '=', orderId)
        .where('cancelled_at_ms', 'is', null)
        .where((where) => where.or([where('fate', '=', 'ticketed'), where('settled_at_ms', '>', nowMs)]))
        .execute();
      const order = await byId(orderId, nowMs);
      await freeSeats(order.reference);
      return order;
    },
    cancelPassengers: (orderId: string, cancelled: Cancelled, nowMs: number) =>
      cancelPassengers(database, orderId, cancelled, nowMs),
    close: () => database.destroy(),
  };
}

interface Cancelled {
  /** Numbers from 1, in the order of the passengers. */
  readonly passengers: readonly number[];
  /** Names the flights of an offer. */
  readonly flightsOf: (offerId: string) => Promise<readonly string[]>;
}

/** Cancels passengers of a live order, each once, and frees their seats. */
async function cancelPassengers(
  database: Kysely<AirlineTables>,
  orderId: string,
  { passengers, flightsOf }: Cancelled,
  nowMs: number,
): Promise<ProviderOrder> {
  for (;;) {
    const row = await database.selectFrom('orders').selectAll().where('order_id', '=', orderId).executeTakeFirst();
    if (!row) throw problem('order_not_found');
    const gone = numbersOf(row.cancelled_passengers);
    const next = [...new Set([...gone, ...passengers])].sort((a, b) => a - b);
    const isRefused = row.cancelled_at_ms !== null || row.fate === 'failed' || next.length >= row.passenger_count;
    if (isRefused || next.length === gone.length) return orderAt(row, nowMs);
    const cancelled_passengers = JSON.stringify(next);
    // Of two cancellations at once, the later one reads the row again.
    const written = await database
      .updateTable('orders')
      .set({ cancelled_passengers })
      .where('order_id', '=', orderId)
      .where('cancelled_at_ms', 'is', null)
      .where('cancelled_passengers', row.cancelled_passengers === null ? 'is' : '=', row.cancelled_passengers)
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n) continue;
    const left = seatsOf(row).filter(({ passenger_index: at }) => passengers.includes(at + 1));
    const flights = left.length > 0 ? await flightsOf(row.offer_id) : [];
    const freed = left.map((seat) => `${flights[seat.segment_index]} ${seat.designator}`);
    if (freed.length > 0) await database.deleteFrom('sold_seats').where('seat', 'in', freed).execute();
    return orderAt({ ...row, cancelled_passengers }, nowMs);
  }
}

/** The clock alone issues the ticket: nothing runs in the background. */
function orderAt(row: Selectable<OrderTable>, nowMs: number): ProviderOrder {
  const settled = nowMs >= row.settled_at_ms;
  const cancelled = row.cancelled_at_ms !== null;
  const status = cancelled ? 'cancelled' : settled ? row.fate : 'confirmed';
  const hadTicket = settled && row.fate === 'ticketed' && (row.cancelled_at_ms ?? nowMs) >= row.settled_at_ms;
  const gone = numbersOf(row.cancelled_passengers);
  const seats = seatsOf(row).filter(({ passenger_index: at }) => !gone.includes(at + 1));
  return {
    providerOrderId: row.order_id,
    reference: row.reference,
    status,
    bookingReference: row.booking_reference,
    documents: hadTicket
      ? tickets(row.order_id, row.passenger_count).filter((_, index) => !gone.includes(index + 1))
      : [],
    totalAmountDecimal: row.total_amount_decimal,
    totalCurrency: row.total_currency,
    slices: JSON.parse(row.slices) as Slice[],
    ...(row.bags !== null && { bags: bagsLeft(row, gone) }),
    ...(seats.length > 0 && { seats }),
    ...(gone.length > 0 && { cancelledPassengers: gone }),
    failure: status === 'failed' ? 'The airline could not issue the ticket.' : null,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.cancelled_at_ms ?? (settled ? row.settled_at_ms : row.created_at_ms),
  };
}

const numbersOf = (list: string | null): number[] => (list === null ? [] : (JSON.parse(list) as number[]));

const seatsOf = ({ seats }: Pick<OrderTable, 'seats'>): WantedSeat[] =>
  seats === null ? [] : (JSON.parse(seats) as WantedSeat[]);

/** The bags of the travellers who still fly; each traveller with a seat has the same. */
function bagsLeft(row: Selectable<OrderTable>, gone: readonly number[]): OrderedBags[] {
  const lap = numbersOf(row.lap_passengers);
  const seats = row.passenger_count - lap.length;
  const left = seats - gone.filter((passenger) => !lap.includes(passenger)).length;
  return (JSON.parse(row.bags ?? '[]') as OrderedBags[]).map(({ type, quantity }) => ({
    type,
    quantity: (quantity / seats) * left,
  }));
}

/** Readable letters and digits without 0 and 1, a letter first. */
export function recordLocator(): string {
  const letters = CROCKFORD.slice(10);
  const all = CROCKFORD.slice(2);
  return [...randomBytes(6)]
    .map((byte, i) => (i === 0 ? letters[byte % letters.length] : all[byte % all.length]))
    .join('');
}

/** Makes 13-digit e-tickets; no real airline has the accounting code 000. */
export function tickets(orderId: string, count: number): { type: string; number: string }[] {
  const digest = createHash('sha256').update(`ticket ${orderId}`).digest();
  const first = digest.readUInt32BE(0) % 999_999_000;
  return Array.from({ length: count }, (_, i) => ({
    type: 'electronic_ticket',
    number: `000${String(first + i).padStart(10, '2')}`,
  }));
}
