import type { Bags } from '../../kernel/domain/bags.ts';
import { type Problem, type ProblemCode, type ProblemOptions, problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import type { Streams } from '../../terminal/index.ts';
import type { MenuFare, Offer } from '../../wire/flights/index.ts';
import { fareOf, fareOfMenu, fareOfOption, type KnownFare, keptFare } from './known-fare.ts';
import { openPages } from './notebook.ts';

interface RecentJourney {
  readonly route: string;
  /** YYYY-MM-DD */
  readonly departureDate: string;
  /** YYYY-MM-DD of the last arrival. */
  readonly arrivalDate?: string | undefined;
}

/** A journey with the fare that was shown; null if only a price was looked up. */
export interface KnownJourney extends RecentJourney {
  readonly fare: KnownFare | null;
}

/** A journey in the file, where the fares of an itinerary share its flights. */
interface KeptJourney extends RecentJourney {
  readonly fare?: Omit<KnownFare, 'slices'>;
  readonly itinerary?: string;
}

interface RecentPage {
  readonly numbered: Readonly<Record<string, string>>;
  readonly journeys: Readonly<Record<string, KeptJourney>>;
  readonly itineraries: Readonly<Record<string, KnownFare['slices']>>;
  /** The rows of a list of intents, if it was shown after the offers. */
  readonly intents: readonly string[];
  /** Intents that were created or listed here, the newest first. */
  readonly seen: readonly string[];
  /** The bags of the search: its prices include them. */
  readonly bags?: Bags | undefined;
}

const ROW = /^\d{1,3}(\.\d{1,3}){0,2}$/;
const MOST_SEEN = 20;

interface Pages {
  own(): object | null;
  hasOthers(): boolean;
}

/** The advice for a row that does not exist. */
type Instead = Required<Pick<ProblemOptions, 'fix' | 'next'>>;

const INSTEAD_OF_OFFER: Instead = { fix: 'Search again, or give the offer id.', next: [farelock`help search`] };
const INSTEAD_OF_INTENT: Instead = {
  fix: 'List your locks again, or give the intent id.',
  next: [farelock`intent list`],
};

export type RecentOffers = ReturnType<typeof openRecentOffers>;

/**
 * Opens the last list of each place: the numbers on its screen, and enough of each offer to recognise it. A file of the
 * home, replaced whole: of two searches at once one is kept.
 * @param place the terminal or parent process of this command (Streams)
 */
export function openRecentOffers(path: string, warn: (text: string) => void, place?: string) {
  const pages = openPages<RecentPage>(path, warn, place);
  const whole = (page: Partial<RecentPage> | null): RecentPage => ({
    ...{ numbered: {}, journeys: {}, itineraries: {}, intents: [], seen: [] },
    ...page,
  });
  const read = () => whole(pages.own());
  const write = (change: Partial<RecentPage>) => pages.write({ ...read(), ...change });
  const resolve = (idOrNumber: string, instead = INSTEAD_OF_OFFER): string => {
    if (!ROW.test(idOrNumber)) return idOrNumber;
    const offerId = read().numbered[idOrNumber];
    if (offerId === undefined) throw noSuchRow(pages, 'offer_not_found', idOrNumber, instead);
    return offerId;
  };
  return {
    async remember(offers: readonly Offer[], numbered: Readonly<Record<string, string>>, bags?: Bags): Promise<void> {
      const journeys: Record<string, KeptJourney> = {};
      for (const offer of offers) {
        for (const option of offer.fare_options ?? []) {
          journeys[option.offer_id] = journeyOf(offer, fareOfOption(offer, option));
        }
        journeys[offer.offer_id] = journeyOf(offer, fareOf(offer));
      }
      write({ numbered, journeys, itineraries: itinerariesOf(offers), intents: [], bags });
    },
    /** Remembers one offer as number 1, in place of the last list. */
    rememberOne(offerId: string, journey: RecentJourney): void {
      write({
        numbered: { '1': offerId },
        journeys: { [offerId]: journey },
        itineraries: {},
        intents: [],
        bags: undefined,
      });
    },
    /**
     * Numbers the fares of a lowcost offer's menu: `3.1`, `3.2`, … for the offer number 3, or `3.1.1`, … if the list
     * has a `3.2` of its own.
     * @returns the number of each fare by its offer id; empty for an offer that no search showed
     */
    async rememberMenu(offer: Offer, fares: readonly MenuFare[]): Promise<Readonly<Record<string, string>>> {
      const { numbered, journeys, itineraries } = read();
      const number = Object.keys(numbered).find((one) => numbered[one] === offer.offer_id);
      const isOther = (id: string | undefined) => id !== undefined && !id.startsWith(`${offer.offer_id}##`);
      const taken = Object.keys(numbered).some((one) => one.startsWith(`${number}.`) && isOther(numbered[one]));
      const prefix = number?.includes('.') || !taken ? number : `${number}.1`;
      const names = fares.map((fare) => [fare.offer_id, `${prefix}.${fare.fare_index}`] as const);
      const known = number === undefined ? [] : names;
      const isKept = write({
        numbered: { ...numbered, ...Object.fromEntries(known.map(([id, name]) => [name, id])) },
        journeys: {
          ...journeys,
          ...Object.fromEntries(fares.map((fare) => [fare.offer_id, journeyOf(offer, fareOfMenu(offer, fare))])),
        },
        itineraries: { ...itineraries, ...itinerariesOf([offer]) },
      });
      return isKept ? Object.fromEntries(known) : {};
    },
    /** The bags that a row of the last list was priced with; undefined for an offer id. */
    bagsOf: (idOrNumber: string): Bags | undefined => (ROW.test(idOrNumber) ? read().bags : undefined),
    /** Returns the offer of a number in the last list here, and an offer id as it is. */
    resolve,
    ...intentRows({ read, write, resolve, pages }),
    /** The numbered offers of an itinerary in the last list; a lowcost offer, or one that was not listed, alone. */
    fareFamily(idOrNumber: string): { readonly offerId: string; readonly number: string | null }[] {
      const offerId = resolve(idOrNumber);
      const numbered = Object.entries(read().numbered);
      const itinerary = numbered.find(([, id]) => id === offerId)?.[0].split('.')[0];
      const family = numbered
        // Menu fares are not offers of their own.
        .filter(([number, id]) => number.split('.')[0] === itinerary && !id.includes('##'))
        .map(([number, id]) => ({ offerId: id, number }));
      if (offerId.startsWith('lowcost:') || family.length === 0) {
        const own = family.find((fare) => fare.offerId === offerId);
        return [own ?? { offerId, number: null }];
      }
      return family.filter((fare) => !fare.offerId.startsWith('lowcost:'));
    },
    /** The numbers of the last list, in its order, with their offers. */
    listed(): { readonly number: string; readonly offerId: string; readonly journey: RecentJourney | null }[] {
      const { numbered, journeys } = read();
      return Object.entries(numbered).map(([number, offerId]) => ({
        number,
        offerId,
        journey: journeys[offerId] ?? null,
      }));
    },
    /** The journey of an offer; null if no recent search of this home showed it. */
    journey(offerId: string): KnownJourney | null {
      const { journeys, itineraries } = whole(pages.find(({ journeys: known }) => known?.[offerId] !== undefined));
      const kept = journeys[offerId];
      if (!kept) return null;
      const { fare, itinerary, ...journey } = kept;
      return { ...journey, fare: keptFare({ ...fare, slices: itineraries[itinerary ?? ''] }) };
    },
  };
}

/** The part of a page that finds the intents of rows. */
function intentRows({
  read,
  write,
  resolve,
  pages,
}: {
  read(): RecentPage;
  write(change: Partial<RecentPage>): boolean;
  resolve(idOrNumber: string, instead?: Instead): string;
  readonly pages: Pages;
}) {
  return {
    /** Numbers a list of intents, in place of the offers of the last search. */
    rememberIntents(intentIds: readonly string[]): void {
      write({ intents: intentIds, seen: [...new Set([...intentIds, ...read().seen])].slice(0, MOST_SEEN) });
    },
    /** Notes an intent that was created here. Numbers mean the offers of the last search again. */
    rememberIntent(intentId: string): void {
      write({ intents: [], seen: [intentId, ...read().seen].slice(0, MOST_SEEN) });
    },
    /** True for an intent that was created or listed here. */
    hasSeen: (intentId: string): boolean => read().seen.includes(intentId),
    /** The intent of a row of the last list here, or the offers that the row may mean; null for an id. */
    row(idOrNumber: string): { readonly intentId: string } | { readonly offerIds: readonly string[] } | null {
      if (!ROW.test(idOrNumber)) return null;
      const { intents, numbered } = read();
      if (intents.length === 0) {
        const offerId = resolve(idOrNumber, INSTEAD_OF_INTENT);
        // The lock of a lowcost flight names a fare of its menu.
        return { offerIds: [offerId, ...Object.values(numbered).filter((one) => one.startsWith(`${offerId}##`))] };
      }
      const intentId = intents[Number(idOrNumber) - 1];
      if (intentId !== undefined) return { intentId };
      throw noSuchRow(pages, 'intent_not_found', idOrNumber, INSTEAD_OF_INTENT);
    },
    /** The row of an intent or of its offer; null if the last list here did not show it. */
    numberOf({ intent_id, offer_id }: { readonly intent_id: string; readonly offer_id: string }): string | null {
      const { intents, numbered } = read();
      if (intents.length > 0) return intents.includes(intent_id) ? String(intents.indexOf(intent_id) + 1) : null;
      return Object.keys(numbered).find((one) => numbered[one] === offer_id) ?? null;
    },
  };
}

/** Explains a number without a row: the list of another terminal is never used. */
export function noSuchRow(pages: Pages, code: ProblemCode, row: string, instead: Instead): Problem {
  if (pages.own() !== null) return problem(code, { message: `Your last list has no row ${row}.`, ...instead });
  if (!pages.hasOthers())
    return problem(code, { message: `No list was shown here, so there is no row ${row}.`, ...instead });
  return problem('usage', {
    message: `The last list was shown in another terminal, so its row ${row} is not used here.`,
    charged: 'nothing',
    ...instead,
  });
}

/** An offer in a command to copy: its number in the last list on a terminal, else its id. */
export const shortOf = (
  { session, streams }: { session: { recentOffers: RecentOffers }; streams: Streams },
  offerId: string,
): string =>
  (streams.stdout.isTTY && session.recentOffers.listed().find((one) => one.offerId === offerId)?.number) || offerId;

const itinerariesOf = (offers: readonly Offer[]): RecentPage['itineraries'] =>
  Object.fromEntries(offers.map((offer) => [offer.comparison_key, offer.slices]));

const journeyOf = (offer: Offer, { slices, ...fare }: KnownFare): KeptJourney => ({
  route: `${offer.origin_iata}-${offer.destination_iata}`,
  departureDate: offer.departing_at.slice(0, 10),
  arrivalDate: (slices.at(-1) ?? offer).arriving_at.slice(0, 10),
  itinerary: offer.comparison_key,
  fare,
});
