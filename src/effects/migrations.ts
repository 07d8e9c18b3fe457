/** What makes the effect log, step by step. */
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
