import { createHmac } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { HOUR_MS } from '../../kernel/clock.ts';
import type { Fetch } from '../../kernel/http.ts';
import type { Books, EventRecord, WebhookRecord } from './books.ts';
import { microInstant } from './dress.ts';
import type { Sandbox } from './sandbox.ts';

/** Until when a failed delivery is tried again. */
const LONGEST_MS = 72 * HOUR_MS;
const PATIENCE_MS = 5_000;

interface Told {
  readonly type: string;
  readonly idempotencyKey: string;
  readonly object: object;
  /** When it happens: later for what is still to come. */
  readonly atMs: number;
}

/** Writes an event into the books, with the times of its deliveries by the switch. */
export function tell({ books, ids, stepMs }: Sandbox, { type, idempotencyKey, object, atMs }: Told): EventRecord {
  const number = books.count('event');
  const hook = books.webhooks
    .all()
    .find(({ events, isOff }) => isOff !== true && (events.length === 0 || events.includes(type)));
  const due = hook ? dueBy(books.take('webhook') ?? 'normal', atMs, stepMs, number) : [];
  const id = ids.numbered('wev', number);
  return books.events.put(id, {
    id,
    number,
    type,
    idempotencyKey,
    object,
    createdAtMs: atMs,
    due,
    failures: 0,
    deliveries: [],
  });
}

function dueBy(behaviour: string, atMs: number, stepMs: number, number: number): number[] {
  switch (behaviour) {
    case 'late':
      return [atMs + 10 * stepMs];
    case 'twice':
      return [atMs, atMs, atMs + stepMs];
    // Every second one waits for the one after it.
    case 'shuffled':
      return [atMs + (number % 2 === 1 ? 3 * stepMs : 0)];
    case 'lost':
      return [];
    default:
      return [atMs];
  }
}

/** An event as it is sent, and as the list of events has it. */
export const dressedEvent = (event: EventRecord): object => ({
  id: event.id,
  api_version: 'v2',
  type: event.type,
  data: { object: event.object },
  live_mode: false,
  idempotency_key: event.idempotencyKey,
  created_at: microInstant(event.createdAtMs),
  identity_organisation_id: 'org_0000SandboxFarelock000',
});

/** `t=1616202842,v1=…`: the HMAC-SHA256 in hex of the time in seconds, a dot, and the body. */
export function signatureOf(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** The next delivery of all (epoch ms), null when none is left. */
export const nextDelivery = (books: Books): number | null => {
  const due = books.events.all().flatMap((event) => event.due);
  return due.length === 0 ? null : Math.min(...due);
};

interface Delivering {
  readonly books: Books;
  readonly clock: Clock;
  readonly stepMs: number;
  readonly fetch: Fetch;
}

/** Delivers what is due. Who answers with anything but 2xx is told again, later and later. @returns how many were sent */
export async function deliverDue(delivering: Delivering): Promise<number> {
  const { books, clock } = delivering;
  const [hook] = books.webhooks.all();
  if (!hook) return 0;
  const nowMs = clock.now();
  const due = books.events
    .all()
    .flatMap((event) => event.due.filter((atMs) => atMs <= nowMs).map((atMs) => ({ id: event.id, atMs })))
    .sort((a, b) => a.atMs - b.atMs);
  for (const { id, atMs } of due) await deliver(delivering, hook, id, atMs);
  return due.length;
}

async function deliver(
  { books, clock, stepMs, fetch }: Delivering,
  hook: WebhookRecord,
  id: string,
  atMs: number,
): Promise<void> {
  const event = books.events.get(id);
  if (!event) return;
  const body = JSON.stringify(dressedEvent(event));
  const status = await fetch({
    method: 'POST',
    url: hook.url,
    headers: { 'content-type': 'application/json', 'x-duffel-signature': signatureOf(hook.secret, body, clock.now()) },
    body,
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).then(
    (answer) => answer.status,
    // Nobody there is one more reason to come again.
    () => null,
  );
  const isTaken = status !== null && status >= 200 && status < 300;
  // Read again: another delivery of the same event may have been written meanwhile.
  const now = books.events.get(id) ?? event;
  const failures = isTaken ? 0 : now.failures + 1;
  const at = now.due.indexOf(atMs);
  const rest = now.due.filter((_, position) => position !== at);
  const againMs = clock.now() + stepMs * 2 ** Math.min(failures, 16);
  const isOver = isTaken || againMs > event.createdAtMs + LONGEST_MS;
  books.events.put(id, {
    ...now,
    failures,
    due: isOver ? rest : [...rest, againMs],
    deliveries: [...now.deliveries, { atMs: clock.now(), status }],
  });
}
