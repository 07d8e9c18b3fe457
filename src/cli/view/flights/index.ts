export * from './fares.ts';
export { filterWords, hiddenLines, hiddenText, suitingText } from './filters.ts';
export * from './offer.ts';
export * from './refund.ts';
export * from './refund-desk.ts';
export {
  incompleteText,
  leftOutText,
  listLines,
  listParts,
  numberedOffers,
  requestLines,
  type SearchTitle,
  searchLines,
  searchView,
  travellersText,
} from './search.ts';
export { airlineText, STACKED, stopsText } from './search-columns.ts';
export * from './status.ts';

export const loadOffer = () => import('./offer.ts');
export const loadSeatView = () => import('./seats.ts');
export const loadStatus = () => import('./status.ts');
export const loadFlightsSearch = () => import('./search.ts');
