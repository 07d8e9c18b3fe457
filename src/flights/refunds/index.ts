export * from './affiliate-credit.ts';
export { askAboutOrder, BY_HAND, isAlive } from './carry-out.ts';
export * from './cases.ts';
export * from './decisions.ts';
export { isMarked } from './payouts.ts';
export { REFUNDS } from './states.ts';

export const loadRefundPayouts = () => import('./carry-out.ts');
export const loadRequests = () => import('./requests.ts');
