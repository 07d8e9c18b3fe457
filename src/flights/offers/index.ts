export * from './live-offer.ts';
export * from './lowcost.ts';
export * from './pricing.ts';

export const loadLowcostOffers = () => import('./lowcost-offers.ts');
export const loadOffersOffers = () => import('./offers.ts');
export const loadSearchUpdates = () => import('./search-updates.ts');
export const loadOffersSearch = () => import('./search.ts');
export const loadSponsored = () => import('./sponsored.ts');
