import type { Generated, Kysely, Transaction } from 'kysely';

type OutboxState = 'queued' | 'sending' | 'sent' | 'failed';

/** A message to somebody outside, written with the change that it reports (outbox.ts). */
export interface OutboxTable {
  message_id: string;
  kind: 'page' | 'email';
  /** Names the event; unique, so that it is reported once. */
  dedup_key: string;
  intent_id: string | null;
  /** The message, sealed: it holds names. Empty once it was sent, or purged. */
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

/** The database, as far as messages know it. */
export type Store = Kysely<NotifyTables>;
export type Tx = Transaction<NotifyTables>;
