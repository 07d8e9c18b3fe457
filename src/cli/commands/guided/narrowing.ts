import { Command } from 'commander';
import type { AirlineRow } from '../../../kernel/domain/airline-table.ts';
import type { OfferFilters } from '../../../kernel/domain/offer-filters.ts';
import { didYouMeanOneOf } from '../../../kernel/nearest.ts';
import { optionOf } from '../../spec/index.ts';
import { filtersOf } from '../search/index.ts';
import { filterOptions } from '../search/spec.ts';

/** A typed line that narrows the list: words to look for, and filters as `search` takes them. */
interface Narrowing {
  readonly words: string;
  readonly filters: OfferFilters;
  /** The reason why the last words are left out; null if none are. */
  readonly wrong: string | null;
}

export interface Airlines {
  readonly airlineKnown: (codeOrName: string) => AirlineRow | null;
  readonly airlinesNear: (given: string) => readonly { readonly code: string; readonly name: string }[];
}

/** Reads a line such as `lufthansa --no-basic --max-duration 5h`; while it is typed, as far as it makes sense. */
export function narrowingOf(text: string, airlines: Airlines): Narrowing {
  const given = text.trim().split(/\s+/).filter(Boolean);
  let wrong: string | null = null;
  for (let count = given.length; count > 0; count--) {
    try {
      const parser = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
      parser.helpOption(false).argument('[words...]').allowExcessArguments();
      for (const one of filterOptions) parser.addOption(optionOf(one));
      parser.parse(given.slice(0, count), { from: 'user' });
      const filters = filtersOf(parser.opts());
      const codes = [...(filters.airlines ?? []), ...(filters.not_airlines ?? [])];
      const unknown = codes.find((code) => airlines.airlineKnown(code) === null);
      if (unknown === undefined) return { words: parser.args.join(' '), filters, wrong };
      const near = airlines.airlinesNear(unknown).map(({ code, name }) => `${code} (${name})`);
      wrong ??= `Unknown airline ${unknown}. ${didYouMeanOneOf(near)}`.trimEnd();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      wrong ??= error.message.replace(/^error: /, '').replace(/\s+/g, ' ');
    }
  }
  return { words: '', filters: {}, wrong };
}
