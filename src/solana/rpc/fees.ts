import type { Address } from '@solana/kit';
import { isProblem } from '../../kernel/problems.ts';
import type { PriorityFee } from '../cluster.ts';
import { prioritizationFeesAnswer } from './answers.ts';
import type { RpcCaller } from './caller.ts';

/** In lamports a transaction: 0.0001 SOL. */
export const USUAL_FEE_CAP = 100_000n;
/** Below that a leader may not look at a bid. In micro-lamports a compute unit: a fraction of a lamport. */
const LEAST_PRICE = 1_000n;
/** The method takes no more accounts. */
const MOST_ACCOUNTS = 128;

/**
 * Bids what three of four blocks lately took for the same writable accounts. Where nobody says, it is the least: a fee
 * that is too low only makes the transaction late.
 */
export async function bid(
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
