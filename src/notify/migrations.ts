/** What makes the outbox, step by step. */
export const notifyMigrations = {
  create: [
    `create table outbox (
        message_id text primary key, kind text not null, dedup_key text not null unique, intent_id text,
        payload_sealed text not null, state text not null, attempts bigint not null, next_at_ms bigint not null,
        lease_until_ms bigint not null, fence bigint not null default 0, last_error text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
    'create index outbox_due on outbox (state, next_at_ms)',
    'create index outbox_intent on outbox (intent_id)',
  ],

  boundedWork: [
    'drop index outbox_due',
    `create index outbox_pages on outbox (next_at_ms) where kind = 'page' and state in ('queued', 'sending')`,
    `create index outbox_mails on outbox (next_at_ms) where kind = 'email' and state in ('queued', 'sending')`,
  ],
} as const;
