import { type Selectable, type SqlBool, sql } from 'kysely';
import { REGAINED, regained } from '../store/base/index.ts';
import {
  type Leased,
  type LeasePorts,
  leaseIsOver,
  leaseTime,
  markRow,
  takeRow,
  unlessLost,
  whileHeld,
} from '../store/index.ts';
import type { PaymentsTables, SettlementTable, Store } from './tables.ts';

export type Settlement = Selectable<SettlementTable>;

type SettlementChange = Partial<
  Pick<
    Settlement,
    | 'state'
    | 'transaction'
    | 'signature'
    | 'last_valid_block_height'
    | 'answer_status'
    | 'answer_sealed'
    | 'answer_fence'
    | 'settle_response'
    | 'error_code'
  >
>;

interface NewSettlement {
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
  /**
   * Runs `work` while the lease of a row is renewed, and gives the lease up afterwards unless the row is finished: a
   * retry then goes on at once. After a crash it waits for the lease, a few seconds.
   */
  hold<T>(row: Settlement, work: () => Promise<T>): Promise<T>;
  /**
   * @param how `REGAINED`: the cluster and what is written already tell it again
   * @throws LeaseLost when the row was overtaken.
   */
  write(row: Settlement, change: SettlementChange, how?: typeof REGAINED): Promise<Settlement>;
  /** Rows under way that nobody holds any more. */
  orphans(limit: number): Promise<Settlement[]>;
}

export const LEASE_MS = 4_000;

/** A payment under way. Its lease is renewed for as long as its request lives. */
const SETTLEMENTS: Leased<PaymentsTables, 'settlements'> = {
  table: 'settlements',
  key: 'payment_key',
  open: sql<SqlBool>`state not in ('answered', 'failed')`,
  leaseMs: LEASE_MS,
  mostMs: Number.POSITIVE_INFINITY,
};

/** A payment of which nothing more is known than that it was claimed. */
const UNSIGNED = {
  transaction: null,
  signature: null,
  last_valid_block_height: null,
  answer_status: null,
  answer_sealed: null,
  answer_fence: null,
  settle_response: null,
  error_code: null,
} as const;

export function createJournal(ports: LeasePorts & { readonly store: Store }): Journal {
  const { store, clock } = ports;
  /** Held rows that were written for the last time. */
  const ended = new Set<string>();
  const nameOf = (row: Settlement) => `${row.payment_key} ${row.fence}`;
  return {
    find: (key) => store.selectFrom('settlements').selectAll().where('payment_key', '=', key).executeTakeFirst(),
    async claim(one) {
      const now = clock.now();
      const row: Settlement = {
        ...UNSIGNED,
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
      };
      // A claim alone means nothing: what counts is our signature, which comes after it.
      const made = await regained(store)
        .insertInto('settlements')
        .values({ ...row, lease_until_ms: leaseTime(store, clock)(LEASE_MS) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return made.numInsertedOrUpdatedRows ? row : null;
    },
    overtake: (row) => takeRow(ports, SETTLEMENTS, row.payment_key),
    async hold(row, work) {
      const holding = nameOf(row);
      try {
        return await whileHeld(ports, SETTLEMENTS, row, work);
      } finally {
        // Nobody holds a payment that has ended.
        if (!ended.delete(holding))
          await unlessLost(() => markRow(store, SETTLEMENTS, row, { lease_until_ms: 0 }, REGAINED));
      }
    },
    async write(row, change, how) {
      const written = { ...change, updated_at_ms: clock.now() };
      await markRow(store, SETTLEMENTS, row, written, how);
      if (change.state === 'answered' || change.state === 'failed') ended.add(nameOf(row));
      return { ...row, ...written };
    },
    async orphans(limit) {
      return (
        store
          .selectFrom('settlements')
          .selectAll()
          // In the words of the index over what is under way.
          .where(sql<SqlBool>`state in ('claimed', 'performed', 'settling')`)
          .where('updated_at_ms', '>', 0)
          .where(leaseIsOver(leaseTime(store, clock), LEASE_MS))
          .orderBy('updated_at_ms')
          .limit(limit)
          .execute()
      );
    },
  };
}
