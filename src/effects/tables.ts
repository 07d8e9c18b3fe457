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

/** An act on the outside world, written first (DESIGN, section 6). Failures clear `live_key`; call-offs do not. */
export interface EffectTable {
  effect_id: string;
  kind: EffectKind;
  subject: string;
  state: EffectState;
  live_key: string | null;
  attempt: number;
  /** Chain effects: the signed transaction (base64), its signature, and the height after which it cannot land. */
  transaction: string | null;
  signature: string | null;
  last_valid_block_height: number | null;
  /** Our reference at the airline; for a partial capture, its amount (atomic units). */
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

export type Store = Kysely<EffectsTables>;

export const effectsMigrations = {
  create: [
    `create table effects (
        effect_id text primary key, kind text not null, subject text not null, state text not null,
        live_key text unique, attempt bigint not null, "transaction" text, signature text,
        last_valid_block_height bigint, reference text, result text, error text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
    'create index effects_subject on effects (subject, kind)',
    'create index effects_state on effects (state)',
  ],

  boundedWork: [
    'drop index effects_state',
    `create index effects_sent on effects (updated_at_ms) where state = 'sent' and signature is not null`,
    `create index effects_stuck on effects (updated_at_ms) where state = 'stuck' and signature is not null`,
    `create index effects_open on effects (created_at_ms) where state in ('planned', 'sent', 'stuck')`,
  ],

  airlineDetail: ['alter table effects add column detail text'],
} as const;
