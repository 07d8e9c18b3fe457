import { metropolitanArea } from '../../../domain/metropolitan-areas.ts';
import type { SearchRequestInput } from '../../../flights/wire.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { parseDate } from '../../searching/dates.ts';
import type { CommandContext } from '../../spec/command.ts';

export interface SearchOptions {
  readonly from: string;
  readonly to: string;
  readonly depart: string;
  readonly return?: string;
  readonly adults?: number;
  readonly cabin?: NonNullable<SearchRequestInput['cabin_class']>;
  readonly maxStops?: number;
  readonly departAfter?: string;
  readonly departBefore?: string;
  readonly maxPrice?: bigint;
  readonly sort?: NonNullable<SearchRequestInput['sort']>;
  readonly limit?: number;
  readonly allFares?: true;
  /** true under --wait, false under --no-wait. */
  readonly wait?: boolean;
  readonly ndjson?: true;
  /** Days either side of both dates. */
  readonly flex?: number;
  readonly cheapestDay?: true;
}

const SHOWN = 20;

/**
 * The request that the options mean. Who waits for slower offers asks for the whole answer, for one of them may bring
 * an itinerary into the list that the first answer would have cut off; the list is limited when it is complete.
 * @throws Problem `usage` for a date that is none */
export function searchRequestOf(options: WaitingOptions, nowMs: number): SearchRequestInput {
  const depart = parseDate(options.depart, nowMs);
  const back = options.return === undefined ? undefined : parseDate(options.return, nowMs);
  if (back !== undefined && back < depart) {
    throw problem('usage', {
      message: `The flight back (${back}) is before the departure (${depart}).`,
      fix: 'Give a --return that is not before --depart.',
    });
  }
  if (options.from === options.to) {
    throw problem('usage', { message: 'Origin and destination are the same.', fix: 'Give two airports.' });
  }
  return {
    origin_iata: options.from,
    destination_iata: options.to,
    depart_date: depart,
    ...(back !== undefined && { return_date: back }),
    ...(options.adults !== undefined && { adults: options.adults }),
    ...(options.cabin !== undefined && { cabin_class: options.cabin }),
    ...(options.maxStops !== undefined && { max_stops: options.maxStops }),
    ...(options.departAfter !== undefined && { departure_after: options.departAfter }),
    ...(options.departBefore !== undefined && { departure_before: options.departBefore }),
    ...(options.maxPrice !== undefined && { max_price: formatUsdc(options.maxPrice) }),
    ...(options.sort !== undefined && { sort: options.sort }),
    ...limitAsked(options),
    cheapest_per_itinerary: !options.allFares,
  };
}

/**
 * A person waits for slower offers and sees them arrive. A program gets the service's own answer at once, with the
 * `search_id` to ask on; it waits when it says so.
 */
interface WaitingOptions extends SearchOptions {
  readonly wait: boolean;
}

export const limitOf = (options: SearchOptions): number => options.limit ?? SHOWN;

/** A stream has no best few: only a limit that was given is passed on, for the first answer. */
function limitAsked(options: WaitingOptions): { limit?: number } {
  if (options.ndjson) return options.limit === undefined ? {} : { limit: options.limit };
  return options.wait ? {} : { limit: limitOf(options) };
}

/** With the codes of airports that were given by name or by city code; the names are loaded for those alone. */
export async function withCodes<T extends Pick<SearchOptions, 'from' | 'to'>>(
  context: CommandContext,
  given: T,
): Promise<T> {
  const isCode = (text: string) => /^[A-Z]{3}$/.test(text) && metropolitanArea(text) === null;
  if (isCode(given.from) && isCode(given.to)) return given;
  const { airportCode } = await import('../../searching/airports.ts');
  const from = isCode(given.from) ? given.from : await airportCode(context, 'from', given.from);
  return { ...given, from, to: isCode(given.to) ? given.to : await airportCode(context, 'to', given.to) };
}
