/** What makes the tables of carriers' web sites, step by step. */
export const browserMigrations = {
  create: [
    `create table browser_looks (
        look_id text primary key, state text not null, result text, started_at_ms bigint not null,
        ended_at_ms bigint, lease_until_ms bigint not null, expires_at_ms bigint not null)`,
    'create index browser_looks_expiry on browser_looks (expires_at_ms)',
    `create table browser_offers (
        offer_id text primary key, carrier text not null, query text not null, flights text not null,
        offer text not null, expires_at_ms bigint not null)`,
    'create index browser_offers_expiry on browser_offers (expires_at_ms)',
    `create table browser_purchases (
        reference text primary key, run text not null, state text not null, carrier text not null,
        recipe_version bigint not null, offer_id text not null, passenger_count bigint not null,
        contact_sealed text not null, total_decimal text, total_currency text, pressed_at_ms bigint,
        pending_until_ms bigint, booking_reference text, paid_amount_decimal text, confirmed_by text,
        confirmed_at_ms bigint, cancelled_at_ms bigint, asked_at_ms bigint, outcome text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
    `create table browser_evidence (
        evidence_id text primary key, subject text not null, at_ms bigint not null, outcome text not null,
        step text not null, carrier text not null, recipe_version bigint not null, text_sealed bytea not null,
        screenshot_sealed bytea, expires_at_ms bigint not null)`,
    'create index browser_evidence_subject on browser_evidence (subject, at_ms)',
    'create index browser_evidence_expiry on browser_evidence (expires_at_ms)',
  ],
  cards: [
    'alter table browser_purchases add column card text',
    'alter table browser_purchases add column card_due_at_ms bigint',
    'alter table browser_purchases add column misfits bigint not null default 0',
    `create index browser_cards_to_end on browser_purchases (card_due_at_ms) where card = 'ending'`,
  ],
};
