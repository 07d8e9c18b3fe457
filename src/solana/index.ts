export {
  type ChainAccount,
  type Cluster,
  DEVNET_USDC,
  type Faucet,
  SOLANA_NETWORKS,
  type SolanaNetwork,
} from './cluster.ts';
export * from './cluster-settings.ts';
export { verifyEd25519 } from './ed25519.ts';
export { createKeypairFile, readKeypair, readKeypairSeed, readOwnKeypair } from './keypair.ts';
export * from './landing.ts';
export * from './loader.ts';
export * from './monikers.ts';
export * from './priced.ts';
export * from './signer.ts';
export {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedTokenAddress,
  decodeMint,
  decodeTokenAccount,
  MEMO_PROGRAM,
  TOKEN_PROGRAM,
} from './token.ts';
export { buildTransaction, computeBudget, isSignatureText, memoStands, signatureOf } from './transaction.ts';

export const loadKeypair = () => import('./keypair.ts');
export const loadLanding = () => import('./landing.ts');
export const loadPriced = () => import('./priced.ts');
export const loadToken = () => import('./token.ts');
