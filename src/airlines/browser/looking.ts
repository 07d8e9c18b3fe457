import { problem } from '../../kernel/problems.ts';
import type { Offer } from '../../wire/flights/index.ts';
import type { MenuOutcome, QuoteOutcome, SoldFare } from '../fulfiller.ts';
import type { LiveOffer, OfferQuery } from '../provider.ts';
import { endingOf, noteExit, siteFailed } from './exits.ts';
import { readFares } from './fares.ts';
import { isServed, lookForFlights, takeFlights } from './flights.ts';
import type { KeptOffer, Look } from './looks.ts';
import { offersOf } from './offers.ts';
import { Stopped, type Visit, walkOf } from './page/index.ts';
import { paysAt, recipeOfCarrier, type Shop } from './ports.ts';
import type { Recipe } from './recipes/index.ts';

/** Looks at carriers' sites: begun by whoever asks first, kept for all who ask then. */

const ASK_AGAIN_MS = 500;

/** Where a look stands; whoever begins it doesn't wait for it. */
async function lookAt(shop: Shop, lookId: string, work: () => Promise<unknown>): Promise<Look> {
  const look = await shop.looks.begin(lookId);
  if (look.state === 'begun') void carryOut(shop, lookId, work);
  return look;
}

async function carryOut({ looks, log }: Shop, lookId: string, work: () => Promise<unknown>): Promise<void> {
  try {
    const ended = await work().then(
      (result) => ({ result }),
      (error: unknown) => ({ why: error instanceof Error ? error.message : 'unknown' }),
    );
    if ('why' in ended) log('warn', 'browser_look_failed', { why: ended.why });
    await looks.end(lookId, ended);
  } catch (error) {
    // Its lease ends, and whoever asks then begins it anew.
    log('error', 'browser_look_lost', { error_name: error instanceof Error ? error.name : 'unknown' });
  }
}

export const serves = ({ recipes }: Shop, query: OfferQuery): boolean =>
  recipes.some((recipe) => isServed(recipe, query));

/** @throws Problem `provider_failed` where no carrier's site could be read */
export async function quote(shop: Shop, query: OfferQuery, startedAtMs: number): Promise<QuoteOutcome> {
  const { looks, clock } = shop;
  const asked = shop.recipes.filter((recipe) => isServed(recipe, query));
  const found = await Promise.all(
    asked.map((recipe) =>
      lookAt(shop, looks.quoteId(recipe, query, startedAtMs), () => visitForOffers(shop, recipe, query)),
    ),
  );
  if (found.length > 0 && found.every(({ state }) => state === 'failed')) throw problem('provider_failed');
  const offers = found
    .flatMap((look) => (look.state === 'done' ? [look] : []))
    .sort((a, b) => a.endedAtMs - b.endedAtMs)
    .flatMap(({ result }) => result as Offer[]);
  const isOver = found.every(({ state }) => state === 'done' || state === 'failed');
  return isOver ? { kind: 'quoted', offers } : { kind: 'quoting', offers, nextAtMs: clock.now() + ASK_AGAIN_MS };
}

async function visitForOffers(shop: Shop, recipe: Recipe, query: OfferQuery): Promise<Offer[]> {
  const { looks, clock } = shop;
  const seen = await visitFor(shop, recipe, `${query.origin}-${query.destination}`, (visit) =>
    lookForFlights(visit, query),
  );
  const found = offersOf(recipe, query, seen, { quotedAtMs: clock.now(), newId: () => looks.newOfferId(recipe) });
  await looks.keepOffers(recipe, query, found);
  return found.map(({ offer }) => offer);
}

/** A visit that looks, and keeps what it saw where it ended otherwise. */
const visitFor = <T>(shop: Shop, recipe: Recipe, subject: string, work: (visit: Visit) => Promise<T>): Promise<T> =>
  shop.visiting('looker', recipe, async (visit) => {
    try {
      return await work(visit);
    } catch (error) {
      const step = await noteExit(shop, visit, { subject, ...endingOf(error) });
      throw error instanceof Stopped ? error : siteFailed(step);
    }
  });

export async function offer(shop: Shop, offerId: string): Promise<LiveOffer | null> {
  const kept = await shop.looks.offer(offerId);
  const recipe = kept && recipeOfCarrier(shop, kept.carrier);
  if (!kept || !recipe) return null;
  // What a bag costs is an extra, which these sites sell after the passengers are named.
  return {
    offer: kept.offer,
    passengerCount: kept.query.adults,
    availableServices: [],
    isUnpayable: !paysAt(shop, recipe),
  };
}

export async function menu(shop: Shop, offerId: string, openedAtMs: number): Promise<MenuOutcome> {
  const kept = await shop.looks.offer(offerId);
  const recipe = kept && recipeOfCarrier(shop, kept.carrier);
  if (!kept || !recipe) return { kind: 'offer_gone' };
  const look = await lookAt(shop, shop.looks.menuId(offerId, openedAtMs), () => visitForMenu(shop, recipe, kept));
  if (look.state === 'failed') return { kind: 'check_failed', why: look.why };
  return look.state === 'done' ? (look.result as MenuOutcome) : { kind: 'pending', pollAfterMs: ASK_AGAIN_MS };
}

async function visitForMenu(shop: Shop, recipe: Recipe, kept: KeptOffer): Promise<MenuOutcome> {
  try {
    const fares = await visitFor(shop, recipe, kept.offer_id, async (visit): Promise<SoldFare[]> => {
      const { values, cleared } = await takeFlights(visit, kept.query, kept.flights);
      const seen = await readFares(walkOf(visit, 'fares', values, cleared), kept.query.adults);
      return seen.map(({ fare }) => fare);
    });
    return { kind: 'opened', fares };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const { reason } = error;
    return reason === 'offer_gone' ? { kind: 'offer_gone' } : { kind: 'check_failed', why: error.message };
  }
}
