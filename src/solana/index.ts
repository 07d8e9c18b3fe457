export * from './cluster.ts';
export * from './cluster-settings.ts';
export { derivedAddress } from './derived-address.ts';
export { createKeypairFile, readKeypair, readKeypairSeed, readOwnKeypair } from './keypair.ts';
export * from './landing.ts';
export * from './loader.ts';
export * from './signer.ts';
export * from './token.ts';
export * from './transaction.ts';

export const loadKeypair = () => import('./keypair.ts');
export const loadLanding = () => import('./landing.ts');
export const loadPriced = () => import('./transaction.ts');
export const loadToken = () => import('./token.ts');
