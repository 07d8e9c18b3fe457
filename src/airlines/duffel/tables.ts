import type { Kysely } from 'kysely';

/**
 * An order's POST, written before it is sent. A reference has at most one attempt whose verdict is not `none`, as it is
 * sent again only after the last attempt certainly ordered nothing.
 */
export interface DuffelAttemptTable {
  reference: string;
  attempt: number;
  offer_id: string;
  /** Duffel's id of the first passenger, the same in all offers of a search, which serves one order. */
  search_key: string;
  /** The search key until the verdict is `none`. Unique, so that one reference at a time orders from a search. */
  live_key: string | null;
  /** `open`: unknown yet; `none`: certainly nothing was ordered. */
  verdict: 'none' | 'ordered' | 'open';
  /** Duffel's id of the order; while `open`, an id from a webhook that was not read yet. */
  order_id: string | null;
  /** `x-request-id` of the answer, for Duffel's support. */
  request_id: string | null;
  /** The last error code, Duffel's or ours (`no_answer`, ...). */
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
