export { placeOf } from './airports.ts';
export * from './arrivals.ts';
export * from './bags.ts';
export * from './dates.ts';

export type { TypedSeats } from './seats.ts';

export const loadSeats = () => import('./seats.ts');
export const loadAirports = () => import('./airports.ts');
export const loadGathering = () => import('./arrivals.ts');
