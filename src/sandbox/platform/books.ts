import { openBook } from '../base/index.ts';
import type { BehaviourName, Outcome } from './behaviour-table.ts';

export interface BookedOrder {
  readonly orderId: string;
  readonly partner: string;
  readonly digest: string;
  /** The JSON that answers each of its calls. */
  readonly answer: string;
  readonly outcome: Outcome;
  readonly steps: number;
  /** The order's version in the service's last answer. */
  readonly version: number;
  /** Consecutive refusals of the next update. */
  readonly attempts: number;
  /** Null if no update is left. */
  readonly dueAtMs: number | null;
}

/** The lease of a process that sends an update. */
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

/** Opens the books of another company. Orders are idempotent by id and survive restarts. */
export function openBooks(path: string) {
  const { close, insert, rows, run } = openBook(path, TABLES);
  const find = (partner: string, orderId: string): BookedOrder | null =>
    rows<BookedOrder>('select * from orders where partner = ? and order_id = ?', partner, orderId)[0] ?? null;
  return {
    close,
    find,

    /** Counts the calls about an order, including this one. */
    countCall: (partner: string, orderId: string): number =>
      insert('calls', { partner, orderId, count: 1 }, 'on conflict do update set count = count + 1')?.count ?? 0,

    /** Books an order; an existing one is returned as it is. */
    book(order: Pick<BookedOrder, 'orderId' | 'partner' | 'digest' | 'answer' | 'outcome' | 'dueAtMs'>): BookedOrder {
      insert('orders', { ...order, steps: 0, version: 1, attempts: 0, leaseUntilMs: 0 }, 'on conflict do nothing');
      const booked = find(order.partner, order.orderId);
      if (!booked) throw new Error('an order was booked and is not there');
      return booked;
    },

    behaviourOf: (partner: string): BehaviourName =>
      rows<{ behaviour: BehaviourName }>('select * from behaviours where partner = ?', partner)[0]?.behaviour ??
      'normal',

    setBehaviour(partner: string, behaviour: BehaviourName): void {
      insert('behaviours', { partner, behaviour }, 'on conflict do update set behaviour = excluded.behaviour');
    },

    nextDueAtMs: (): number | null =>
      rows<{ atMs: number | null }>('select min(due_at_ms) as at_ms from orders where due_at_ms is not null')[0]
        ?.atMs ?? null,

    /** Takes a lease on one order with a due update. */
    claimDue(nowMs: number): BookedOrder | null {
      const leaseUntilMs = nowMs + LEASE_MS;
      const [order] = rows<BookedOrder>(
        `update orders set lease_until_ms = ?, due_at_ms = ? where rowid = (
           select rowid from orders where due_at_ms <= ? and (lease_until_ms <= ? or lease_until_ms > ?)
           order by due_at_ms limit 1) returning *`,
        ...[leaseUntilMs, leaseUntilMs, nowMs, nowMs, leaseUntilMs],
      );
      return order ?? null;
    },

    moved: ({ partner, orderId, steps, version, attempts, dueAtMs }: BookedOrder): void =>
      run(
        `update orders set steps = ?, version = ?, attempts = ?, due_at_ms = ?, lease_until_ms = 0
         where partner = ? and order_id = ?`,
        ...[steps, version, attempts, dueAtMs, partner, orderId],
      ),

    orders: (partner: string): BookedOrder[] =>
      rows('select * from orders where partner = ? order by rowid desc limit 200', partner),
  };
}

export type Books = ReturnType<typeof openBooks>;
