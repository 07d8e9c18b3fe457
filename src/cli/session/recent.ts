import { problem } from '../../kernel/problems.ts';
import type { Streams } from '../../terminal/index.ts';
import type { MenuFare, Offer } from '../../wire/flights/index.ts';
import { fareOf, fareOfMenu, fareOfOption, type KnownFare, keptFare } from './known-fare.ts';
import { openNotebook } from './notebook.ts';

interface RecentJourney {
  readonly route: string;
  /** YYYY-MM-DD */
  readonly departureDate: string;
  /** YYYY-MM-DD of the last arrival. */
  readonly arrivalDate?: string | undefined;
}

/** A journey with the fare that it was shown with; null where only a price was looked up. */
export interface KnownJourney extends RecentJourney {
  readonly fare: KnownFare | null;
}

/** The fares of an itinerary share its flights. */
interface KeptJourney extends RecentJourney {
  readonly fare?: Omit<KnownFare, 'slices'>;
  readonly itinerary?: string;
}

interface RecentFile {
  readonly numbered: Readonly<Record<string, string>>;
  readonly journeys: Readonly<Record<string, KeptJourney>>;
  readonly itineraries: Readonly<Record<string, KnownFare['slices']>>;
}

export type RecentOffers = ReturnType<typeof openRecentOffers>;

/**
 * The list of the last search: the numbers on the screen, and enough of each offer to recognise it. A file of the home,
 * replaced whole: of two searches at once one stays.
 */
export function openRecentOffers(path: string, warn: (text: string) => void) {
  const file = openNotebook<RecentFile>(path, warn);
  const read = (): RecentFile => {
    const { numbered, journeys, itineraries } = file.read() ?? {};
    return { numbered: numbered ?? {}, journeys: journeys ?? {}, itineraries: itineraries ?? {} };
  };
  const { write } = file;
  const resolve = (idOrNumber: string): string => {
    if (!/^\d{1,3}(\.\d{1,3}){0,2}$/.test(idOrNumber)) return idOrNumber;
    const offerId = read().numbered[idOrNumber];
    if (offerId === undefined) {
      throw problem('offer_not_found', {
        message: `The last search showed no offer ${idOrNumber}.`,
        fix: 'Search again, or give the offer id.',
      });
    }
    return offerId;
  };
  return {
    async remember(offers: readonly Offer[], numbered: Readonly<Record<string, string>>): Promise<void> {
      const journeys: Record<string, KeptJourney> = {};
      for (const offer of offers) {
        for (const option of offer.fare_options ?? []) {
          journeys[option.offer_id] = journeyOf(offer, fareOfOption(offer, option));
        }
        journeys[offer.offer_id] = journeyOf(offer, fareOf(offer));
      }
      write({ numbered, journeys, itineraries: itinerariesOf(offers) });
    },
    /** One offer as number 1, in place of the last list. */
    rememberOne(offerId: string, journey: RecentJourney): void {
      write({ numbered: { '1': offerId }, journeys: { [offerId]: journey }, itineraries: {} });
    },
    /**
     * The fares of a lowcost offer's menu: `3.1`, `3.2`, … where the offer was number 3, or `3.1.1`, … where the list
     * has a `3.2` of its own.
     * @returns the number of each fare by its offer id; none for an offer that no search showed
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
    /** The offer of a number of the last search; an offer id stays. */
    resolve,
    /** The numbered offers of an itinerary in the last list, or the offer alone if it was not listed. */
    fareFamily(idOrNumber: string): { readonly offerId: string; readonly number: string | null }[] {
      const offerId = resolve(idOrNumber);
      const numbered = Object.entries(read().numbered);
      const itinerary = numbered.find(([, id]) => id === offerId)?.[0].split('.')[0];
      const family = numbered
        // The fares of a lowcost menu are no offers of their own.
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
    /** null for an offer that the last search did not show. */
    journey(offerId: string): KnownJourney | null {
      const { journeys, itineraries } = read();
      const kept = journeys[offerId];
      if (!kept) return null;
      const { fare, itinerary, ...journey } = kept;
      return { ...journey, fare: keptFare({ ...fare, slices: itineraries[itinerary ?? ''] }) };
    },
  };
}

/** An offer in a command to copy: its number in the last list on a terminal, else its id. */
export const shortOf = (
  { session, streams }: { session: { recentOffers: RecentOffers }; streams: Streams },
  offerId: string,
): string =>
  (streams.stdout.isTTY && session.recentOffers.listed().find((one) => one.offerId === offerId)?.number) || offerId;

const itinerariesOf = (offers: readonly Offer[]): RecentFile['itineraries'] =>
  Object.fromEntries(offers.map((offer) => [offer.comparison_key, offer.slices]));

const journeyOf = (offer: Offer, { slices, ...fare }: KnownFare): KeptJourney => ({
  route: `${offer.origin_iata}-${offer.destination_iata}`,
  departureDate: offer.departing_at.slice(0, 10),
  arrivalDate: (slices.at(-1) ?? offer).arriving_at.slice(0, 10),
  itinerary: offer.comparison_key,
  fare,
});
