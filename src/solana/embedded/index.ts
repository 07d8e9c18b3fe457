export { SYSTEM_PROGRAM } from '../cluster.ts';
export type { GenesisProgram } from './genesis.ts';
export type { LedgerReading } from './inspect.ts';
export * from './ledger.ts';
export { type AccountsWanted, changedBy, type LandedTransaction, transactionOf } from './ledger-file.ts';
export * from './meta.ts';
export { decodeNonce } from './nonce.ts';
export { type EmbeddedCluster, openEmbeddedCluster } from './open.ts';
export * from './parse.ts';
export { epochOf, SLOT_MS, SLOTS_PER_EPOCH } from './slot-clock.ts';

export const loadEmbeddedInspect = () => import('./inspect.ts');
