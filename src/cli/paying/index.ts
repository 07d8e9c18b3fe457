export * from './agreement.ts';
export * from './confirm.ts';
export * from './escrow-check.ts';
export * from './explorer.ts';
export * from './from-chain.ts';
export * from './meant.ts';
export * from './paid-for.ts';
export * from './settled-payments.ts';

export const loadPaidPlan = () => import('./paid-plan.ts');
