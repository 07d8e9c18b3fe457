export type { AccountReader, AuthorizationEscrow, EscrowAccount, IntentEscrow, ObservedEscrow } from './account.ts';
export { readEscrow } from './account.ts';
export { ESCROW_PROGRAM_ID } from './address.ts';
export type { AuthorizationTerms } from './authorization.ts';
export {
  authorizationPlace,
  authorizeInstructions,
  capturePartInstruction,
  closeAuthorizationInstructions,
  expectedOf,
  reclaimInstructions,
  refundCapturedInstruction,
  voidInstruction,
} from './authorization.ts';
export type { EscrowOnChain, LateMoney } from './claim.ts';
export { consentInstruction, consentMessage } from './consent.ts';
export * from './elf.ts';
export { createTokenAccount } from './instruction.ts';
export type { EscrowCheck, ExpectedAuthorization, ExpectedEscrow } from './verify.ts';
export { verifyAuthorization } from './verify.ts';

export const loadAccount = () => import('./account.ts');
export const loadAddress = () => import('./address.ts');
export const loadAuthorization = () => import('./authorization.ts');
export const loadClaim = () => import('./claim.ts');
export const loadConsent = () => import('./consent.ts');
export const loadProgram = () => import('./program.ts');
export const loadEscrowVerify = () => import('./verify.ts');
