import type { Clock } from '../../kernel/clock.ts';
import { type HttpResponse, json } from '../../kernel/http.ts';
import { type BehaviourOf, testRoute } from './behaviours.ts';
import type { Books, OfferRequestRecord, OrderRecord, WorldOffer } from './books.ts';
import { cutConnection, invalid, type KindName, ofGateway, refused } from './errors.ts';
import type { DuffelIds } from './ids.ts';
import type { DuffelWorld } from './world.ts';

/** The traveller fields that an order repeats. */
export const ECHOED = [
  'id',
  'title',
  'gender',
  'given_name',
  'family_name',
  'born_on',
  'email',
  'phone_number',
] as const;

/** Only in memory. */
export type EchoedPassenger = Readonly<Record<(typeof ECHOED)[number], string>> & {
  readonly infant_passenger_id?: string;
};

export interface Sandbox {
  /** Milliseconds from a 202 to the order or failure, and from an order to a late ticket. */
  readonly stepMs: number;
  /** A slow answer's delay, ms. */
  readonly slowMs: number;
  readonly books: Books;
  readonly world: DuffelWorld;
  readonly ids: DuffelIds;
  readonly clock: Clock;
  readonly seed: string;
  /** By order id, until the process ends. */
  readonly passengers: Map<string, readonly EchoedPassenger[]>;
  /** Ids of the offers that are being ordered. */
  readonly underWay: Set<string>;
}

export interface Asked extends Sandbox {
  readonly search: URLSearchParams;
  readonly requestId: string;
  readonly signal: AbortSignal | undefined;
  /** The body's `data`. @throws ApiError */
  data(): Promise<Body>;
}

/** Calls by method and path, with up to two path parameters. */
export type Calls = Readonly<Record<string, (asked: Asked, id: string, second: string) => Promise<HttpResponse>>>;

export const data = (value: unknown, status = 200): HttpResponse => json({ data: value }, status);

/** Finds an offer; undefined if no search here has found it. */
export function foundOffer({ books, ids, world }: Sandbox, id: string): WorldOffer | undefined {
  const read = ids.read('off', id);
  const request = read && books.requests.get(read.number);
  return request ? world.offers(request)[read.index] : undefined;
}

/** @throws ApiError `not_found` */
export function offerOf(sandbox: Sandbox, id: string): WorldOffer {
  const offer = foundOffer(sandbox, id);
  if (!offer) throw refused('not_found');
  return offer;
}

/** Finds a body's order, even if it is not shown yet. @throws ApiError */
export function linkedOrder({ books }: Sandbox, id: unknown): OrderRecord {
  const order = typeof id === 'string' ? books.orders.get(id) : undefined;
  if (!order) throw invalid(['order_id', 'linked_record_not_found', 'must be the ID of an existing order']);
  return order;
}

/** The behaviour that the switch sets, else the test route's. */
export const behaviourOn = <S extends 'search' | 'offer' | 'order'>(
  { books }: Sandbox,
  name: S,
  { slices: [out] }: Pick<OfferRequestRecord, 'slices'>,
): BehaviourOf<S> | null =>
  books.take(name) ?? ((out && testRoute(out.origin, out.destination)?.[name]) as BehaviourOf<S> | undefined) ?? null;

export type Body = Readonly<Record<string, unknown>>;

/** Reads a list of objects; other entries count as empty objects. */
export const listOf = (value: unknown): Body[] =>
  Array.isArray(value) ? value.map((one) => (typeof one === 'object' && one !== null ? one : {})) : [];

/** Leaves an unlimited balance as it is. */
export function addToBalance({ books }: Sandbox, cents: number): void {
  const balance = books.settings.get('balance');
  if (balance !== undefined) books.settings.put('balance', balance + cents);
}

export const today = ({ clock }: Sandbox): string => new Date(clock.now()).toISOString().slice(0, 10);

/** Finds the record of a numbered id. @throws ApiError */
export const numbered = <T>({ ids }: Sandbox, shelf: { need(id: string): T }, prefix: string, id: string): T =>
  shelf.need(String(ids.read(prefix, id)?.number));

/** Null if the call goes on. @throws ApiError */
export async function misbehaved(
  { clock, signal, slowMs }: Asked,
  behaviour: string | null,
): Promise<HttpResponse | null> {
  if (behaviour === 'slow') await clock.sleep(slowMs, signal);
  if (behaviour === 'cut') return cutConnection();
  if (behaviour === 'html') return ofGateway(502);
  const kind = FAILURES[behaviour ?? ''];
  if (kind) throw refused(kind, behaviour === 'rate_limited' ? rateLimitHeaders(clock.now(), 60, 0) : {});
  return null;
}

const FAILURES: Readonly<Record<string, KindName>> = {
  internal_error: 'internal_server_error',
  rate_limited: 'rate_limit_exceeded',
  timeout: 'gateway_timeout_error',
  gone: 'offer_no_longer_available',
  not_found: 'not_found',
};

/** Every answer tells the budget of the minute. */
export function rateLimitHeaders(nowMs: number, limit: number, remaining: number): Record<string, string> {
  const resetMs = (Math.floor(nowMs / 60_000) + 1) * 60_000;
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(Math.max(0, remaining)),
    'ratelimit-reset': new Date(resetMs).toUTCString(),
  };
}

const USUAL = 50;
const MOST = 200;

/** @throws ApiError for a bad limit or cursor */
export function page<T>({ search }: Asked, list: readonly T[], shown: (one: T) => object): HttpResponse {
  const limit = Number(search.get('limit') ?? USUAL);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw invalid(['limit', 'validation_inclusion', `must be between 1 and ${MOST}`]);
  const after = positionOf(search.get('after'));
  const before = positionOf(search.get('before'));
  const start = before === null ? (after ?? 0) : Math.max(0, before - limit);
  const end = Math.min(list.length, before ?? start + limit);
  return json({
    data: list.slice(start, end).map(shown),
    meta: { limit, after: end < list.length ? cursorOf(end) : null, before: start > 0 ? cursorOf(start) : null },
  });
}

const cursorOf = (position: number): string => Buffer.from(`sandbox:${position}`).toString('base64url');

function positionOf(cursor: string | null): number | null {
  if (cursor === null || cursor === '') return null;
  const [, position] = /^sandbox:(\d{1,7})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (position === undefined) throw invalid(['after', 'validation_format', 'is not a cursor of this list']);
  return Number(position);
}

/** True within `created_at[after]` and `created_at[before]` of the query. */
export function wasCreated({ search }: Asked, atMs: number): boolean {
  const bound = (name: string) => {
    const text = search.get(`created_at[${name}]`);
    const ms = text === null ? Number.NaN : Date.parse(text);
    if (text !== null && Number.isNaN(ms))
      throw invalid([`created_at[${name}]`, 'validation_format', 'is not an ISO 8601 datetime']);
    return ms;
  };
  return !(atMs < bound('after')) && !(atMs > bound('before'));
}
