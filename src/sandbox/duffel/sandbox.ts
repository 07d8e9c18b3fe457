import type { Clock } from '../../kernel/clock.ts';
import { type HttpResponse, json } from '../../kernel/http.ts';
import type { Books, OfferRequestRecord, OfferState } from './books.ts';
import { cutConnection, type KindName, ofGateway, refused } from './errors.ts';
import type { DuffelIds } from './ids.ts';
import type { DuffelWorld, WorldOffer } from './world.ts';

export interface DuffelTimes {
  /** From a 202 to the order, or to the word that it failed; from the order to a late ticket; milliseconds. */
  readonly stepMs: number;
  /** How late a slow answer is. */
  readonly slowMs: number;
}

/** Who travels, as an order echoes it. In memory alone: no file has it. */
export interface EchoedPassenger {
  readonly id: string;
  readonly title: string;
  readonly gender: string;
  readonly given_name: string;
  readonly family_name: string;
  readonly born_on: string;
  readonly email: string;
  readonly phone_number: string;
}

/** Everything that the calls work with. */
export interface Sandbox extends DuffelTimes {
  readonly books: Books;
  readonly world: DuffelWorld;
  readonly ids: DuffelIds;
  readonly clock: Clock;
  readonly seed: string;
  /** By order. Gone when the process ends. */
  readonly passengers: Map<string, readonly EchoedPassenger[]>;
  /** Offers whose order is being made now. */
  readonly underWay: Set<string>;
}

/** One call, let in. */
export interface Asked {
  readonly sandbox: Sandbox;
  readonly search: URLSearchParams;
  readonly requestId: string;
  readonly signal: AbortSignal | undefined;
  /** The `data` of the body. @throws ApiError */
  data(): Promise<Readonly<Record<string, unknown>>>;
}

export const data = (value: unknown, status = 200): HttpResponse => json({ data: value }, status);

/** An offer that was found here, with its search and what changed since; null for any other id. */
export function foundOffer(
  { books, ids, world }: Sandbox,
  id: string,
): { request: OfferRequestRecord; offer: WorldOffer; state: OfferState | undefined } | null {
  const read = ids.read('off', id);
  const request = read && books.requests.get(read.number);
  const offer = request && world.offers(request)[read.index];
  return offer ? { request, offer, state: books.offers.get(id) } : null;
}

/** A failure that has nothing to do with what was asked. null: none of these. */
export async function misbehaved(
  { sandbox, signal }: Pick<Asked, 'sandbox' | 'signal'>,
  behaviour: string | null,
): Promise<HttpResponse | null> {
  if (behaviour === 'slow') await sandbox.clock.sleep(sandbox.slowMs, signal);
  if (behaviour === 'cut') return cutConnection();
  if (behaviour === 'html') return ofGateway(502);
  const kind = FAILURES[behaviour ?? ''];
  if (kind) throw refused(kind, behaviour === 'rate_limited' ? rateLimitHeaders(sandbox.clock.now(), 60, 0) : {});
  return null;
}

const FAILURES: Readonly<Record<string, KindName>> = {
  internal_error: 'internal_server_error',
  rate_limited: 'rate_limit_exceeded',
  timeout: 'gateway_timeout_error',
  gone: 'offer_no_longer_available',
  not_found: 'not_found',
};

/** The budget of this minute, as every answer says it. */
export function rateLimitHeaders(nowMs: number, limit: number, remaining: number): Record<string, string> {
  const resetMs = (Math.floor(nowMs / 60_000) + 1) * 60_000;
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(Math.max(0, remaining)),
    'ratelimit-reset': new Date(resetMs).toUTCString(),
  };
}
