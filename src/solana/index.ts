export {
  type ChainAccount,
  type Cluster,
  DEVNET_USDC,
  type Faucet,
  LAMPORTS_PER_SIGNATURE,
  SOLANA_NETWORKS,
  type SolanaNetwork,
  SYSTEM_PROGRAM,
} from './cluster.ts';
export * from './cluster-settings.ts';
export { createKeypairFile, readKeypair, readKeypairSeed, readOwnKeypair } from './keypair.ts';
export * from './landing.ts';
export * from './loader.ts';
export * from './signer.ts';
export {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedTokenAddress,
  decodeMint,
  decodeTokenAccount,
  MEMO_PROGRAM,
  TOKEN_PROGRAM,
  tokenIn,
} from './token.ts';
export {
  buildTransaction,
  computeBudget,
  isSignatureText,
  memoStands,
  signAlone,
  signatureOf,
  signPriced,
} from './transaction.ts';

export const loadKeypair = () => import('./keypair.ts');
export const loadLanding = () => import('./landing.ts');
export const loadPriced = () => import('./transaction.ts');
export const loadToken = () => import('./token.ts');
