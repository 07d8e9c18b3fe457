export type { AccountReader, EscrowAccount } from './account.ts';
export { ESCROW_PROGRAM_ID } from './address.ts';
export type { EscrowOnChain, LateMoney } from './claim.ts';
export * from './elf.ts';
export type { EscrowCheck, ExpectedEscrow } from './verify.ts';

export const loadAccount = () => import('./account.ts');
export const loadAddress = () => import('./address.ts');
export const loadClaim = () => import('./claim.ts');
export const loadProgram = () => import('./program.ts');
export const loadEscrowVerify = () => import('./verify.ts');
