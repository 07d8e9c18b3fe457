import { randomInt } from 'node:crypto';
import { type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Secrets } from '../kernel/secrets.ts';
import { leaseIsOver } from '../store/leases.ts';
import type { Store } from '../store/open.ts';
import { nextInQueue, type Queue, queueDueAtMs } from '../store/queue.ts';
import type { OutboxTable, ServiceTables } from '../store/tables/schema.ts';
import { storageFields } from '../store/watch.ts';
import { DeliveryRefused, type Message, ReceiverUnreachable, type Transports } from './message.ts';

/**
 * The transactional outbox. A message is a row that is written in the transaction of the change which it reports, so
 * that it exists exactly when the change does:
 *
 *     await store.transaction().execute(async (tx) => {
 *       await tx.insertInto('refund_requests')…
 *       await outbox.enqueue(tx, {
 *         kind: 'page', dedupKey: `page:refund_requested:${intentId}`, intentId, event: 'refund_requested',
 *         text: `Refund requested for ${intentId}.`, fields: { intent_id: intentId },
 *       });
 *     });
 *
 * `deliverDue` sends what is due, again and again until a receiver took it: at least once, always under the same
 * message id. What was sent is emptied; the row stays and keeps its key.
 */
export interface Outbox {
  /** Writes a message with the caller's change; false when one with its key was written before. */
  enqueue(tx: Transaction<ServiceTables>, message: Message): Promise<boolean>;
  /** Sends what is due. One small read when nothing is. Never throws for a receiver's sake. */
  deliverDue(): Promise<{ readonly sent: number; readonly failed: number }>;
  /** Starts `deliverDue` unless it is running, and doesn't wait for it: no booking waits for a receiver. */
  start(): void;
  /** Waits for what `start` began. */
  drain(): Promise<void>;
  /** Empties every message about an intent, sent or not, and removes what transports kept of it. */
  forget(intentId: string): Promise<void>;
}

export interface OutboxPorts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** null: messages are written and wait. Loaded when the first one is due. */
  readonly transports: (() => Promise<Transports>) | null;
}

type OutboxRow = Selectable<OutboxTable>;

/** Longer than a try may take; a process that died in it is overtaken after that. */
const LEASE_MS = 60_000;
export const TRY_MS = 20_000;
const FIRST_BACKOFF_MS = 2_000;
const MOST_BACKOFF_MS = 5 * 60_000;
/** A receiver that takes a message for wrong is asked seldomer: the fault may still be its own. */
const MOST_REFUSED_BACKOFF_MS = 6 * 3_600_000;
/** After this long a person has to look. */
export const GIVE_UP_MS = 7 * 86_400_000;
const MOST_AT_ONCE = 50;

/** A queue for each channel: one that is down, and however full, holds up no other. */
const waiting = (open: Queue['open']): Queue => ({
  table: 'outbox',
  key: 'message_id',
  due: 'next_at_ms',
  open,
  leaseMs: LEASE_MS,
  farthestMs: MOST_REFUSED_BACKOFF_MS,
});
const WAITING: Readonly<Record<Message['kind'], Queue>> = {
  page: waiting(sql<SqlBool>`kind = 'page' and state in ('queued', 'sending')`),
  email: waiting(sql<SqlBool>`kind = 'email' and state in ('queued', 'sending')`),
};

