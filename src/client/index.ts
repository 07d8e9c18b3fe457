export type { FileState, PostgresPlace, PostgresRefused, PostgresState } from './inspect.ts';
export * from './operator.ts';
export * from './partner.ts';
export type { PartnerDesk } from './partner-desk.ts';

export const loadFlights = () => import('./flights.ts');
export const loadClientInspect = () => import('./inspect.ts');
export const loadPartnerDesk = () => import('./partner-desk.ts');
export const loadPartner = () => import('./partner.ts');
