import type { Selectable } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { DuffelAttemptTable, Store } from './tables.ts';

export type Attempt = Selectable<DuffelAttemptTable>;

/** Code of an attempt that Duffel accepted with 202 and gave up later. */
export const CREATION_FAILED = 'creation_failed';

export const NOT_SENT = 'not_sent';

type Key = Pick<Attempt, 'reference' | 'attempt'>;
type Word = Partial<Pick<Attempt, 'order_id' | 'request_id' | 'code'>>;

export type Attempts = ReturnType<typeof createAttempts>;

/** The record of order requests: written before the POST, completed with its outcome. */
export function createAttempts({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  const all = () => store.selectFrom('duffel_attempts').selectAll();
  const change = ({ reference, attempt }: Key, word: Word) =>
    store
      .updateTable('duffel_attempts')
      .set({ updated_at_ms: clock.now(), ...word })
      .where('reference', '=', reference)
      .where('attempt', '=', attempt);
  return {
    of: (reference: string): Promise<Attempt[]> =>
      all().where('reference', '=', reference).orderBy('attempt').execute(),
    byOrder: (orderId: string): Promise<Attempt[]> => all().where('order_id', '=', orderId).execute(),
    byOffer: (offerId: string): Promise<Attempt[]> => all().where('offer_id', '=', offerId).execute(),
    bySearch: (searchKey: string): Promise<Attempt[]> => all().where('search_key', '=', searchKey).execute(),
    /** Writes an attempt durably before it is sent; null if it, or another on the search, was begun before. */
    async begin({ offerId, searchKey, ...key }: Key & { offerId: string; searchKey: string }): Promise<Attempt | null> {
      const nowMs = clock.now();
      const begun = await store
        .insertInto('duffel_attempts')
        .values({
          ...{ ...key, offer_id: offerId, search_key: searchKey, live_key: searchKey },
          ...{ verdict: 'open', begun_at_ms: nowMs, updated_at_ms: nowMs },
        })
        // Two unique keys decide between two processes that begin at once: the attempt, and the search.
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      return begun ?? null;
    },
    /** Ends an open attempt that certainly ordered nothing. */
    async endInNone(attempt: Attempt, word: Word): Promise<void> {
      await change(attempt, word).set({ verdict: 'none', live_key: null }).where('verdict', '=', 'open').execute();
    },
    /** Records an order, which overrides every earlier verdict. */
    async endInOrder(attempt: Key, orderId: string, word: Word): Promise<void> {
      await change(attempt, { ...word, order_id: orderId })
        .set({ verdict: 'ordered' })
        .where('verdict', '<>', 'ordered')
        .execute();
    },
    /** Adds to the record of an open attempt. */
    async note(attempt: Attempt, word: Word): Promise<void> {
      await change(attempt, word).where('verdict', '=', 'open').execute();
    },
  };
}
