import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Offer } from '../flights/wire.ts';
import { problem } from '../kernel/problems.ts';

/** What the last search showed: the numbers on the screen, and enough of each offer to recognise it later. */
export interface RecentOffers {
  remember(offers: readonly Offer[], numbered: Readonly<Record<string, string>>): Promise<void>;
  /** An offer id as it is; a number of the last search as the offer that it stood for. */
  resolve(idOrNumber: string): string;
  /** Route and departure of an offer that the last search showed, else null. */
  journey(offerId: string): RecentJourney | null;
}

export interface RecentJourney {
  readonly route: string;
  /** YYYY-MM-DD */
  readonly departureDate: string;
}

interface RecentFile {
  readonly numbered: Readonly<Record<string, string>>;
  readonly journeys: Readonly<Record<string, RecentJourney>>;
}

/** Kept in a file of the home, replaced whole: two searches at once leave one of the two. */
export function openRecentOffers(path: string): RecentOffers {
  const read = (): RecentFile | null => {
    if (!existsSync(path)) return null;
    const file = JSON.parse(readFileSync(path, 'utf8')) as Partial<RecentFile>;
    return { numbered: file.numbered ?? {}, journeys: file.journeys ?? {} };
  };
  return {
    async remember(offers, numbered) {
      const journeys: Record<string, RecentJourney> = {};
      for (const offer of offers) {
        const journey = {
          route: `${offer.origin_iata}-${offer.destination_iata}`,
          departureDate: offer.departing_at.slice(0, 10),
        };
        for (const fare of [offer, ...(offer.fare_options ?? [])]) journeys[fare.offer_id] = journey;
      }
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const aside = `${path}.${process.pid}`;
      writeFileSync(aside, JSON.stringify({ numbered, journeys }), { mode: 0o600 });
      renameSync(aside, path);
    },
    resolve(idOrNumber) {
      if (!/^\d{1,3}(\.\d{1,3})?$/.test(idOrNumber)) return idOrNumber;
      const offerId = read()?.numbered[idOrNumber];
      if (offerId === undefined) {
        throw problem('offer_not_found', {
          message: `The last search showed no offer ${idOrNumber}.`,
          fix: 'Search again, or give the offer id.',
        });
      }
      return offerId;
    },
    journey: (offerId) => read()?.journeys[offerId] ?? null,
  };
}
