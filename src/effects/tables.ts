import type { Kysely } from 'kysely';

export type EffectKind =
  | 'open_escrow'
  | 'capture'
  | 'refund'
  | 'sweep'
  | 'close_escrow'
  | 'airline_order'
  | 'airline_cancel'
  | 'payout';
type EffectState = 'planned' | 'sent' | 'done' | 'failed' | 'stuck';

/**
 * Something done to the outside world, written before it is done (DESIGN, section 6). At most one live attempt
 * per (kind, subject): `live_key` is unique and becomes null when the attempt has failed for certain. One that was called
 * off keeps it.
 */
export interface EffectTable {
  effect_id: string;
  kind: EffectKind;
  /** Its subject, usually an intent id. */
  subject: string;
  state: EffectState;
  live_key: string | null;
  attempt: number;
  /** Chain effects: the signed transaction (base64), its signature, and the height after which it cannot land. */
  transaction: string | null;
  signature: string | null;
  last_valid_block_height: number | null;
  /** Airline effects: our reference at the airline. */
  reference: string | null;
  result: string | null;
  error: string | null;
  /** Airline effects: what the airline said with the error (AirlineTold, JSON), for a person who has to ask it. */
  detail: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface EffectsTables {
  effects: EffectTable;
}

/** The database, as far as effects know it. */
export type Store = Kysely<EffectsTables>;
