import type { HttpResponse } from '../../kernel/http.ts';
import { HttpResponse as Answer } from '../../kernel/http.ts';
import { sha256Hex } from '../../kernel/json.ts';
import type { EventRecord, WebhookRecord } from './books.ts';
import { microInstant } from './dress.ts';
import { invalid, refused } from './errors.ts';
import { dressedEvent, tell } from './events.ts';
import { page, wasCreated } from './paging.ts';
import { type Asked, data, type Sandbox } from './sandbox.ts';

/** Registers who is told. There is one in a mode. */
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

/** POST /air/webhooks: the secret is in this answer alone. */
export async function createWebhook(asked: Asked): Promise<HttpResponse> {
  const { sandbox } = asked;
  const { url, events } = await asked.data();
  if (typeof url !== 'string' || !URL.canParse(url))
    throw invalid([{ at: 'url', code: 'validation_format', message: 'is not a URL' }]);
  if (!Array.isArray(events) || events.length === 0)
    throw invalid([{ at: 'events', code: 'validation_required', message: "can't be blank" }]);
  if (sandbox.books.webhooks.all().length > 0) throw refused('unsafe_unique');
  const webhook = register(sandbox, url, events.map(String));
  return data({ ...dressed(webhook), secret: webhook.secret }, 201);
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

function hookOf({ books }: Sandbox, id: string): WebhookRecord {
  const hook = books.webhooks.get(id);
  if (!hook) throw refused('not_found');
  return hook;
}

/** GET /air/webhooks/{id} */
export const getWebhook = async ({ sandbox }: Asked, id: string): Promise<HttpResponse> =>
  data(dressed(hookOf(sandbox, id)));

/** PATCH /air/webhooks/{id}: its address, and whether it is told at all. */
export async function updateWebhook(asked: Asked, id: string): Promise<HttpResponse> {
  const hook = hookOf(asked.sandbox, id);
  const { url = hook.url, active = hook.isOff !== true } = await asked.data();
  if (typeof url !== 'string' || !URL.canParse(url))
    throw invalid([{ at: 'url', code: 'validation_format', message: 'is not a URL' }]);
  if (typeof active !== 'boolean')
    throw invalid([{ at: 'active', code: 'validation_type', message: 'must be true or false' }]);
  return data(dressed(asked.sandbox.books.webhooks.put(id, { ...hook, url, isOff: !active })));
}

/** DELETE /air/webhooks/{id} */
export async function deleteWebhook({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  sandbox.books.webhooks.drop(hookOf(sandbox, id).id);
  return new Answer(204, null);
}

/** GET /air/webhooks */
export const listWebhooks = async (asked: Asked): Promise<HttpResponse> =>
  page(asked, asked.sandbox.books.webhooks.all(), dressed);

/** POST /air/webhooks/{id}/actions/ping */
export async function pingWebhook({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  hookOf(sandbox, id);
  tell(sandbox, {
    type: 'ping.triggered',
    idempotencyKey: sandbox.ids.hashed('png', sandbox.books.count('ping')),
    atMs: sandbox.clock.now(),
    object: {},
  });
  return new Answer(204, null);
}

const happened = ({ books, clock }: Sandbox): EventRecord[] =>
  books.events.all().filter(({ createdAtMs }) => createdAtMs <= clock.now());

/** GET /air/webhooks/events, newest first: also those whose delivery was lost. */
export async function listEvents(asked: Asked): Promise<HttpResponse> {
  const type = asked.search.get('type');
  const list = happened(asked.sandbox)
    .filter((event) => (type === null || event.type === type) && wasCreated(asked, event.createdAtMs))
    .sort((a, b) => b.createdAtMs - a.createdAtMs || b.number - a.number);
  return page(asked, list, dressedEvent);
}

/** GET /air/webhooks/events/{id} */
export async function getEvent({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const event = happened(sandbox).find((one) => one.id === id);
  if (!event) throw refused('not_found');
  return data(dressedEvent(event));
}

/** POST /air/webhooks/events/{id}/actions/redeliver */
export async function redeliver({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const event = happened(sandbox).find((one) => one.id === id);
  if (!event) throw refused('not_found');
  sandbox.books.events.put(id, { ...event, due: [...event.due, sandbox.clock.now()] });
  return new Answer(204, null);
}

/** GET /air/webhooks/deliveries */
export async function listDeliveries(asked: Asked): Promise<HttpResponse> {
  const { books, ids } = asked.sandbox;
  const [hook] = books.webhooks.all();
  const list = books.events.all().flatMap((event) => event.deliveries.map((delivery, at) => ({ event, delivery, at })));
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
}
