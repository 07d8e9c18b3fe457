import type { Address, Signature } from '@solana/kit';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111' as Address;
export const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address;
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;

/** The network's own fee, without a bid. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;

/** Circle's devnet USDC mint; the embedded cluster carries it too. */
export const DEVNET_USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as Address;
export const MAINNET_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' as Address;

/** The USDC of a network; on testnet devnet's, as Circle has none there. */
export const usdcMintOf = (network: SolanaNetwork): Address =>
  network === SOLANA_NETWORKS.mainnet ? MAINNET_USDC : DEVNET_USDC;

/** CAIP-2 ids, the only ones that x402 accepts for Solana (the embedded cluster calls itself devnet). */
export const SOLANA_NETWORKS = {
  mainnet: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  devnet: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  testnet: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkY3z',
} as const;
export type SolanaNetwork = (typeof SOLANA_NETWORKS)[keyof typeof SOLANA_NETWORKS];

export interface ChainAccount {
  readonly address: Address;
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

/** `err` is null on success. Nothing below `confirmed` is reported: it can vanish with its fork. */
export interface SignatureStatus {
  readonly slot: bigint;
  readonly err: unknown;
  readonly confirmation: 'confirmed' | 'finalized';
}

export interface Simulation {
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
}

/** A bid for a place in a block, and the most lamports that the whole transaction may pay for it. */
export interface PriorityFee {
  readonly microLamportsPerUnit: bigint;
  readonly mostLamports: bigint;
}

/** Identifies a transaction in the history of an account. */
export type Trace = { readonly signature: Signature } | { readonly memo: string };

export interface ChainTransaction {
  readonly signature: Signature;
  readonly slot: bigint;
  readonly blockTime: number;
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly transaction: Uint8Array;
}

export interface HistoryEntry {
  readonly signature: Signature;
  /** Null on success. */
  readonly err: unknown;
  /** Seconds since the epoch; null if the node does not say. */
  readonly blockTime: number | null;
}

/** How far back an account's history has to be complete. */
export interface HistorySince {
  readonly account: Address;
  /** Seconds since the epoch: a time before the transaction can have landed. */
  readonly sinceS: number;
  /** The slot before which it can't have landed; null if none was recorded. */
  readonly sinceSlot?: bigint | null;
}

/** An embedded ledger file or a real cluster. Reads are at least `confirmed` and never older than before. */
export interface Cluster {
  readonly network: SolanaNetwork;
  /** The hash of its first block, if it was read; else that of its network counts. */
  readonly genesis?: string | null | undefined;
  /** The mint in which payments are made. */
  readonly usdcMint: Address;
  /** A transaction with this blockhash can't land before `slot`. */
  latestBlockhash(): Promise<{ blockhash: string; lastValidBlockHeight: bigint; slot: bigint }>;
  blockHeight(): Promise<bigint>;
  /** The height of blocks that can't be rolled back. */
  finalizedBlockHeight(): Promise<bigint>;
  unixTime(): Promise<number>;
  accounts(addresses: readonly Address[], how?: { readonly finalized?: boolean }): Promise<(ChainAccount | null)[]>;
  /** Atomic units; null when the token account does not exist. */
  tokenBalance(tokenAccount: Address): Promise<bigint | null>;
  minimumRent(dataLength: number): Promise<bigint>;
  simulate(wire: Uint8Array, options?: { verifySignatures?: boolean }): Promise<Simulation>;
  /** Returns once confirmed; the same bytes land once. `transaction_failed` means not sent, or failed on chain. */
  send(wire: Uint8Array): Promise<Signature>;
  /** Returns null for an unknown signature: it never landed, or not yet. `landingOf` finds out which. */
  signatureStatus(signature: Signature): Promise<SignatureStatus | null>;
  transaction(signature: Signature): Promise<ChainTransaction | null>;
  /** Proves that a transaction (by memo: a successful one) is absent from a history that reaches back far enough. */
  isAbsent(trace: Trace, from: HistorySince): Promise<boolean>;
  /** Finds transactions with a memo, successful or failed, among the newest that name `account`. */
  signaturesWithMemo(memo: string, account: Address): Promise<Signature[]>;
  /** Lists transactions that name `account`, newest first, or those older than `before`. Empty at the end. */
  history(account: Address, from?: { readonly before?: Signature; readonly limit?: number }): Promise<HistoryEntry[]>;
  /** The bid for a transaction that writes these accounts; absent on a cluster without bids. */
  readonly priorityFee?: ((writable: readonly Address[]) => Promise<PriorityFee>) | undefined;
  /** Blocks after the last valid one until an absence counts: as many as a restored node may lack. */
  readonly doubtBlocks: bigint;
  /** A node's software version, such as `3.1.4`; absent on the embedded cluster. */
  readonly nodeVersion?: (() => Promise<string | null>) | undefined;
  close(): Promise<void>;
}

/** Play money of the embedded cluster. */
export interface Faucet {
  airdropSol(to: Address, lamports: bigint): Promise<Signature>;
  /** Mints to the associated token account of `owner`, creating it when needed. */
  airdropUsdc(owner: Address, amount: bigint): Promise<Signature>;
}
