import type { Fulfiller, Provider } from '../../airlines/index.ts';
import { type Clock, MINUTE_MS } from '../../kernel/clock.ts';
import { isProblem, problem } from '../../kernel/problems.ts';

interface AirlineAsker {
  readonly client: string;
  readonly payer: string | null;
}

export interface Tiers {
  readonly provider: Pick<Provider, 'offer'> | null;
  readonly lowcost?: Pick<Fulfiller, 'offer'> | null | undefined;
}

/** How long unpaid calls share an answer about an offer. */
const SHARED_MS = 5_000;
const MOST_SHARED = 1_000;
const MOST_ASKERS = 10_000;

/** Marks a skipped airline call: its check is made once the call is paid. */
class NotAsked extends Error {
  override readonly name = 'NotAsked';
}

/**
 * Looks up live offers for calls that may never be paid, and saves the airline's rate limit for paid calls:
 * - Unpaid calls about one offer share an answer for some seconds.
 * - If a client or all clients ask too often, or the airline asks us to slow down, unpaid calls skip the airline. A bad
 *   offer is then refused free of charge before settlement, so a client cannot shut out others behind its address.
 * - A verified payment always asks, but a payer with too many refused checks, which are also free, has to wait.
 * Rate limits that unpaid calls hit do not raise the price of searches. Each process counts for itself.
 */
export function createAirlineChecks(ports: {
  readonly clock: Clock;
  /** Airline calls per minute. */
  readonly options: Record<'freeChecksPerClient' | 'freeChecksPerMinute' | 'refusedChecksPerPayer', number>;
  readonly paid: Tiers;
  readonly unpaid: Tiers;
}) {
  const { clock, options } = ports;
  const buckets = createBuckets(clock);
  const shared = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();
  let slowUntilMs = 0;

  function free<T>(client: string, about: string, ask: () => Promise<T>): Promise<T> {
    const nowMs = clock.now();
    const known = shared.get(about);
    if (known && Math.abs(nowMs - known.atMs) < SHARED_MS) return known.answer as Promise<T>;
    const own = buckets(`client ${client}`, options.freeChecksPerClient);
    const all = buckets('everybody', options.freeChecksPerMinute);
    if (own.waitMs() > 0) throw new NotAsked();
    own.spend();
    if (nowMs < slowUntilMs && slowUntilMs - nowMs < MINUTE_MS) throw new NotAsked();
    if (all.waitMs() > 0) throw new NotAsked();
    all.spend();
    const answer = ask().catch((error: unknown) => {
      if (isProblem(error, 'upstream_rate_limited')) slowed(error.retryAfter);
      throw error;
    });
    shared.delete(about);
    shared.set(about, { atMs: nowMs, answer });
    dropOldest(shared, MOST_SHARED);
    return answer;
  }

  async function verified<T>(payer: string, ask: () => Promise<T>): Promise<T> {
    const refusals = buckets(`payer ${payer}`, options.refusedChecksPerPayer);
    const waitS = Math.ceil(refusals.waitMs() / 1000);
    if (waitS > 0) throw problem('too_many_requests', { retryAfter: waitS });
    try {
      const found = await ask();
      if (found === null) refusals.spend();
      return found;
    } catch (error) {
      refusals.spend();
      throw error;
    }
  }

  function slowed(retryAfterS = 1): void {
    slowUntilMs = clock.now() + Math.min(retryAfterS * 1000, MINUTE_MS - 1);
  }

  function tiersFor({ client, payer }: AirlineAsker): Tiers {
    const { provider, lowcost } = payer === null ? ports.unpaid : ports.paid;
    const asking = <T>(about: string, ask: () => Promise<T>): Promise<T> =>
      payer === null ? free(client, about, ask) : verified(payer, ask);
    return {
      provider: provider && {
        async offer(id, moment) {
          const live = await asking(`${moment ?? 'quote'} ${id}`, () => provider.offer(id, moment));
          const { seatMaps } = live;
          return seatMaps ? { ...live, seatMaps: () => asking(`seats ${id}`, seatMaps) } : live;
        },
      },
      lowcost: lowcost && { offer: async (id) => asking(`lowcost ${id}`, () => lowcost.offer(id)) },
    };
  }

  return {
    /** @returns null if the airline was skipped @throws what `check` throws, and `too_many_requests` */
    async look<T>(asker: AirlineAsker, check: (tiers: Tiers) => Promise<T>): Promise<T | null> {
      try {
        return await check(tiersFor(asker));
      } catch (error) {
        if (error instanceof NotAsked) return null;
        throw error;
      }
    },
    slowed,
  };
}

export type AirlineChecks = ReturnType<typeof createAirlineChecks>;

/** Token buckets by name, each refilled steadily at its rate per minute. */
function createBuckets(clock: Clock) {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return function bucket(name: string, perMinute: number) {
    const left = (): number => {
      const known = buckets.get(name);
      if (!known) return perMinute;
      // A clock that was set back refills nothing.
      const refilled = (Math.max(0, clock.now() - known.atMs) / MINUTE_MS) * perMinute;
      return Math.min(perMinute, known.left + refilled);
    };
    return {
      waitMs: () => Math.max(0, ((1 - left()) / perMinute) * MINUTE_MS),
      spend() {
        const rest = Math.max(0, left() - 1);
        buckets.delete(name);
        buckets.set(name, { left: rest, atMs: clock.now() });
        dropOldest(buckets, MOST_ASKERS);
      },
    };
  };
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const name of map.keys()) {
    if (map.size <= most) return;
    map.delete(name);
  }
}
