import { parseUsdc } from '../../kernel/money.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import type { FareContent } from '../fulfiller.ts';
import { readFares, takeFare } from './fares.ts';
import { queryValues, type SeenFlight, searched, takeListed } from './flights.ts';
import type { KeptOffer } from './looking.ts';
import type { Visit, Walk } from './page/index.ts';
import * as page from './page/index.ts';
import type { Contact } from './purchases.ts';
import type { Money, RecipePart, Values } from './recipes/index.ts';

/**
 * The way from the search to the till, which purchases and trials share. It has no card, and never presses the pay
 * button.
 */

export interface Trip {
  readonly kept: Pick<KeptOffer, 'query' | 'flights'>;
  readonly passengers: readonly Passenger[];
  readonly reference: string;
  /** The address for mails; null for the first passenger's. */
  readonly mailAddress: string | null;
}

export const contactValues = (contact: Contact | undefined, mailAddress: string | null): Values => ({
  'contact.email': mailAddress ?? contact?.email,
  'contact.phone_number': contact?.phone_number,
  'contact.given_name': contact?.given_name,
  'contact.family_name': contact?.family_name,
});

function valuesOf({ passengers, reference, kept, mailAddress }: Trip): Values {
  const [there, home] = kept.flights;
  return {
    ...queryValues(kept.query),
    flight_number: there?.flightNumber,
    return_flight_number: home?.flightNumber,
    reference,
    ...contactValues(passengers[0], mailAddress),
  };
}

/** The pages of a trip in their order. Each function leaves the visit on the next one; `fares` only reads. */
export function wayOf(visit: Visit, trip: Trip) {
  const { recipe } = visit;
  const { kept, passengers } = trip;
  const values = valuesOf(trip);
  let cleared: Walk['cleared'] = new Map();
  let taken: readonly SeenFlight[] = [];
  const at = (part: RecipePart): Walk => page.walkOf(visit, part, values, cleared);
  const fares = async (isThere?: boolean) => {
    const walk = at('fares');
    return { walk, seen: await readFares(walk, passengers.length, taken, isThere) };
  };
  return {
    /** Ends at the list of flights. */
    async search(): Promise<void> {
      ({ cleared } = await searched(visit, kept.query));
    },
    async flights(): Promise<void> {
      taken = await takeListed(at('search'), kept.flights);
    },
    fares,
    async fare(wanted: FareContent, amountDecimal: string): Promise<void> {
      const { walk, seen } = await fares();
      await takeFare(walk, seen, wanted, amountDecimal);
    },
    passengers: () => page.runSteps(at('passengers'), recipe.passengers.steps, passengers),
    async extras(): Promise<void> {
      const walk = at('extras');
      if (recipe.extras.ticked) await page.untickAll(walk, recipe.extras.ticked, 'extras (ticked)');
      await page.runSteps(walk, recipe.extras.steps, passengers);
    },
    /** Ends where the till asks for the card. */
    async till(): Promise<Walk> {
      const walk = at('till');
      await page.runSteps(walk, recipe.till.steps, passengers);
      return walk;
    },
  };
}

export async function totalAsked(walk: Walk): Promise<Money> {
  const { total } = walk.visit.recipe.till;
  return page.must(walk, { total }, 'total', await page.readsMoney(walk, { total }, 'total', 10_000));
}

/** True if the total is the only price that may be paid, in its currency. */
export const isSamePrice = (total: Money, agreed: Money): boolean =>
  total.currency === agreed.currency && parseUsdc(total.decimal) === parseUsdc(agreed.decimal);
