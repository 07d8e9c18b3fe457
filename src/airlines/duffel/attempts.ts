import type { Selectable } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { DuffelAttemptTable, Store } from './tables.ts';

export type Attempt = Selectable<DuffelAttemptTable>;

/** The code of an attempt that Duffel accepted with 202 and gave up later. */
export const CREATION_FAILED = 'creation_failed';

/** The code of an attempt that never left this machine. */
export const NOT_SENT = 'not_sent';

interface NewAttempt {
  readonly reference: string;
  readonly attempt: number;
  readonly offerId: string;
  readonly searchKey: string;
}

type Word = Partial<Pick<Attempt, 'order_id' | 'request_id' | 'code'>>;

/** The record of orders that were asked for: what is written before a POST, and what came of it. */
export interface Attempts {
  /** All of a reference, in their order. */
  of(reference: string): Promise<Attempt[]>;
  /** All that are about an order, an offer, or a search. */
  byOrder(orderId: string): Promise<Attempt[]>;
  byOffer(offerId: string): Promise<Attempt[]>;
  bySearch(searchKey: string): Promise<Attempt[]>;
  /** Written durably before anything is sent. null: this attempt, or another one on the search, was begun before. */
  begin(attempt: NewAttempt): Promise<Attempt | null>;
  /** Nothing was ordered, for certain. Never said of an attempt that is not open any more. */
  endInNone(attempt: Attempt, word: Word): Promise<void>;
  /** There is an order: a fact that comes before everything that was thought before. */
  endInOrder(attempt: Pick<Attempt, 'reference' | 'attempt'>, orderId: string, word: Word): Promise<void>;
  /** Writes down more about an attempt that stays open. */
  note(attempt: Attempt, word: Word): Promise<void>;
}

export function createAttempts({ store, clock }: { readonly store: Store; readonly clock: Clock }): Attempts {
  const all = () => store.selectFrom('duffel_attempts').selectAll();
  const change = ({ reference, attempt }: Pick<Attempt, 'reference' | 'attempt'>) =>
    store
      .updateTable('duffel_attempts')
      .set({ updated_at_ms: clock.now() })
      .where('reference', '=', reference)
      .where('attempt', '=', attempt);
  return {
    of: (reference) => all().where('reference', '=', reference).orderBy('attempt').execute(),
    byOrder: (orderId) => all().where('order_id', '=', orderId).execute(),
    byOffer: (offerId) => all().where('offer_id', '=', offerId).execute(),
    bySearch: (searchKey) => all().where('search_key', '=', searchKey).execute(),
    async begin({ reference, attempt, offerId, searchKey }) {
      const nowMs = clock.now();
      const row: Attempt = {
        reference,
        attempt,
        offer_id: offerId,
        search_key: searchKey,
        live_key: searchKey,
        verdict: 'open',
        order_id: null,
        request_id: null,
        code: null,
        begun_at_ms: nowMs,
        updated_at_ms: nowMs,
      };
      const written = await store
        .insertInto('duffel_attempts')
        .values(row)
        // Two unique keys decide between two processes that begin at once: the attempt, and the search.
        .onConflict((conflict) => conflict.doNothing())
        .returning('reference')
        .executeTakeFirst();
      return written ? row : null;
    },
    async endInNone(attempt, word) {
      await change(attempt)
        .set({ ...word, verdict: 'none', live_key: null })
        .where('verdict', '=', 'open')
        .execute();
    },
    async endInOrder(attempt, orderId, word) {
      await change(attempt)
        .set({ ...word, verdict: 'ordered', order_id: orderId })
        .where('verdict', '<>', 'ordered')
        .execute();
    },
    async note(attempt, word) {
      await change(attempt).set(word).where('verdict', '=', 'open').execute();
    },
  };
}
