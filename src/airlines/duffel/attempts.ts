import type { Selectable } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { DuffelAttemptTable, Store } from './tables.ts';

export type Attempt = Selectable<DuffelAttemptTable>;

/** The code of an attempt that Duffel accepted with 202 and gave up later. */
export const CREATION_FAILED = 'creation_failed';

/** The code of an attempt that never left this machine. */
export const NOT_SENT = 'not_sent';

interface NewSale {
  readonly offerId: string;
  readonly searchKey: string;
}

type Word = Partial<Pick<Attempt, 'order_id' | 'request_id' | 'code'>>;

export type Attempts = ReturnType<typeof createAttempts>;

/** The record of orders that were asked for: written before a POST, and what came of it afterwards. */
export function createAttempts({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  const all = () => store.selectFrom('duffel_attempts').selectAll();
  const change = ({ reference, attempt }: Pick<Attempt, 'reference' | 'attempt'>, word: Word) =>
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
    /** Written durably before anything is sent. null: this attempt, or another one on the search, was begun before. */
    async begin({
      reference,
      attempt,
      offerId,
      searchKey,
    }: Pick<Attempt, 'reference' | 'attempt'> & NewSale): Promise<Attempt | null> {
      const nowMs = clock.now();
      const begun = await store
        .insertInto('duffel_attempts')
        .values({
          ...{ reference, attempt, offer_id: offerId, search_key: searchKey, live_key: searchKey },
          ...{ verdict: 'open', begun_at_ms: nowMs, updated_at_ms: nowMs },
        })
        // Two unique keys decide between two processes that begin at once: the attempt, and the search.
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      return begun ?? null;
    },
    /** Nothing was ordered, for certain. Never said of an attempt that is not open any more. */
    async endInNone(attempt: Attempt, word: Word): Promise<void> {
      await change(attempt, word).set({ verdict: 'none', live_key: null }).where('verdict', '=', 'open').execute();
    },
    /** There is an order: a fact that overrides every earlier verdict. */
    async endInOrder(attempt: Pick<Attempt, 'reference' | 'attempt'>, orderId: string, word: Word): Promise<void> {
      await change(attempt, { ...word, order_id: orderId })
        .set({ verdict: 'ordered' })
        .where('verdict', '<>', 'ordered')
        .execute();
    },
    /** Writes down more about an attempt that stays open. */
    async note(attempt: Attempt, word: Word): Promise<void> {
      await change(attempt, word).where('verdict', '=', 'open').execute();
    },
  };
}
