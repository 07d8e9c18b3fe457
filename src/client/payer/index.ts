export type { readChallenge } from './challenge.ts';
export { type PaidAnswer, receiptOf, unreadableIn } from './delivery.ts';
export type { PaidExchange, Payer, PayerPorts } from './payer.ts';
export * from './plan.ts';
export type { PaymentVerification, Verdict } from './verify.ts';

export const loadChallenge = () => import('./challenge.ts');
export const loadPayer = () => import('./payer.ts');
export const loadPayerPlan = () => import('./plan.ts');
export const loadResume = () => import('./resume.ts');
export const loadPayerVerify = () => import('./verify.ts');
