/** Grouping is shared with the tool, which groups what arrives after the first answer. */
export { groupByItinerary } from '../../domain/offer-groups.ts';
