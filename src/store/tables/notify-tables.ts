import type { Generated } from 'kysely';

export type OutboxState = 'queued' | 'sending' | 'sent' | 'failed';

/** A message to somebody outside, written with the change that it reports (src/notify/outbox.ts). */
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

/**
 * Work left for an intent after its booking ended: look for money that came late, close its escrow, purge
 * its personal data. A row goes once it is done.
 */
export type UpkeepTask = 'late_money' | 'late_ticket' | 'close_escrow' | 'purge';

export interface UpkeepTable {
  intent_id: string;
  task: UpkeepTask;
  due_at_ms: number;
  attempts: Generated<number>;
  created_at_ms: number;
}
