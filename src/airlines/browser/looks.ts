import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { regained } from '../../store/base/index.ts';
import { leaseTime } from '../../store/index.ts';
import { LOWCOST_PREFIX } from '../fulfiller.ts';
import type { OfferQuery } from '../provider.ts';
import type { FlightKey } from './flights.ts';
import type { FoundOffer } from './offers.ts';
import type { Recipe } from './recipes/index.ts';
import type { BrowserOfferTable, Store } from './tables.ts';

/** What visits have found, for every process: a site is looked at once for all who ask for the same. */

/** Looks that began in the same stretch of time are the same look. */
const SHARED_MS = 2 * 60_000;
const KEEP_LOOKS_MS = HOUR_MS;
/** An offer can be looked up for a day: its intent may be paid long after it was shown. */
const KEEP_OFFERS_MS = DAY_MS;

export type Look =
  /** Nobody is at it: whoever got this is. */
  | { readonly state: 'begun' }
  | { readonly state: 'under_way' }
  | { readonly state: 'done'; readonly result: unknown; readonly endedAtMs: number }
  | { readonly state: 'failed'; readonly why: string };

export interface KeptOffer extends Omit<BrowserOfferTable, 'query' | 'flights' | 'offer'>, FoundOffer {
  readonly query: OfferQuery;
}

export type Looks = ReturnType<typeof createLooks>;

export function createLooks({ store, clock, leaseMs }: { store: Store; clock: Clock; leaseMs: number }) {
  const looks = regained(store);
  return {
    quoteId: ({ carrier }: Recipe, query: OfferQuery, startedAtMs: number): string => {
      const asked = [carrier.code, query.origin, query.destination, query.departDate, query.returnDate ?? ''];
      return idOf('quote', ...asked, query.adults, Math.floor(startedAtMs / SHARED_MS));
    },

    menuId: (offerId: string, openedAtMs: number): string => idOf('menu', offerId, openedAtMs),

    /** Where a look stands; begun by this call where nobody is at it. */
    async begin(lookId: string): Promise<Look> {
      const [nowMs, time] = [clock.now(), leaseTime(store, clock)];
      const claim = {
        state: 'under_way' as const,
        result: null,
        started_at_ms: nowMs,
        ended_at_ms: null,
        lease_until_ms: time(leaseMs),
        expires_at_ms: nowMs + KEEP_LOOKS_MS,
      };
      const begun = await looks
        .insertInto('browser_looks')
        .values({ look_id: lookId, ...claim })
        .onConflict((conflict) =>
          conflict
            .column('look_id')
            .doUpdateSet(claim)
            .where('browser_looks.state', '=', 'under_way')
            .where('browser_looks.lease_until_ms', '<=', time()),
        )
        .returning('look_id')
        .executeTakeFirst();
      if (begun) return { state: 'begun' };
      const row = await store.selectFrom('browser_looks').selectAll().where('look_id', '=', lookId).executeTakeFirst();
      if (row?.state === 'failed') return { state: 'failed', why: row.result ?? '' };
      if (row?.state !== 'done') return { state: 'under_way' };
      return { state: 'done', result: JSON.parse(row.result ?? 'null'), endedAtMs: row.ended_at_ms ?? 0 };
    },

    /** What was found first counts. */
    async end(lookId: string, ended: { result: unknown } | { why: string }): Promise<void> {
      const result = 'why' in ended ? ended.why : JSON.stringify(ended.result);
      await looks
        .updateTable('browser_looks')
        .set({ state: 'why' in ended ? 'failed' : 'done', result, ended_at_ms: clock.now() })
        .where('look_id', '=', lookId)
        .where('state', '=', 'under_way')
        .execute();
    },

    newOfferId: ({ carrier }: Recipe): string => `${LOWCOST_PREFIX}${carrier.code}-${randomBytes(10).toString('hex')}`,

    async keepOffers(recipe: Recipe, query: OfferQuery, found: readonly FoundOffer[]): Promise<void> {
      if (found.length === 0) return;
      const rows = found.map(({ offer, flights }) => ({
        offer_id: offer.offer_id,
        carrier: recipe.carrier.code,
        query: JSON.stringify(query),
        flights: JSON.stringify(flights),
        offer: JSON.stringify(offer),
        expires_at_ms: clock.now() + KEEP_OFFERS_MS,
      }));
      await looks.insertInto('browser_offers').values(rows).execute();
    },

    async offer(offerId: string): Promise<KeptOffer | null> {
      if (!offerId.startsWith(LOWCOST_PREFIX) || offerId.length > 120) return null;
      const row = await store
        .selectFrom('browser_offers')
        .selectAll()
        .where('offer_id', '=', offerId)
        .executeTakeFirst();
      if (!row) return null;
      return {
        ...row,
        query: JSON.parse(row.query) as OfferQuery,
        flights: JSON.parse(row.flights) as FlightKey[],
        offer: JSON.parse(row.offer) as FoundOffer['offer'],
      };
    },
  };
}

const idOf = (...parts: (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
