export { fareDetailLines } from './fare-details.ts';
export * from './fare-menu.ts';
export * from './fares.ts';
export * from './intent.ts';
export { conditionText, offerLines } from './offer.ts';
export * from './order.ts';
export * from './refund.ts';
export * from './refund-desk.ts';
export { queueView } from './refund-queue.ts';
export * from './review.ts';
export { incompleteText, listLines, listParts, type SearchTitle, searchLines, searchView } from './search.ts';
export { airlineText, type NumberedFare, STACKED, stopsText } from './search-columns.ts';
export * from './status.ts';

export const loadFareMenu = () => import('./fare-menu.ts');
export const loadIntent = () => import('./intent.ts');
export const loadOffer = () => import('./offer.ts');
export const loadOrder = () => import('./order.ts');
export const loadFlightsSearch = () => import('./search.ts');
