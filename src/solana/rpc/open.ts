import type { Address } from '@solana/kit';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import { type Cluster, type PriorityFee, type SolanaNetwork, usdcMintOf } from '../cluster.ts';
import { networkOfGenesis, rpcUrl } from '../monikers.ts';
import { checkMint, nameOf, networkHeldTo } from '../settings-checks.ts';
import { prioritizationFeesAnswer } from './answers.ts';
import { createCaller, type RpcCaller, type Said } from './caller.ts';
import { createFreshness } from './freshness.ts';
import { isAbsent, signaturesWithMemo } from './history.ts';
import { createLifetimes } from './lifetime.ts';
import { createMember, type Genesis } from './member.ts';
import { createReads } from './reads.ts';
import { sendAndConfirm } from './send.ts';
import { tryOut } from './try-out.ts';

/** In lamports a transaction: 0.0001 SOL. */
const USUAL_FEE_CAP = 100_000n;
/** Below that a leader may not look at a bid. In micro-lamports a compute unit: a fraction of a lamport. */
const LEAST_PRICE = 1_000n;
/** The method takes no more accounts. */
const MOST_ACCOUNTS = 128;

/** Five minutes. Nodes that are restored or fall behind have forgotten what they knew for about as long. */
const DOUBT_BLOCKS = 750n;

interface RpcOptions {
  /** Addresses of the JSON-RPC of one cluster, the preferred one first; or monikers (`devnet`, `localhost` …). */
  readonly urls: readonly string[];
  readonly clock: Clock;
  /** As `ClusterSettings` has them: what the cluster has to be. A network without a word of its genesis is not checked. */
  readonly network?: SolanaNetwork | null | undefined;
  readonly genesis?: string | null | undefined;
  /** Default: Circle's USDC of the network. */
  readonly usdcMint?: Address | null | undefined;
  /** How certain a read must be; nothing less than `confirmed` is ever trusted. */
  readonly commitment?: 'confirmed' | 'finalized';
  /** The most that a transaction of ours bids for its place, in lamports. */
  readonly priorityFeeCap?: bigint | null | undefined;
  readonly log?: Log | undefined;
  readonly fetch?: typeof fetch;
}

/**
 * A real cluster, by the addresses of its JSON-RPC. Where several are named they are one cluster: what one does not
 * answer in time another is asked for, and transactions go to all.
 * @throws Problem `cluster_failed` when an address is none, nobody answers, or the addresses lead to different clusters;
 *   `genesis_unexpected`, `cluster_settings_invalid`
 */
export async function openRpcCluster(
  options: RpcOptions,
): Promise<Cluster & { readonly genesis: string | null }> {
  const { clock, commitment = 'confirmed', log = silentLog } = options;
  const freshness = createFreshness(clock.now);
  const genesis: Genesis = { hash: null };
  const closing = new AbortController();
  const shared = { clock, genesis, log, closing: closing.signal, fetch: options.fetch ?? fetch };
  const urls = addressesOf(options.urls);
  const caller = createCaller(
    urls.map((url) => createMember({ url, standing: freshness.join(), ...shared })),
    clock,
  );
  const isTaken = options.network && options.genesis === undefined && urls.length === 1;
  if (!isTaken) genesis.hash = await commonGenesis(caller, urls);
  const { hash: first } = genesis;
  const network = heldTo(urls, first, options);
  checkMint(network, options.usdcMint ?? null);

  const lifetimes = createLifetimes(caller);
  const reads = createReads(caller, commitment);
  const ports = { caller, clock, lifetimes };
  return {
    network,
    usdcMint: options.usdcMint ?? usdcMintOf(network),
    genesis: first,
    ...reads,
    latestBlockhash: lifetimes.latest,
    blockHeight: () => lifetimes.blockHeight(commitment),
    finalizedBlockHeight: () => lifetimes.blockHeight('finalized'),
    simulate: (wire, { verifySignatures = false } = {}) => tryOut(ports, wire, { verifySignatures }),
    send: (wire) =>
      sendAndConfirm(wire, {
        ...ports,
        status: reads.signatureStatus,
        tryOut: (bytes) => tryOut(ports, bytes, { verifySignatures: true }),
      }),
    isAbsent: (trace, from) => isAbsent(caller, trace, from),
    signaturesWithMemo: (memo, account) => signaturesWithMemo(caller, memo, account),
    priorityFee: (writable) => bid(caller, writable, options.priorityFeeCap ?? USUAL_FEE_CAP),
    doubtBlocks: DOUBT_BLOCKS,
    close: async () => closing.abort(),
  };
}

const heldTo = (urls: readonly string[], first: string | null, options: RpcOptions): SolanaNetwork =>
  first === null && options.network ? options.network : networkHeldTo(urls[0] ?? '', first ?? '', options);

function addressesOf(named: readonly string[]): string[] {
  const urls = named.map((one) => {
    const url = rpcUrl(one);
    if (url) return url;
    throw problem('cluster_failed', {
      message: `"${shownUrl(one)}" is neither an http address nor a known cluster.`,
      fix: 'Give the address of a Solana RPC node, or mainnet, devnet, testnet or localhost.',
    });
  });
  return [...new Set(urls)];
}

/** Whoever answers later is compared before it is asked for anything else. */
const LATE_MS = 100;

/** The first block behind the addresses, which must be the same behind all that answer soon. */
async function commonGenesis(caller: RpcCaller, urls: readonly string[]): Promise<string> {
  // Of a single address there is nothing to compare; and where all are silent, asking goes on for some seconds.
  const said: readonly Said<string>[] =
    urls.length > 1 ? await caller.fromEach('getGenesisHash', [], z.string(), LATE_MS) : [];
  const told = said.flatMap((one) => (one.kind === 'answer' ? [one] : []));
  const hash = told[0]?.answer ?? (await caller.read('getGenesisHash', [], z.string()));
  const other = told.find(({ answer }) => answer !== hash);
  if (!other) return hash;
  throw problem('cluster_failed', {
    message: `The RPC addresses lead to different clusters: ${told[0]?.host} to ${clusterOf(hash)}, ${other.host} to ${clusterOf(other.answer)}.`,
    fix: 'Name addresses of one cluster only.',
  });
}

const clusterOf = (genesisHash: string): string => {
  const network = networkOfGenesis(genesisHash);
  return network ? nameOf(network) : `a private one (genesis ${genesisHash})`;
};

/**
 * Bids what three of four blocks lately took for the same writable accounts. Where nobody says, it is the least: a fee
 * that is too low only makes the transaction late.
 */
async function bid(
  caller: RpcCaller,
  writable: readonly Address[],
  mostLamports: bigint,
): Promise<PriorityFee> {
  const price = await caller
    .read('getRecentPrioritizationFees', [writable.slice(0, MOST_ACCOUNTS)], prioritizationFeesAnswer)
    .then((recent) => threeQuarters(recent.map((one) => one.prioritizationFee)))
    .catch((error: unknown) => {
      if (isProblem(error, 'cluster_failed')) return 0n;
      throw error;
    });
  return { microLamportsPerUnit: price > LEAST_PRICE ? price : LEAST_PRICE, mostLamports };
}

function threeQuarters(prices: readonly bigint[]): bigint {
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.ceil(sorted.length * 0.75) - 1] ?? 0n;
}
