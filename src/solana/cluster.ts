import type { Address, Signature } from '@solana/kit';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111' as Address;
export const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address;
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;

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

/**
 * The status of a signature. `err` is null when it succeeded, else the runtime's error in JSON-RPC form. Nothing
 * below `confirmed` exists: a processed transaction can vanish with its fork, a failure as much as a success.
 */
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

/** A bid for a place in a block. */
export interface PriorityFee {
  /** For each compute unit that the transaction may use. */
  readonly microLamportsPerUnit: bigint;
  /** The most that the whole transaction pays for it, in lamports. */
  readonly mostLamports: bigint;
}

/** Finds a transaction in the history of an account that it names. */
export type Trace = { readonly signature: Signature } | { readonly memo: string };

export interface ChainTransaction {
  readonly signature: Signature;
  readonly slot: bigint;
  /** Seconds since the epoch. */
  readonly blockTime: number;
  readonly err: unknown;
  readonly logs: readonly string[];
  /** Wire bytes. */
  readonly transaction: Uint8Array;
}

/** The start of the part of an account's history that has to be whole. */
export interface HistorySince {
  readonly account: Address;
  /** Seconds since the epoch: earlier than the transaction can have landed. */
  readonly sinceS: number;
  /** The slot before which it can't have landed; null where it was not written down. */
  readonly sinceSlot?: bigint | null;
}

/**
 * A Solana cluster, as far as Farelock needs one. Two implementations: `embedded/` (a ledger file executed by
 * LiteSVM) and `rpc/` (a real cluster). All reads are at `confirmed` at least. An answer that is older than an earlier
 * one does not count.
 *
 * Raises Problems: `transaction_failed` (the cluster refused; `detail.error`, `detail.logs`) and `cluster_failed`
 * (no answer, or one that says nothing about what happened: the outcome of a send is then unknown).
 */
export interface Cluster {
  readonly network: SolanaNetwork;
  /** The mint of the coin that is paid with here. */
  readonly usdcMint: Address;
  /** A transaction that is signed with it can't land before `slot`. */
  latestBlockhash(): Promise<{ blockhash: string; lastValidBlockHeight: bigint; slot: bigint }>;
  blockHeight(): Promise<bigint>;
  /** Of blocks that can't be taken back. */
  finalizedBlockHeight(): Promise<bigint>;
  /** Seconds since the epoch, by the clock that programs see. */
  unixTime(): Promise<number>;
  /** In the order asked; null where there is no account. `finalized`: a state that can't be taken back. */
  accounts(addresses: readonly Address[], how?: { readonly finalized?: boolean }): Promise<(ChainAccount | null)[]>;
  /** Atomic units; null when the token account does not exist. */
  tokenBalance(tokenAccount: Address): Promise<bigint | null>;
  minimumRent(dataLength: number): Promise<bigint>;
  simulate(wire: Uint8Array, options?: { verifySignatures?: boolean }): Promise<Simulation>;
  /**
   * Verifies the signatures, checks the blockhash, executes, and returns once the transaction is confirmed. Sending
   * the same bytes again is harmless: it lands once, and the second call answers as the first did. A refusal
   * (`transaction_failed`) says that this call put nothing on its way, or that it failed on chain.
   */
  send(wire: Uint8Array): Promise<Signature>;
  /** null: the cluster does not know the signature (it never landed, or not yet). Ask `landingOf` what that means. */
  signatureStatus(signature: Signature): Promise<SignatureStatus | null>;
  transaction(signature: Signature): Promise<ChainTransaction | null>;
  /**
   * Proves that the history of an account reaches back far enough and does not have the transaction; one with the memo
   * counts where it succeeded. A history that ends sooner proves nothing: false.
   */
  isAbsent(trace: Trace, from: HistorySince): Promise<boolean>;
  /** Transactions that bear a memo, done or failed, among the newest that name `account`. */
  signaturesWithMemo(memo: string, account: Address): Promise<Signature[]>;
  /** The bid for a transaction that writes these accounts; absent on a cluster without bids. */
  readonly priorityFee?: ((writable: readonly Address[]) => Promise<PriorityFee>) | undefined;
  /**
   * Blocks past a transaction's last valid one before its absence is believed: as long as a node may have lost its
   * memory.
   */
  readonly doubtBlocks: bigint;
  /** Frees files and sockets. */
  close(): Promise<void>;
}

/** Play money of the embedded cluster. Real clusters have no such thing for USDC. */
export interface Faucet {
  airdropSol(to: Address, lamports: bigint): Promise<Signature>;
  /** Mints test USDC to the associated token account of `owner`, creating it when needed. */
  airdropUsdc(owner: Address, amount: bigint): Promise<Signature>;
}
