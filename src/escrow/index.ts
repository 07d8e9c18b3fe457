export type { AccountReader, AuthorizationEscrow, EscrowAccount, IntentEscrow } from './account.ts';
export { ESCROW_PROGRAM_ID } from './address.ts';
export type { AuthorizationTerms } from './authorization.ts';
export type { EscrowOnChain, LateMoney } from './claim.ts';
export * from './elf.ts';
export type { EscrowCheck, ExpectedAuthorization, ExpectedEscrow } from './verify.ts';

export const loadAccount = () => import('./account.ts');
export const loadAddress = () => import('./address.ts');
export const loadAuthorization = () => import('./authorization.ts');
export const loadClaim = () => import('./claim.ts');
export const loadConsent = () => import('./consent.ts');
export const loadProgram = () => import('./program.ts');
export const loadEscrowVerify = () => import('./verify.ts');
