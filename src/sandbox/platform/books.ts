import { openSqlite } from '../../store/libsql.ts';
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

/**
 * The sandbox platform's books, in a file of their own: it is another company's. Orders are idempotent by their id, and
 * survive a restart. Opened with the first call.
 */
export function openBooks(path: string) {
  const database = openSqlite(path);
  database.exec(`
    create table if not exists orders (
      order_id text not null, partner text not null, digest text not null, answer text not null,
      outcome text not null, steps integer not null, version integer not null, attempts integer not null,
      due_at_ms integer, lease_until_ms integer not null, primary key (partner, order_id));
    create index if not exists orders_due on orders (due_at_ms) where due_at_ms is not null;
    create table if not exists calls (partner text not null, order_id text not null, count integer not null,
      primary key (partner, order_id));
    create table if not exists behaviours (partner text primary key, behaviour text not null);
  `);

  function inTransaction<T>(work: () => T): T {
    database.exec('begin immediate');
    try {
      const result = work();
      database.exec('commit');
      return result;
    } catch (error) {
      // After a full disk or an I/O error SQLite has rolled back by itself; the first error tells why.
      if (database.inTransaction) database.exec('rollback');
      throw error;
    }
  }

  const find = (partner: string, orderId: string): BookedOrder | null => {
    const row = database
      .prepare('select * from orders where partner = ? and order_id = ?')
      .get(partner, orderId) as Row | undefined;
    return row ? bookedOrder(row) : null;
  };

  return {
    find,

    /** How often the platform was called about an order, this call included. */
    countCall: (partner: string, orderId: string): number =>
      inTransaction(() => {
        database
          .prepare(
            `insert into calls (partner, order_id, count) values (?, ?, 1)
             on conflict (partner, order_id) do update set count = count + 1`,
          )
          .run(partner, orderId);
        const row = database
          .prepare('select count from calls where partner = ? and order_id = ?')
          .get(partner, orderId) as { count: number };
        return Number(row.count);
      }),

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

    behaviourOf: (partner: string): BehaviourName => {
      const row = database.prepare('select behaviour from behaviours where partner = ?').get(partner) as
        | { behaviour: BehaviourName }
        | undefined;
      return row?.behaviour ?? 'normal';
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
      const row = database
        .prepare('select min(due_at_ms) as at_ms from orders where due_at_ms is not null')
        .get() as { at_ms: number | null };
      return row.at_ms === null ? null : Number(row.at_ms);
    },

    /** Takes one order whose next update is due, for this process alone. */
    claimDue: (nowMs: number): BookedOrder | null =>
      inTransaction(() => {
        const row = database
          .prepare(
            `select * from orders where due_at_ms <= ? and (lease_until_ms <= ? or lease_until_ms > ?)
             order by due_at_ms limit 1`,
          )
          .get(nowMs, nowMs, nowMs + LEASE_MS) as Row | undefined;
        if (!row) return null;
        database
          .prepare('update orders set lease_until_ms = ?, due_at_ms = ? where partner = ? and order_id = ?')
          .run(nowMs + LEASE_MS, nowMs + LEASE_MS, row.partner, row.order_id);
        return bookedOrder(row);
      }),

    /** Keeps what came of an update; `dueAtMs` null: there is nothing more to send. */
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

    orders: (partner: string): BookedOrder[] =>
      (
        database
          .prepare('select * from orders where partner = ? order by rowid desc limit 200')
          .all(partner) as Row[]
      ).map(bookedOrder),

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
