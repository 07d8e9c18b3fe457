import type { Address, Signature } from '@solana/kit';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111' as Address;
export const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address;
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;

/** The network's fee, whatever a transaction bids beside it. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;

/** Circle's devnet USDC mint; the embedded cluster carries it too. */
export const DEVNET_USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as Address;
export const MAINNET_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' as Address;

/** The USDC of a network; on testnet the one of devnet, for Circle has none there. */
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

/** A bid for a place in a block, with the most lamports that the whole transaction pays for it. */
export interface PriorityFee {
  readonly microLamportsPerUnit: bigint;
  readonly mostLamports: bigint;
}

/** Finds a transaction in the history of an account that it names. */
export type Trace = { readonly signature: Signature } | { readonly memo: string };

export interface ChainTransaction {
  readonly signature: Signature;
  readonly slot: bigint;
  readonly blockTime: number;
  readonly err: unknown;
  readonly logs: readonly string[];
  readonly transaction: Uint8Array;
}

/** A transaction in the history of an account. */
export interface HistoryEntry {
  readonly signature: Signature;
  /** null on success. */
  readonly err: unknown;
  /** Seconds since the epoch; null where a node does not say it. */
  readonly blockTime: number | null;
}

/** The start of the part of an account's history that has to be whole. */
export interface HistorySince {
  readonly account: Address;
  /** Seconds since the epoch: earlier than the transaction can have landed. */
  readonly sinceS: number;
  /** The slot before which it can't have landed; null where it was not written down. */
  readonly sinceSlot?: bigint | null;
}

/** An embedded ledger file or a real cluster. Reads are at least `confirmed` and never older than before. */
export interface Cluster {
  readonly network: SolanaNetwork;
  /** The hash of its first block, where it was read; else that of its network counts. */
  readonly genesis?: string | null | undefined;
  /** The mint of the coin that is paid with here. */
  readonly usdcMint: Address;
  /** A transaction that is signed with it can't land before `slot`. */
  latestBlockhash(): Promise<{ blockhash: string; lastValidBlockHeight: bigint; slot: bigint }>;
  blockHeight(): Promise<bigint>;
  /** Of blocks that can't be taken back. */
  finalizedBlockHeight(): Promise<bigint>;
  unixTime(): Promise<number>;
  accounts(addresses: readonly Address[], how?: { readonly finalized?: boolean }): Promise<(ChainAccount | null)[]>;
  /** Atomic units; null when the token account does not exist. */
  tokenBalance(tokenAccount: Address): Promise<bigint | null>;
  minimumRent(dataLength: number): Promise<bigint>;
  simulate(wire: Uint8Array, options?: { verifySignatures?: boolean }): Promise<Simulation>;
  /** Returns once confirmed; the same bytes land once. `transaction_failed` means not sent, or failed on chain. */
  send(wire: Uint8Array): Promise<Signature>;
  /** null: the cluster does not know the signature (it never landed, or not yet). Ask `landingOf` what that means. */
  signatureStatus(signature: Signature): Promise<SignatureStatus | null>;
  transaction(signature: Signature): Promise<ChainTransaction | null>;
  /** Proves by a history that reaches back far enough that a transaction is absent (by memo: a successful one). */
  isAbsent(trace: Trace, from: HistorySince): Promise<boolean>;
  /** Transactions that bear a memo, done or failed, among the newest that name `account`. */
  signaturesWithMemo(memo: string, account: Address): Promise<Signature[]>;
  /** Transactions that name `account`, newest first: those before one of them, or the newest. Empty at the end. */
  history(account: Address, from?: { readonly before?: Signature; readonly limit?: number }): Promise<HistoryEntry[]>;
  /** The bid for a transaction that writes these accounts; absent on a cluster without bids. */
  readonly priorityFee?: ((writable: readonly Address[]) => Promise<PriorityFee>) | undefined;
  /** Blocks past the last valid one before an absence counts: as long as a node may have lost its memory. */
  readonly doubtBlocks: bigint;
  /** The version of the software of a node, such as `3.1.4`; absent on the embedded cluster. */
  readonly nodeVersion?: (() => Promise<string | null>) | undefined;
  close(): Promise<void>;
}

/** Play money of the embedded cluster. */
export interface Faucet {
  airdropSol(to: Address, lamports: bigint): Promise<Signature>;
  /** Mints to the associated token account of `owner`, creating it when needed. */
  airdropUsdc(owner: Address, amount: bigint): Promise<Signature>;
}
