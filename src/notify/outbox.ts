import { type Selectable, type SqlBool, sql } from 'kysely';
import { type Clock, HOUR_MS } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Secrets } from '../kernel/secrets.ts';
import {
  dueOf,
  isDueAt,
  type OpenQueue,
  openQueue,
  type Queue,
  type QueueTerms,
  queueDue,
  type RetryPolicy,
  storageFields,
} from '../store/index.ts';
import { DeliveryRefused, type Message, ReceiverUnreachable, type Transports } from './message.ts';
import type { NotifyTables, OutboxTable, Store, Tx } from './tables.ts';

/**
 * The transactional outbox. A message is a row, written in the transaction of the change that it reports, so that both
 * exist or neither does.
 *
 * `deliverDue` tries due messages until a receiver takes them: at least once, always with the same message id. A sent
 * message is emptied; its row stays and keeps the key taken.
 */
export type Outbox = ReturnType<typeof createOutbox>;

interface OutboxPorts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Loaded when the first message is due. Null if messages are only written, and wait. */
  readonly transports: (() => Promise<Transports>) | null;
}

type OutboxRow = Selectable<OutboxTable>;

const TRY_MS = 20_000;
/** Then an operator has to look at the message. */
const GIVE_UP_MS = 7 * 24 * HOUR_MS;
const MOST_AT_ONCE = 50;

const RETRY: RetryPolicy = {
  firstMs: 2_000,
  factor: 2,
  mostMs: 5 * 60_000,
  jitter: 'half',
  tellAfter: null,
  giveUp: { after: 'age', ms: GIVE_UP_MS },
};
/** A refused message is retried less often, but not dropped: the fault may still be the receiver's. */
const REFUSED: RetryPolicy = { ...RETRY, mostMs: 6 * HOUR_MS };

/** A queue for each channel, so that one that is down does not hold up the other. */
const waiting = (open: QueueTerms['open']): Queue<NotifyTables, 'outbox'> => ({
  table: 'outbox',
  key: 'message_id',
  due: 'next_at_ms',
  open,
  // Longer than a try may take. Afterwards another process takes over from one that died.
  leaseMs: 60_000,
  mostMs: 60_000,
  farthestMs: REFUSED.mostMs,
  counts: 'claims',
  claimed: (nowMs) => ({ state: 'sending', updated_at_ms: nowMs }),
  begun: 'created_at_ms',
  retry: RETRY,
});
export const WAITING = {
  page: waiting(sql<SqlBool>`kind = 'page' and state in ('queued', 'sending')`),
  email: waiting(sql<SqlBool>`kind = 'email' and state in ('queued', 'sending')`),
} as const satisfies Readonly<Record<Message['kind'], QueueTerms>>;

type Channel = OpenQueue<NotifyTables, 'outbox'>;
type Channels = Readonly<Record<Message['kind'], Channel>>;

export function createOutbox(ports: OutboxPorts) {
  const channels = { page: openQueue(ports, WAITING.page), email: openQueue(ports, WAITING.email) };
  const deliverDue = async (open?: ReadonlySet<Message['kind']>) =>
    deliver(ports, channels, open ?? (await withWork(ports)));
  let running: Promise<unknown> | null = null;
  return {
    /** Writes a message in the caller's transaction. Returns false if one with its key was written before. */
    enqueue: (tx: Tx, message: Message) => enqueue(ports, tx, message),
    /** When the first message of each channel is due (epoch ms), each as a query of one value. */
    due: () => dueMessages(ports),
    /** Sends the due messages of the given channels, or of all that have some. A receiver's failure does not throw. */
    deliverDue,
    /** Starts `deliverDue` unless it is running, and doesn't wait for it: no booking waits for a receiver. */
    start(open: ReadonlySet<Message['kind']>): void {
      if (open.size === 0) return;
      running ??= deliverDue(open)
        .catch((error: unknown) => {
          // The lease of the message that was being sent runs out, and the next round takes it again.
          ports.log('error', 'delivery_broken', { error_name: error instanceof Error ? error.name : 'unknown' });
        })
        .finally(() => {
          running = null;
        });
    },
    async drain(): Promise<void> {
      await running;
    },
    /** Empties every message about an intent, sent or not, and removes its mails from files. */
    forget: (intentId: string) => forget(ports, intentId),
  };
}

