import type { Generated, Kysely, Transaction } from 'kysely';

type OutboxState = 'queued' | 'sending' | 'sent' | 'failed';

/** An outgoing message, written with the change that it reports (outbox.ts). */
export interface OutboxTable {
  message_id: string;
  kind: 'page' | 'email';
  /** Names the event; unique, so that it is reported once. */
  dedup_key: string;
  intent_id: string | null;
  /** The message, sealed because it holds names. Empty once it was sent or purged. */
  payload_sealed: string;
  state: OutboxState;
  attempts: number;
  next_at_ms: number;
  lease_until_ms: number;
  fence: Generated<number>;
  last_error: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface NotifyTables {
  outbox: OutboxTable;
}

export type Store = Kysely<NotifyTables>;

export type Tx = Transaction<NotifyTables>;

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