export function createOutbox(ports: OutboxPorts): Outbox {
  const { store, secrets, clock, ids, log } = ports;
  let running: Promise<unknown> | null = null;

  async function enqueue(tx: Transaction<ServiceTables>, message: Message): Promise<boolean> {
    const id = ids.next('msg');
    const nowMs = clock.now();
    const written = await tx
      .insertInto('outbox')
      .values({
        message_id: id,
        kind: message.kind,
        dedup_key: message.dedupKey,
        intent_id: message.intentId,
        payload_sealed: secrets.encrypt(payloadPlace(id), JSON.stringify(message)),
        state: 'queued',
        attempts: 0,
        next_at_ms: nowMs,
        lease_until_ms: 0,
        fence: 0,
        last_error: null,
        created_at_ms: nowMs,
        updated_at_ms: nowMs,
      })
      .onConflict((conflict) => conflict.column('dedup_key').doNothing())
      .executeTakeFirst();
    return (written.numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  /** Takes a due message: the lease keeps others away, the fence makes older holders powerless. */
  async function claim(kind: Message['kind']): Promise<OutboxRow | null> {
    const nowMs = clock.now();
    const row = await store
      .updateTable('outbox')
      .set((column) => ({
        state: 'sending' as const,
        lease_until_ms: nowMs + LEASE_MS,
        fence: column('fence', '+', 1),
        attempts: column('attempts', '+', 1),
        updated_at_ms: nowMs,
      }))
      .where('message_id', '=', nextInQueue(WAITING[kind], nowMs))
      .where(leaseIsOver(nowMs, LEASE_MS))
      .where('state', 'in', ['queued', 'sending'])
      .returningAll()
      .executeTakeFirst();
    return row ?? null;
  }

  async function write(row: OutboxRow, change: Partial<OutboxRow>): Promise<void> {
    await store
      .updateTable('outbox')
      .set({ ...change, lease_until_ms: 0, updated_at_ms: clock.now() })
      .where('message_id', '=', row.message_id)
      .where('fence', '=', row.fence)
      .where('state', '=', 'sending')
      .execute();
  }

  async function send(row: OutboxRow, transports: Transports): Promise<void> {
    const message = JSON.parse(secrets.decrypt(payloadPlace(row.message_id), row.payload_sealed)) as Message;
    const delivery = { id: row.message_id, createdAtMs: row.created_at_ms, attempt: row.attempts };
    const signal = AbortSignal.timeout(TRY_MS);
    if (message.kind === 'page') await transports.page(message, delivery, signal);
    else await transports.mail(message, delivery, signal);
  }

  /** Puts a message off, longer each time and never two at the same moment; gives it up after a week. */
  async function putOff(row: OutboxRow, error: unknown): Promise<void> {
    const nowMs = clock.now();
    const refused = error instanceof DeliveryRefused;
    const error_name = error instanceof Error ? error.name : 'unknown';
    const fields = {
      message_id: row.message_id,
      kind: row.kind,
      attempts: row.attempts,
      ...storageFields(error),
    };
    if (nowMs - row.created_at_ms >= GIVE_UP_MS) {
      await write(row, { state: 'failed', last_error: error_name });
      log('error', 'message_given_up', fields);
      return;
    }
    const most = refused ? MOST_REFUSED_BACKOFF_MS : MOST_BACKOFF_MS;
    const backoffMs = Math.min(most, FIRST_BACKOFF_MS * 2 ** Math.min(row.attempts - 1, 20));
    await write(row, {
      state: 'queued',
      last_error: error_name,
      next_at_ms: nowMs + Math.round(backoffMs / 2) + randomInt(Math.round(backoffMs / 2) + 1),
    });
    log('warn', 'message_put_off', fields);
  }

  async function channelsWithWork(): Promise<Message['kind'][]> {
    const nowMs = clock.now();
    const channels: Message['kind'][] = [];
    for (const kind of ['page', 'email'] as const) {
      const dueAtMs = await queueDueAtMs(store, WAITING[kind], nowMs);
      if (dueAtMs !== null && dueAtMs <= nowMs) channels.push(kind);
    }
    return channels;
  }

  async function deliverDue() {
    let sent = 0;
    let failed = 0;
    if (!ports.transports) return { sent, failed };
    const open = new Set(await channelsWithWork());
    if (open.size === 0) return { sent, failed };
    const transports = await ports.transports();
    // In turns: a heap of mails holds up no page. A channel that is down is tried once a round, not once per message.
    for (let tries = 0; open.size > 0 && tries < MOST_AT_ONCE; tries++) {
      const kind = [...open][tries % open.size] ?? 'page';
      const row = await claim(kind);
      if (!row) {
        open.delete(kind);
        continue;
      }
      try {
        await send(row, transports);
      } catch (error) {
        failed++;
        if (error instanceof ReceiverUnreachable) open.delete(row.kind);
        await putOff(row, error);
        continue;
      }
      await write(row, { state: 'sent', payload_sealed: '', last_error: null });
      sent++;
      log('info', 'message_sent', { message_id: row.message_id, kind: row.kind, attempts: row.attempts });
    }
    return { sent, failed };
  }

  return {
    enqueue,
    deliverDue,
    start() {
      running ??= deliverDue()
        .catch((error: unknown) => {
          // The lease of what was under way runs out, and the next round takes it up again.
          log('error', 'delivery_broken', { error_name: error instanceof Error ? error.name : 'unknown' });
        })
        .finally(() => {
          running = null;
        });
    },
    async drain() {
      await running;
    },
    async forget(intentId) {
      const rows = await store
        .selectFrom('outbox')
        .select('message_id')
        .where('intent_id', '=', intentId)
        .execute();
      if (rows.length === 0) return;
      const transports = await ports.transports?.();
      for (const { message_id } of rows) await transports?.forget(message_id);
      await store
        .updateTable('outbox')
        .set({ payload_sealed: '', updated_at_ms: clock.now() })
        .where('intent_id', '=', intentId)
        .execute();
      await store
        .updateTable('outbox')
        .set({ state: 'failed', last_error: 'purged' })
        .where('intent_id', '=', intentId)
        .where('state', 'in', ['queued', 'sending'])
        .execute();
    },
  };
}

const payloadPlace = (messageId: string): string => `outbox.payload_sealed.${messageId}`;
