import { openSqlite } from '../../store/libsql/index.ts';
import type { BehaviourName, Outcome } from './behaviour-table.ts';

/** An order in the platform's own books. */
export interface BookedOrder {
  readonly orderId: string;
  readonly partner: string;
  readonly digest: string;
  /** The answer that every call about it gets, JSON. */
  readonly answer: string;
  readonly outcome: Outcome;
  /** Updates that were sent. */
  readonly steps: number;
  /** Of the order at the service, as its last answer said. */
  readonly version: number;
  /** Refusals of the next update, in a row. */
  readonly attempts: number;
}

/** How long a process that sends an update keeps the others away. */
const LEASE_MS = 12_000;

const TABLES = `
  create table if not exists orders (
    order_id text not null, partner text not null, digest text not null, answer text not null,
    outcome text not null, steps integer not null, version integer not null, attempts integer not null,
    due_at_ms integer, lease_until_ms integer not null, primary key (partner, order_id));
  create index if not exists orders_due on orders (due_at_ms) where due_at_ms is not null;
  create table if not exists calls (partner text not null, order_id text not null, count integer not null,
    primary key (partner, order_id));
  create table if not exists behaviours (partner text primary key, behaviour text not null);
`;

/**
 * The sandbox platform's books, in a file of their own: it is another company's. Orders are idempotent by their id, and
 * survive a restart. Opened with the first call.
 */
export function openBooks(path: string) {
  const database = openSqlite(path);
  database.exec(TABLES);
  /** Every row of an answer is read: a statement that writes is done only then. */
  const rows = <T>(query: string, ...values: unknown[]) => database.prepare(query).all(...values) as T[];
  const orders = (query: string, ...values: unknown[]) => rows<Row>(query, ...values).map(bookedOrder);
  const find = (partner: string, orderId: string): BookedOrder | null =>
    orders('select * from orders where partner = ? and order_id = ?', partner, orderId)[0] ?? null;

  return {
    find,

    /** How often the platform was called about an order, this call included. */
    countCall(partner: string, orderId: string): number {
      const [row] = rows<{ count: number }>(
        `insert into calls (partner, order_id, count) values (?, ?, 1)
         on conflict (partner, order_id) do update set count = count + 1 returning count`,
        partner,
        orderId,
      );
      return Number(row?.count);
    },

    /** Writes an order, unless it is there: the first one stays. `dueAtMs`: its first update, null for none. */
    book(
      order: Pick<BookedOrder, 'orderId' | 'partner' | 'digest' | 'answer' | 'outcome'>,
      dueAtMs: number | null,
    ): BookedOrder {
      database
        .prepare(
          `insert into orders (order_id, partner, digest, answer, outcome, steps, version, attempts, due_at_ms,
             lease_until_ms) values (?, ?, ?, ?, ?, 0, 1, 0, ?, 0) on conflict (partner, order_id) do nothing`,
        )
        .run(order.orderId, order.partner, order.digest, order.answer, order.outcome, dueAtMs);
      const booked = find(order.partner, order.orderId);
      if (!booked) throw new Error('an order was booked and is not there');
      return booked;
    },

    behaviourOf(partner: string): BehaviourName {
      const query = 'select behaviour from behaviours where partner = ?';
      return rows<{ behaviour: BehaviourName }>(query, partner)[0]?.behaviour ?? 'normal';
    },

    setBehaviour(partner: string, behaviour: BehaviourName): void {
      database
        .prepare(
          `insert into behaviours (partner, behaviour) values (?, ?)
           on conflict (partner) do update set behaviour = excluded.behaviour`,
        )
        .run(partner, behaviour);
    },

    /** When the next update is due (epoch ms), null when none is. */
    nextDueAtMs(): number | null {
      const query = 'select min(due_at_ms) as at_ms from orders where due_at_ms is not null';
      const atMs = rows<{ at_ms: number | null }>(query)[0]?.at_ms ?? null;
      return atMs === null ? null : Number(atMs);
    },

    /** Takes one order whose next update is due, for this process alone. */
    claimDue(nowMs: number): BookedOrder | null {
      const leaseUntilMs = nowMs + LEASE_MS;
      const [order] = orders(
        `update orders set lease_until_ms = ?, due_at_ms = ? where rowid = (
           select rowid from orders where due_at_ms <= ? and (lease_until_ms <= ? or lease_until_ms > ?)
           order by due_at_ms limit 1) returning *`,
        leaseUntilMs,
        leaseUntilMs,
        nowMs,
        nowMs,
        leaseUntilMs,
      );
      return order ?? null;
    },

    /** Keeps the outcome of an update; `dueAtMs` null: there is nothing more to send. */
    moved(
      { partner, orderId }: BookedOrder,
      now: { steps: number; version: number; attempts: number; dueAtMs: number | null },
    ): void {
      database
        .prepare(
          `update orders set steps = ?, version = ?, attempts = ?, due_at_ms = ?, lease_until_ms = 0
           where partner = ? and order_id = ?`,
        )
        .run(now.steps, now.version, now.attempts, now.dueAtMs, partner, orderId);
    },

    orders: (partner: string) =>
      orders('select * from orders where partner = ? order by rowid desc limit 200', partner),

    close: () => database.close(),
  };
}

export type Books = ReturnType<typeof openBooks>;

interface Row {
  order_id: string;
  partner: string;
  digest: string;
  answer: string;
  outcome: Outcome;
  steps: number;
  version: number;
  attempts: number;
}

const bookedOrder = (row: Row): BookedOrder => ({
  orderId: row.order_id,
  partner: row.partner,
  digest: row.digest,
  answer: row.answer,
  outcome: row.outcome,
  steps: Number(row.steps),
  version: Number(row.version),
  attempts: Number(row.attempts),
});
