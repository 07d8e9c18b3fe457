import { createHash, randomBytes } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { regained } from '../../store/base/index.ts';
import { leaseTime } from '../../store/index.ts';
import type { Offer } from '../../wire/flights/index.ts';
import { LOWCOST_PREFIX, type MenuOutcome, type QuoteOutcome, type SoldFare } from '../fulfiller.ts';
import type { LiveOffer, RoundTrip } from '../provider.ts';
import { endingOf, nameOf, noteExit, siteFailed } from './exits.ts';
import { readFares } from './fares.ts';
import { isServed, lookForFlights, takeFlights } from './flights.ts';
import { type FoundOffer, offersOf } from './offers.ts';
import { Stopped, type Visit, walkOf } from './page/index.ts';
import { paysAt, recipeOfCarrier, type Shop } from './ports.ts';
import type { Recipe } from './recipes/index.ts';

/** Looks at carriers' sites. All callers with the same question, in any process, share one look. */

const ASK_AGAIN_MS = 500;
/** Equal searches that begin within one such window share a look. */
const SHARED_MS = 2 * 60_000;
const KEEP_LOOKS_MS = HOUR_MS;
/** Intents may be paid long after their offers were shown. */
const KEEP_OFFERS_MS = DAY_MS;

type Look<T> =
  | { readonly state: 'under_way' }
  | { readonly state: 'done'; readonly result: T; readonly endedAtMs: number }
  | { readonly state: 'failed'; readonly why: string };

/** Returns the state of a look at once; begins the look if needed. @param asked the question that identifies it */
async function lookAt<T>(shop: Shop, asked: readonly (string | number)[], work: () => Promise<T>): Promise<Look<T>> {
  const { store, clock } = shop;
  const lookId = createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 40);
  const [nowMs, time] = [clock.now(), leaseTime(store, clock)];
  const claim = {
    state: 'under_way' as const,
    result: null,
    started_at_ms: nowMs,
    ended_at_ms: null,
    lease_until_ms: time(2 * shop.visitMs),
    expires_at_ms: nowMs + KEEP_LOOKS_MS,
  };
  const claiming = regained(store)
    .insertInto('browser_looks')
    .values({ look_id: lookId, ...claim })
    .onConflict((conflict) =>
      conflict
        .column('look_id')
        .doUpdateSet(claim)
        .where('browser_looks.state', '=', 'under_way')
        .where('browser_looks.lease_until_ms', '<=', time()),
    )
    .returning('look_id');
  if (!shop.looks.has(lookId) && (await claiming.executeTakeFirst())) {
    void carryOut(shop, lookId, work);
    return { state: 'under_way' };
  }
  const row = await store.selectFrom('browser_looks').selectAll().where('look_id', '=', lookId).executeTakeFirst();
  if (row?.state === 'failed') return { state: 'failed', why: row.result ?? '' };
  if (row?.state !== 'done') return { state: 'under_way' };
  return { state: 'done', result: JSON.parse(row.result ?? 'null') as T, endedAtMs: row.ended_at_ms ?? 0 };
}

async function carryOut(
  { store, clock, log, looks }: Shop,
  lookId: string,
  work: () => Promise<unknown>,
): Promise<void> {
  looks.add(lookId);
  try {
    const ended = await work().then(
      (result) => ({ state: 'done' as const, result: JSON.stringify(result) }),
      (error: unknown) => ({ state: 'failed' as const, result: error instanceof Error ? error.message : 'unknown' }),
    );
    if (ended.state === 'failed') log('warn', 'browser_look_failed', { why: ended.result });
    await regained(store)
      .updateTable('browser_looks')
      .set({ ...ended, ended_at_ms: clock.now() })
      .where('look_id', '=', lookId)
      .where('state', '=', 'under_way')
      .execute();
  } catch (error) {
    // The first caller after the lease has ended repeats the look.
    log('error', 'browser_look_lost', { error_name: nameOf(error) });
  } finally {
    looks.delete(lookId);
  }
}

export const serves = ({ sold }: Shop, query: RoundTrip): boolean => sold.some((recipe) => isServed(recipe, query));

