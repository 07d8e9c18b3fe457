import type { Kysely } from 'kysely';

/** `open`: the order was asked for, and nobody knows yet; `none`: for certain nothing was ordered. */
type DuffelVerdict = 'none' | 'ordered' | 'open';

/**
 * One POST of an order, written before it is sent. A reference has at most one attempt that is not `none`: it is asked
 * for again only once it is certain that the last attempt ordered nothing.
 */
export interface DuffelAttemptTable {
  reference: string;
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

export type Store = Kysely<DuffelTables>;

export const duffelMigrations = {
  create: [
    `create table duffel_attempts (
        reference text not null, attempt bigint not null, offer_id text not null, search_key text not null,
        live_key text unique, verdict text not null, order_id text, request_id text, code text,
        begun_at_ms bigint not null, updated_at_ms bigint not null, primary key (reference, attempt))`,
    'create index duffel_attempts_offer on duffel_attempts (offer_id)',
    'create index duffel_attempts_order on duffel_attempts (order_id) where order_id is not null',
    'create index duffel_attempts_search on duffel_attempts (search_key)',
  ],
} as const;
