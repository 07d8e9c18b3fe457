import type { Generated, Kysely } from 'kysely';

/** A look at a carrier's site for a search or a menu, shared by concurrent callers. */
interface BrowserLookTable {
  /** A hash of the question and its time. */
  look_id: string;
  state: 'under_way' | 'done' | 'failed';
  /** The result as JSON, or a failure's reason. */
  result: string | null;
  started_at_ms: number;
  ended_at_ms: number | null;
  /** From then on another process may repeat the look. */
  lease_until_ms: number;
  expires_at_ms: number;
}

interface BrowserOfferTable {
  offer_id: string;
  carrier: string;
  /** JSON, as are flights and offer (wire form). */
  query: string;
  flights: string;
  offer: string;
  expires_at_ms: number;
}

/** `begun`: on the way to the till. `pressed`: a card is issued and may be charged. `ended`: nothing was bought. */
export interface BrowserPurchaseTable {
  reference: string;
  /** The latest visit, which alone can press. */
  run: string;
  state: 'begun' | 'pressed' | 'ended';
  carrier: string;
  recipe_version: number;
  offer_id: string;
  passenger_count: number;
  /** The first passenger's sealed names and addresses, for finding the booking. Empty once purged. */
  contact_sealed: string;
  /** The till's total before it got the card. */
  total_decimal: string | null;
  total_currency: string | null;
  /** Null until the button is pressed; the card may be charged even before. */
  pressed_at_ms: number | null;
  /** A confirmation may come until then; afterwards the outcome is unknown. */
  pending_until_ms: number | null;
  booking_reference: string | null;
  paid_amount_decimal: string | null;
  /** The confirmation's source: the page after the till, a mail, or the booking's page. */
  confirmed_by: 'page' | 'mail' | 'manage' | null;
  confirmed_at_ms: number | null;
  cancelled_at_ms: number | null;
  asked_at_ms: number | null;
  misfits: Generated<number>;
  /** JSON of the reason why nothing was bought. */
  outcome: string | null;
  /** `ending`: nothing was bought, so the issuer must end it. Null if none was issued. */
  card: 'issued' | 'ending' | 'ended' | null;
  card_due_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** A visit's last page, sealed, with personal data redacted. */
interface BrowserEvidenceTable {
  evidence_id: string;
  subject: string;
  at_ms: number;
  outcome: string;
  step: string;
  carrier: string;
  recipe_version: number;
  text_sealed: Uint8Array;
  screenshot_sealed: Uint8Array | null;
  expires_at_ms: number;
}

export interface BrowserTables {
  browser_looks: BrowserLookTable;
  browser_offers: BrowserOfferTable;
  browser_purchases: BrowserPurchaseTable;
  browser_evidence: BrowserEvidenceTable;
}

export type Store = Kysely<BrowserTables>;

/** Tables whose expired rows the sweeper deletes. */
export const OLD_LOOKS = { table: 'browser_looks', key: 'look_id', at: 'expires_at_ms' } as const;
export const OLD_OFFERS = { table: 'browser_offers', key: 'offer_id', at: 'expires_at_ms' } as const;
export const OLD_EVIDENCE = { table: 'browser_evidence', key: 'evidence_id', at: 'expires_at_ms' } as const;

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
