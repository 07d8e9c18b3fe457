export { CREATIONS, creationsDue } from './creation-due.ts';
export { historyOf, type OrderRow, orderRecord, recordChange, sealColumn } from './order-record.ts';

export const loadOrderCreation = () => import('./order-creation.ts');
export const loadOrderPages = () => import('./order-pages.ts');
export const loadOrderUpdate = () => import('./order-update.ts');