/** @throws Problem `provider_failed` if no site could be read */
export async function quote(shop: Shop, query: RoundTrip, startedAtMs: number): Promise<QuoteOutcome> {
  const { origin, destination, departDate, returnDate = '', adults } = query;
  const moment = Math.floor(startedAtMs / SHARED_MS);
  const found = await Promise.all(
    shop.sold
      .filter((recipe) => isServed(recipe, query))
      .map((recipe) =>
        lookAt(shop, ['quote', recipe.carrier.code, origin, destination, departDate, returnDate, adults, moment], () =>
          visitForOffers(shop, recipe, query),
        ),
      ),
  );
  if (found.length > 0 && found.every(({ state }) => state === 'failed')) throw problem('provider_failed');
  const offers = found
    .flatMap((look) => (look.state === 'done' ? [look] : []))
    .sort((a, b) => a.endedAtMs - b.endedAtMs)
    .flatMap(({ result }) => result);
  return found.some(({ state }) => state === 'under_way')
    ? { kind: 'quoting', offers, nextAtMs: shop.clock.now() + ASK_AGAIN_MS }
    : { kind: 'quoted', offers };
}

async function visitForOffers(shop: Shop, recipe: Recipe, query: RoundTrip): Promise<Offer[]> {
  const { store, clock } = shop;
  const seen = await visitFor(shop, recipe, `${query.origin}-${query.destination}`, (visit) =>
    lookForFlights(visit, query),
  );
  const newId = () => `${LOWCOST_PREFIX}${recipe.carrier.code}-${randomBytes(10).toString('hex')}`;
  const found = offersOf(recipe, query, seen, { quotedAtMs: clock.now(), newId });
  const rows = found.map(({ offer, flights }) => ({
    offer_id: offer.offer_id,
    carrier: recipe.carrier.code,
    query: JSON.stringify(query),
    flights: JSON.stringify(flights),
    offer: JSON.stringify(offer),
    expires_at_ms: clock.now() + KEEP_OFFERS_MS,
  }));
  if (rows.length > 0) await regained(store).insertInto('browser_offers').values(rows).execute();
  return found.map(({ offer }) => offer);
}

const visitFor = <T>(shop: Shop, recipe: Recipe, subject: string, work: (visit: Visit) => Promise<T>): Promise<T> =>
  shop.visiting('looker', recipe, async (visit) => {
    try {
      return await work(visit);
    } catch (error) {
      const step = await noteExit(shop, visit, { subject, ...endingOf(error) });
      throw error instanceof Stopped ? error : siteFailed(step);
    }
  });

export type KeptOffer = NonNullable<Awaited<ReturnType<typeof keptOffer>>>;

/** Reads a saved offer with its recipe; null if the offer is unknown, or the carrier has no recipe any more. */
export async function keptOffer(shop: Pick<Shop, 'store' | 'recipes'>, offerId: string) {
  if (!offerId.startsWith(LOWCOST_PREFIX) || offerId.length > 120) return null;
  const row = await shop.store
    .selectFrom('browser_offers')
    .selectAll()
    .where('offer_id', '=', offerId)
    .executeTakeFirst();
  const recipe = row && recipeOfCarrier(shop, row.carrier);
  return recipe
    ? {
        recipe,
        query: JSON.parse(row.query) as RoundTrip,
        flights: JSON.parse(row.flights) as FoundOffer['flights'],
        offer: JSON.parse(row.offer) as Offer,
      }
    : null;
}

export async function offer(shop: Shop, offerId: string): Promise<LiveOffer | null> {
  const kept = await keptOffer(shop, offerId);
  // These sites price bags only after naming the passengers.
  return (
    kept && {
      offer: kept.offer,
      passengerCount: kept.query.adults,
      availableServices: [],
      isUnpayable: !paysAt(shop, kept.recipe),
    }
  );
}

export async function menu(shop: Shop, offerId: string, openedAtMs: number): Promise<MenuOutcome> {
  const kept = await keptOffer(shop, offerId);
  if (!kept) return { kind: 'offer_gone' };
  const look = await lookAt(shop, ['menu', offerId, openedAtMs], () => visitForMenu(shop, kept));
  if (look.state === 'failed') return { kind: 'check_failed', why: look.why };
  return look.state === 'done' ? look.result : { kind: 'pending', pollAfterMs: ASK_AGAIN_MS };
}

async function visitForMenu(shop: Shop, { recipe, offer, query, flights }: KeptOffer): Promise<MenuOutcome> {
  try {
    const fares = await visitFor(shop, recipe, offer.offer_id, async (visit): Promise<SoldFare[]> => {
      const { walk, taken } = await takeFlights(visit, query, flights);
      const seen = await readFares(walkOf(visit, 'fares', walk.values, walk.cleared), query.adults, taken);
      return seen.map(({ fare }) => fare);
    });
    return { kind: 'opened', fares };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return error.reason === 'offer_gone' || error.reason === 'sold_out'
      ? { kind: 'offer_gone' }
      : { kind: 'check_failed', why: error.message };
  }
}
