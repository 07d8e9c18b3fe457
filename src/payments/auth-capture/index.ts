/** x402's `auth-capture` on Solana, as plug-ins for the stock `@x402/core` (docs/auth-capture-svm.md). */

export type { Address } from '@solana/kit';
export { ESCROW_PROGRAM_ID } from '../../escrow/index.ts';
export { type Cluster, readOwnKeypair, type Signer, signerFromSeed } from '../../solana/index.ts';
export { type AuthCaptureClientOptions, authCaptureClient } from './client.ts';
export { rpcCluster } from './cluster.ts';
export { type AuthCaptureFacilitatorOptions, authCaptureFacilitator } from './facilitator.ts';
export { type AuthCaptureLifecycle, type AuthCaptureServerOptions, authCaptureServer, type Hold } from './server.ts';
export { memoryStore, type Store } from './store.ts';
