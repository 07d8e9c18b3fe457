import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { REGAINED, regained } from '../store/base/index.ts';
import type { Leased, LeasePorts } from '../store/index.ts';
import { leaseIsOver, leaseTime, markRow, takeRow, unlessLost, whileHeld } from '../store/index.ts';
import type { PaymentsTables, SettlementTable, Store } from './tables.ts';

export type Settlement = Selectable<SettlementTable>;

type SettlementChange = Partial<Pick<Settlement, 'state' | keyof typeof UNSIGNED>>;

export type NewSettlement = Pick<
  Settlement,
  'payment_key' | 'payment_id' | 'quote_id' | 'request_digest' | 'payer' | 'amount' | 'pay_to'
>;

export const LEASE_MS = 4_000;

const SETTLEMENTS: Leased<PaymentsTables, 'settlements'> = {
  table: 'settlements',
  key: 'payment_key',
  open: sql<SqlBool>`state not in ('answered', 'failed')`,
  leaseMs: LEASE_MS,
  mostMs: Number.POSITIVE_INFINITY,
};

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

/** The settlement journal: a row per payment and quote, both unique, held by a lease; a fence guards each write. */
export function createJournal(ports: LeasePorts & { readonly store: Store }) {
  const { store, clock } = ports;
  /** Held rows that have reached their last state. */
  const ended = new Set<string>();
  const nameOf = (row: Settlement) => `${row.payment_key} ${row.fence}`;
  const orphaned = (limit: number) =>
    store
      .selectFrom('settlements')
      // In the words of the index `settlements_open`, so that it is used.
      .where(sql<SqlBool>`state in ('claimed', 'performed', 'settling')`)
      .where('updated_at_ms', '>', 0)
      .where(leaseIsOver(leaseTime(store, clock), LEASE_MS))
      .orderBy('updated_at_ms')
      .limit(limit);
  return {
    find: (key: string): Promise<Settlement | undefined> =>
      store.selectFrom('settlements').selectAll().where('payment_key', '=', key).executeTakeFirst(),

    /** The payer's payment with this `payment_id`, unless it failed. */
    named: ({ payer, payment_id }: NewSettlement): Promise<Settlement | undefined> =>
      store
        .selectFrom('settlements')
        .selectAll()
        .where('payer', '=', payer)
        .where('payment_id', '=', payment_id)
        .where(sql<SqlBool>`payment_id is not null and state <> 'failed'`)
        .executeTakeFirst(),

    /** Null if the payment, its quote or its `payment_id` is claimed already. */
    async claim(one: NewSettlement): Promise<Settlement | null> {
      const now = clock.now();
      const row: Settlement = {
        ...UNSIGNED,
        ...one,
        state: 'claimed',
        fence: 1,
        lease_until_ms: now + LEASE_MS,
        created_at_ms: now,
        updated_at_ms: now,
      };
      // A power cut may take a claim back: only our signature counts, and comes later.
      const made = await regained(store)
        .insertInto('settlements')
        .values({ ...row, lease_until_ms: leaseTime(store, clock)(LEASE_MS) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return made.numInsertedOrUpdatedRows ? row : null;
    },

    overtake: (row: Settlement): Promise<Settlement | null> => takeRow(ports, SETTLEMENTS, row.payment_key),

    /** Runs `work` while it renews the lease, then frees an unfinished row, so that a retry goes on at once. */
    async hold<T>(row: Settlement, work: () => Promise<T>): Promise<T> {
      const holding = nameOf(row);
      try {
        return await whileHeld(ports, SETTLEMENTS, row, work);
      } finally {
        // A payment that has ended needs no release.
        if (!ended.delete(holding))
          await unlessLost(() => markRow(store, SETTLEMENTS, row, { lease_until_ms: 0 }, REGAINED));
      }
    },

    /** @param how `REGAINED` if the cluster or other rows show the change again @throws LeaseLost if overtaken */
    async write(row: Settlement, change: SettlementChange, how?: typeof REGAINED): Promise<Settlement> {
      const written = { ...change, updated_at_ms: clock.now() };
      await markRow(store, SETTLEMENTS, row, written, how);
      if (change.state === 'answered' || change.state === 'failed') ended.add(nameOf(row));
      return { ...row, ...written };
    },

    orphans: (limit: number): Promise<Settlement[]> => orphaned(limit).selectAll().execute(),

    /** Selects when the oldest orphan was last written to (epoch ms). */
    orphanedAtMs: (): RawBuilder<number | null> => sql`${orphaned(1).select('updated_at_ms')}`,
  };
}

export type Journal = ReturnType<typeof createJournal>;
