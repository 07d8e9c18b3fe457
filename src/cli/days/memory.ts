import type { Offer, SearchRequestInput } from '../../flights/wire.ts';
import type { Clock } from '../../kernel/clock.ts';
import { canonicalJson, sha256Hex } from '../../kernel/json.ts';
import { openNotebook } from '../session/notebook.ts';

/** The result of a day's search: paid for, and good for a while. */
export interface RememberedDay {
  readonly atMs: number;
  /** null: nothing is sold that day. */
  readonly offer: Offer | null;
  readonly isComplete: boolean;
}

/** The searched days of the last minutes: who runs the same search again does not pay for them again. */
export interface DayMemory {
  find(request: SearchRequestInput): RememberedDay | null;
  remember(request: SearchRequestInput, found: Omit<RememberedDay, 'atMs'>): void;
}

/** As long as an answer is worth having; an offer that has expired before is not. */
const GOOD_FOR_MS = 600_000;

/** Kept in a file of the home, replaced whole; prices alone, and nothing of a person. */
export function openDayMemory(
  path: string,
  baseUrl: string,
  clock: Clock,
  warn: (text: string) => void,
): DayMemory {
  const file = openNotebook<Record<string, RememberedDay>>(path, warn);
  const keyOf = (request: SearchRequestInput) => sha256Hex(canonicalJson({ baseUrl, request })).slice(0, 32);
  const isGood = ({ atMs, offer }: RememberedDay) => {
    const nowMs = clock.now();
    // A clock that was set back makes nothing younger.
    if (atMs > nowMs || nowMs - atMs > GOOD_FOR_MS) return false;
    return offer === null || Date.parse(offer.expires_at) > nowMs;
  };
  const read = (): [string, RememberedDay][] =>
    Object.entries(file.read() ?? {}).flatMap(([key, day]) => (day ? [[key, day]] : []));
  return {
    find(request) {
      const key = keyOf(request);
      const found = read().find(([one]) => one === key)?.[1];
      return found && isGood(found) ? found : null;
    },
    remember(request, found) {
      const kept = read().filter(([, day]) => isGood(day));
      const entry = { ...found, atMs: clock.now() };
      file.write({ ...Object.fromEntries(kept), [keyOf(request)]: entry });
    },
  };
}
