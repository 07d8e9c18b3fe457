import { type Clock, HOUR_MS } from '../../../kernel/clock.ts';
import { problem } from '../../../kernel/problems.ts';
import { isRecord } from '../../../terminal/index.ts';
import type { Document } from './answers.ts';

const SEARCH_MS = HOUR_MS / 2;
const MOST_SEARCHES = 5;
const MOST_OFFERS = 500;

/** Keeps the paid answers of this run: the rest of a search and its offers are shown again for free. */
export function openKept(clock: Clock) {
  const searches = new Map<string, { readonly document: Document; readonly untilMs: number }>();
  const offers = new Map<string, Document>();
  const add = <T>(to: Map<string, T>, key: string, value: T, most: number) => {
    to.delete(key);
    to.set(key, value);
    for (const oldest of [...to.keys()].slice(0, Math.max(0, to.size - most))) to.delete(oldest);
  };
  return {
    /** Keeps a search by its command line, and the offers of any answer. */
    keep(line: string | null, document: Document): void {
      const { offer, offers: list } = document;
      const found: unknown[] = [offer, ...(Array.isArray(list) ? list : [])];
      for (const one of found.toReversed())
        if (isRecord(one) && typeof one.offer_id === 'string') add(offers, one.offer_id, one, MOST_OFFERS);
      if (line !== null && Array.isArray(list)) {
        const { payment: _paid, ...free } = document;
        add(searches, line, { document: free, untilMs: clock.now() + SEARCH_MS }, MOST_SEARCHES);
      }
    },
    /** The answer to this command line from the last half hour. @throws Problem `usage` */
    search(line: string): Document {
      const kept = searches.get(line);
      if (kept && clock.now() < kept.untilMs) return kept.document;
      throw problem('usage', {
        message: 'This search is not kept: it was another one, or more than half an hour ago.',
        fix: 'Search again without offset, which is paid.',
      });
    },
    offer: (id: string): Document | undefined => offers.get(id),
    /** Newest answers first, each with its best offer first. */
    offers: (): Document[] => [...offers.values()].toReversed(),
  };
}
