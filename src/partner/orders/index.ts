export { creationsDueAtMs } from './creation-due.ts';
export * from './order-history.ts';
export { type OrderRow, orderRecord, sealColumn } from './order-record.ts';

export const loadOrderCreation = () => import('./order-creation.ts');
export const loadOrderPages = () => import('./order-pages.ts');
export const loadOrderUpdate = () => import('./order-update.ts');