async function enqueue({ secrets, clock, ids }: OutboxPorts, tx: Tx, message: Message): Promise<boolean> {
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

async function send({ secrets }: OutboxPorts, row: OutboxRow, transports: Transports): Promise<void> {
  const message = JSON.parse(secrets.decrypt(payloadPlace(row.message_id), row.payload_sealed)) as Message;
  const delivery = { id: row.message_id, createdAtMs: row.created_at_ms, attempt: row.attempts };
  const signal = AbortSignal.timeout(TRY_MS);
  if (message.kind === 'page') await transports.page(message, delivery, signal);
  else await transports.mail(message, delivery, signal);
}

/** Sends the due messages of the channels in turn, so that many mails do not hold up a page. */
async function deliver(ports: OutboxPorts, channels: Channels, given: ReadonlySet<Message['kind']>) {
  let sent = 0;
  let failed = 0;
  const open = new Set(given);
  if (!ports.transports || open.size === 0) return { sent, failed };
  const transports = await ports.transports();
  for (let tries = 0; open.size > 0 && tries < MOST_AT_ONCE; tries++) {
    const kind = [...open][tries % open.size] ?? 'page';
    const queue = channels[kind];
    const row = await queue.claim();
    if (!row) {
      open.delete(kind);
      continue;
    }
    await queue.take(row, {
      async perform() {
        await send(ports, row, transports);
        const sentAs = { state: 'sent', payload_sealed: '', last_error: null } as const;
        await queue.finish(row, { ...sentAs, updated_at_ms: ports.clock.now() });
        sent++;
        ports.log('info', 'message_sent', { message_id: row.message_id, kind, attempts: row.attempts });
      },
      async failed(_row, error) {
        failed++;
        // A channel that is down is tried once a round, not once per message.
        if (error instanceof ReceiverUnreachable) open.delete(kind);
        await putOff(ports, queue, row, error);
      },
    });
  }
  return { sent, failed };
}

const dueMessages = (ports: OutboxPorts) => ({
  page: queueDue(ports, WAITING.page),
  email: queueDue(ports, WAITING.email),
});

async function withWork(ports: OutboxPorts): Promise<ReadonlySet<Message['kind']>> {
  if (!ports.transports) return new Set();
  const due = await dueOf(ports.store, dueMessages(ports));
  return new Set((['page', 'email'] as const).filter((kind) => isDueAt(due[kind], ports.clock)));
}

/** Postpones a message, longer each time and with jitter; gives it up after a week. */
function putOff({ clock, log }: OutboxPorts, queue: Channel, row: OutboxRow, error: unknown): Promise<void> {
  const policy = error instanceof DeliveryRefused ? REFUSED : RETRY;
  const { message_id, kind } = row;
  const aftermath: Parameters<Channel['postpone']>[2] = ({ verdict, failures: attempts, code }) => {
    const isOver = verdict === 'given_up';
    const fields = { message_id, kind, attempts, ...storageFields(error) };
    return {
      change: { state: isOver ? 'failed' : 'queued', last_error: code, updated_at_ms: clock.now() },
      log: () => log(isOver ? 'error' : 'warn', isOver ? 'message_given_up' : 'message_put_off', fields),
    };
  };
  return queue.postpone(row, error, aftermath, policy);
}

async function forget({ store, clock, transports: open }: OutboxPorts, intentId: string): Promise<void> {
  const rows = await store.selectFrom('outbox').select('message_id').where('intent_id', '=', intentId).execute();
  if (rows.length === 0) return;
  const transports = await open?.();
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
}

const payloadPlace = (messageId: string): string => `outbox.payload_sealed.${messageId}`;
