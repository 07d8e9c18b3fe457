import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/open.ts';
import type { SettlementTable } from '../store/tables/schema.ts';

export type Settlement = Selectable<SettlementTable>;

export type SettlementChange = Partial<
  Pick<
    Settlement,
    | 'state'
    | 'transaction'
    | 'signature'
    | 'last_valid_block_height'
    | 'answer_status'
    | 'answer_sealed'
    | 'settle_response'
    | 'error_code'
  >
>;

export interface NewSettlement {
  readonly key: string;
  readonly quoteId: string;
  readonly requestDigest: string;
  readonly payer: string;
  readonly amount: number;
  readonly payTo: string;
}

/**
 * The settlement journal. One row per payment and per quote, both unique: whoever inserts the row holds the payment.
 * A lease says until when, and a fence that every write names, so that a holder which was overtaken changes nothing.
 */
export interface Journal {
  find(key: string): Promise<Settlement | undefined>;
  /** null when the payment or its quote is held already. */
  claim(settlement: NewSettlement): Promise<Settlement | null>;
  /** Takes over a row whose lease has run out; null when somebody else did. */
  overtake(row: Settlement): Promise<Settlement | null>;
  isHeld(row: Settlement): boolean;
  renew(row: Settlement): Promise<void>;
  /** Lets anybody go on with an unfinished row; nothing when it was overtaken. */
  release(row: Settlement): Promise<void>;
  /** @throws LeaseLost when the row was overtaken. */
  write(row: Settlement, change: SettlementChange): Promise<Settlement>;
  /** Rows under way that nobody holds any more. */
  orphans(limit: number): Promise<Settlement[]>;
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export const LEASE_MS = 4_000;

export function createJournal(ports: { store: Store; clock: Clock }): Journal {
  const { store, clock } = ports;
  // A lease that ends later than any holder could have asked for was written before the clock was set back.
  const isHeld = (row: Settlement) => {
    const now = clock.now();
    return row.lease_until_ms > now && row.lease_until_ms <= now + LEASE_MS;
  };
  const setLease = async (row: Settlement, untilMs: number) => {
    await store
      .updateTable('settlements')
      .set({ lease_until_ms: untilMs })
      .where('payment_key', '=', row.payment_key)
      .where('fence', '=', row.fence)
      .where('state', 'not in', ['answered', 'failed'])
      .execute();
  };
  return {
    isHeld,
    find: (key) =>
      store.selectFrom('settlements').selectAll().where('payment_key', '=', key).executeTakeFirst(),
    async claim(one) {
      const now = clock.now();
      const row = await store
        .insertInto('settlements')
        .values({
          payment_key: one.key,
          quote_id: one.quoteId,
          request_digest: one.requestDigest,
          state: 'claimed',
          payer: one.payer,
          amount: one.amount,
          pay_to: one.payTo,
          fence: 1,
          lease_until_ms: now + LEASE_MS,
          created_at_ms: now,
          updated_at_ms: now,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      return row ?? null;
    },
    async overtake(row) {
      if (isHeld(row)) return null;
      const taken = await store
        .updateTable('settlements')
        .set({ fence: row.fence + 1, lease_until_ms: clock.now() + LEASE_MS })
        .where('payment_key', '=', row.payment_key)
        .where('fence', '=', row.fence)
        .where('lease_until_ms', '=', row.lease_until_ms)
        .returningAll()
        .executeTakeFirst();
      return taken ?? null;
    },
    renew: (row) => setLease(row, clock.now() + LEASE_MS),
    release: (row) => setLease(row, 0),
    async write(row, change) {
      const written = await store
        .updateTable('settlements')
        .set({ ...change, updated_at_ms: clock.now() })
        .where('payment_key', '=', row.payment_key)
        .where('fence', '=', row.fence)
        .returningAll()
        .executeTakeFirst();
      if (!written) throw new LeaseLost(`the payment ${row.payment_key} was taken over`);
      return written;
    },
    async orphans(limit) {
      const rows = await store
        .selectFrom('settlements')
        .selectAll()
        // In the words of the index over what is under way.
        .where(sql<SqlBool>`state in ('claimed', 'performed', 'settling')`)
        .where('updated_at_ms', '>', 0)
        .orderBy('updated_at_ms')
        .limit(limit)
        .execute();
      return rows.filter((row) => !isHeld(row));
    },
  };
}
