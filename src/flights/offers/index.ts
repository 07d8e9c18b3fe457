export type { OfferToLock } from './bags.ts';
export * from './live-offer.ts';
export * from './lowcost.ts';
export * from './pricing.ts';

export const loadLowcostOffers = () => import('./lowcost-offers.ts');
export const loadSearch = () => import('./search.ts');
export const loadSponsored = () => import('./sponsored.ts');
