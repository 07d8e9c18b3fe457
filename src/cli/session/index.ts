export * from './json-file.ts';
export { readKeyFile, readSecretFile } from './key-file.ts';
export { fareOf, fareOfOption, type KnownFare } from './known-fare.ts';
export { memoFinder } from './landed.ts';
export * from './notebook.ts';
export type { PartnerAccess, PartnerIdentity } from './partner-access.ts';
export { spenderOf } from './paying.ts';
export { encrypted, isLoopback, profileOf } from './profile-in-use.ts';
export { shortOf } from './recent.ts';
export * from './remembered.ts';
export * from './session.ts';
export * from './surroundings.ts';
export { usdcOf } from './wallet.ts';
export * from './wallet-connection.ts';

export const loadRecent = () => import('./recent.ts');
export const loadSession = () => import('./session.ts');
export const loadWalletConnection = () => import('./wallet-connection.ts');
