export { callOff } from './call-off.ts';
export * from './cards.ts';
export type { Confirmed, Contact, PurchaseRow } from './purchases.ts';
export * as purchases from './purchases.ts';
export * from './tables.ts';
