import type { Hidden, OfferFilter, OfferFilters } from '../../../kernel/domain/offer-filters.ts';
import { counted, durationMinutes, hoursAndMinutes, type Screen, wrap } from '../../../terminal/index.ts';

/** Filters as options of the command line. */
const OPTIONS: Readonly<Partial<Record<OfferFilter, string>>> = {
  departure_after: 'depart-after',
  departure_before: 'depart-before',
  arrival_after: 'arrive-after',
  arrival_before: 'arrive-before',
  airlines: 'airline',
  not_airlines: 'not-airline',
};

/** `--max-duration` */
const filterOption = (filter: string): string => `--${OPTIONS[filter as OfferFilter] ?? filter.replaceAll('_', '-')}`;

/** Filters as they are typed: `['--airline', 'TP,LH', '--no-basic']`. */
export const filterWords = (request: OfferFilters): string[] =>
  Object.entries(request).flatMap(([filter, value]) => {
    if (typeof value === 'boolean') return value ? [filterOption(filter)] : [];
    const said = filter === 'max_duration' ? hoursAndMinutes(durationMinutes(String(value))) : String(value);
    return [filterOption(filter), said];
  });

/** ` that suit --airline TP,LH --no-basic`; empty without a filter. */
export function suitingText(request: OfferFilters): string {
  const words = filterWords(request);
  return words.length === 0 ? '' : ` that suit ${words.join(' ')}`;
}

/** `12 fares hidden: 7 by --max-duration, 3 by --refundable; not disclosed: 2 for --refundable`; null if none is. */
export function hiddenText(hidden: readonly Hidden[] | undefined): string | null {
  // Prices in other currencies have words of their own (incompleteText).
  const all = (hidden ?? []).map((one) => (one.filter === 'max_price' ? { ...one, unknown: 0 } : one));
  const total = all.reduce((sum, { count, unknown }) => sum + count + unknown, 0);
  if (total === 0) return null;
  const list = (of: 'count' | 'unknown', word: string) =>
    all.flatMap((one) => (one[of] > 0 ? [`${one[of]} ${word} ${filterOption(one.filter)}`] : [])).join(', ');
  const said = [list('count', 'by'), list('unknown', 'for')];
  const unknown = said[1] === '' ? [] : [`not disclosed: ${said[1]}`];
  return `${counted(total, 'fare')} hidden: ${[...(said[0] === '' ? [] : [said[0]]), ...unknown].join('; ')}`;
}

export const hiddenLines = (hidden: readonly Hidden[] | undefined, { width }: Pick<Screen, 'width'>): string[] => {
  const text = hiddenText(hidden);
  return text === null ? [] : wrap(text, width);
};
