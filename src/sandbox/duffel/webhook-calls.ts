import { createHmac } from 'node:crypto';
import { HOUR_MS } from '../../kernel/clock.ts';
import { type Fetch, HttpResponse } from '../../kernel/http.ts';
import { sha256Hex } from '../../kernel/json.ts';
import type { Books, EventRecord, WebhookRecord } from './books.ts';
import { microInstant } from './dress.ts';
import { invalid, refused } from './errors.ts';
import { type Calls, data, page, type Sandbox, wasCreated } from './sandbox.ts';

const notUrl = () => invalid(['url', 'validation_format', 'is not a URL']);

export const webhookCalls: Calls = {
  // Only this answer contains the secret.
  'POST /air/webhooks': async (asked) => {
    const { url, events } = await asked.data();
    if (typeof url !== 'string' || !URL.canParse(url)) throw notUrl();
    if (!Array.isArray(events) || events.length === 0)
      throw invalid(['events', 'validation_required', "can't be blank"]);
    if (asked.books.webhooks.all().length > 0) throw refused('unsafe_unique');
    const webhook = register(asked, url, events.map(String));
    return data({ ...dressed(webhook), secret: webhook.secret }, 201);
  },
  'GET /air/webhooks': async (asked) => page(asked, asked.books.webhooks.all(), dressed),
  // Lists events, newest first, delivered or not.
  'GET /air/webhooks/events': async (asked) => {
    const type = asked.search.get('type');
    const list = happened(asked)
      .filter((event) => (type === null || event.type === type) && wasCreated(asked, event.createdAtMs))
      .sort((a, b) => b.createdAtMs - a.createdAtMs || b.number - a.number);
    return page(asked, list, dressedEvent);
  },
  'GET /air/webhooks/events/{id}': async (asked, id) => data(dressedEvent(eventOf(asked, id))),
  'POST /air/webhooks/events/{id}/actions/redeliver': async (asked, id) => {
    const event = eventOf(asked, id);
    asked.books.events.put(id, { ...event, due: [...event.due, asked.clock.now()] });
    return new HttpResponse(204, null);
  },
  'GET /air/webhooks/deliveries': async (asked) => {
    const { books, ids } = asked;
    const [hook] = books.webhooks.all();
    const list = books.events
      .all()
      .flatMap((event) => event.deliveries.map((delivery, at) => ({ event, delivery, at })));
    return page(asked, list.reverse(), ({ event, delivery, at }) => ({
      id: ids.hashed('del', event.id, at),
      event_id: event.id,
      endpoint_id: hook?.id ?? null,
      url: hook?.url ?? null,
      type: event.type,
      live_mode: false,
      response_status_code: delivery.status,
      response_body: null,
      created_at: microInstant(delivery.atMs),
    }));
  },
  'GET /air/webhooks/{id}': async ({ books }, id) => data(dressed(books.webhooks.need(id))),
  // Changes the address, or turns the webhook on or off.
  'PATCH /air/webhooks/{id}': async (asked, id) => {
    const hook = asked.books.webhooks.need(id);
    const { url = hook.url, active = hook.isOff !== true } = await asked.data();
    if (typeof url !== 'string' || !URL.canParse(url)) throw notUrl();
    if (typeof active !== 'boolean') throw invalid(['active', 'validation_type', 'must be true or false']);
    return data(dressed(asked.books.webhooks.put(id, { ...hook, url, isOff: !active })));
  },
  'DELETE /air/webhooks/{id}': async ({ books }, id) => {
    books.webhooks.drop(books.webhooks.need(id).id);
    return new HttpResponse(204, null);
  },
  'POST /air/webhooks/{id}/actions/ping': async (asked, id) => {
    const { books, clock, ids } = asked;
    books.webhooks.need(id);
    const idempotencyKey = ids.hashed('png', books.count('ping'));
    tell(asked, { type: 'ping.triggered', idempotencyKey, createdAtMs: clock.now(), object: {} });
    return new HttpResponse(204, null);
  },
};

const happened = ({ books, clock }: Sandbox): EventRecord[] =>
  books.events.all().filter(({ createdAtMs }) => createdAtMs <= clock.now());

function eventOf(sandbox: Sandbox, id: string): EventRecord {
  const event = happened(sandbox).find((one) => one.id === id);
  if (!event) throw refused('not_found');
  return event;
}

/** Test mode has one webhook. */
export function register(
  { books, clock, ids, seed }: Sandbox,
  url: string,
  events: readonly string[],
  secret?: string,
): WebhookRecord {
  const number = books.count('webhook');
  const id = ids.numbered('end', number);
  return books.webhooks.put(id, {
    id,
    url,
    events,
    secret: secret ?? Buffer.from(sha256Hex(`webhook ${seed} ${number}`).slice(0, 32), 'hex').toString('base64'),
    createdAtMs: clock.now(),
  });
}

const dressed = ({ id, url, events, createdAtMs, isOff }: WebhookRecord): object => ({
  id,
  url,
  events,
  active: isOff !== true,
  live_mode: false,
  created_at: microInstant(createdAtMs),
  updated_at: microInstant(createdAtMs),
});

/** Deliveries are retried for this long. */
const LONGEST_MS = 72 * HOUR_MS;
const PATIENCE_MS = 5_000;

type News = Pick<EventRecord, 'type' | 'idempotencyKey' | 'object' | 'createdAtMs'>;

/** Writes an event, perhaps a future one, with delivery times by the switch. */
export function tell({ books, ids, stepMs }: Sandbox, news: News): EventRecord {
  const number = books.count('event');
  const hook = books.webhooks
    .all()
    .find(({ events, isOff }) => isOff !== true && (events.length === 0 || events.includes(news.type)));
  const due = hook ? dueBy(books.take('webhook') ?? 'normal', news.createdAtMs, stepMs, number) : [];
  const id = ids.numbered('wev', number);
  return books.events.put(id, { id, number, ...news, due, failures: 0, deliveries: [] });
}

function dueBy(behaviour: string, atMs: number, stepMs: number, number: number): number[] {
  switch (behaviour) {
    case 'late':
      return [atMs + 10 * stepMs];
    case 'twice':
      return [atMs, atMs, atMs + stepMs];
    // Every second event waits until after the next.
    case 'shuffled':
      return [atMs + (number % 2 === 1 ? 3 * stepMs : 0)];
    case 'lost':
      return [];
    default:
      return [atMs];
  }
}

const dressedEvent = (event: EventRecord): object => ({
  id: event.id,
  api_version: 'v2',
  type: event.type,
  data: { object: event.object },
  live_mode: false,
  idempotency_key: event.idempotencyKey,
  created_at: microInstant(event.createdAtMs),
  identity_organisation_id: 'org_0000SandboxFarelock000',
});

/** `t=1616202842,v1=…`: HMAC-SHA256 in hex of seconds, dot and body. */
function signatureOf(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** Epoch ms; null if none is left. */
export const nextDelivery = (books: Books): number | null => {
  const due = books.events.all().flatMap((event) => event.due);
  return due.length === 0 ? null : Math.min(...due);
};

type Delivering = Pick<Sandbox, 'books' | 'clock' | 'stepMs'> & { readonly fetch: Fetch };

/** Delivers due events, and retries without 2xx at growing intervals. @returns the number sent */
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
    () => null,
  );
  const isTaken = status !== null && status >= 200 && status < 300;
  // Read again: another delivery may have been written meanwhile.
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
