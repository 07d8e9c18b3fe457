export type { FlightsClient } from './flights.ts';
export type { FileState, PostgresPlace, PostgresRefused, PostgresState } from './inspect.ts';
export * from './operator.ts';
export * from './partner.ts';

export const loadFlights = () => import('./flights.ts');
export const loadClientInspect = () => import('./inspect.ts');
export const loadPartner = () => import('./partner.ts');
