import type { Kysely } from 'kysely';

/** `open`: the order was asked for, and nobody knows yet; `none`: for certain nothing was ordered. */
export type DuffelVerdict = 'none' | 'ordered' | 'open';

/**
 * One POST of an order, written before it is sent. A reference has at most one attempt that is not `none`: it is asked
 * for again only once it is certain that the last attempt ordered nothing.
 */
export interface DuffelAttemptTable {
  reference: string;
  /** 1, 2, 3. */
  attempt: number;
  offer_id: string;
  /** Duffel's id of the first passenger: offers of one search have the same, and one search serves one order. */
  search_key: string;
  /** The search key while the verdict is not `none`: a search is ordered from by one reference at a time. */
  live_key: string | null;
  verdict: DuffelVerdict;
  /** Duffel's id of the order; while the verdict is `open`, one that a webhook named and that was not read yet. */
  order_id: string | null;
  /** `x-request-id` of the answer: what Duffel's support asks for. */
  request_id: string | null;
  /** The last word about it: an error code of Duffel's, or one of ours (`no_answer`, `pending`, ...). */
  code: string | null;
  begun_at_ms: number;
  updated_at_ms: number;
}

export interface DuffelTables {
  duffel_attempts: DuffelAttemptTable;
}

/** The database as this airline sees it. */
export type Store = Kysely<DuffelTables>;
