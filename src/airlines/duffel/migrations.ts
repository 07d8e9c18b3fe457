/** What makes the table of orders asked for at Duffel. */
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
