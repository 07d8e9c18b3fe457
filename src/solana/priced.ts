import { type AccountRole, type Address, type Instruction, isWritableRole } from '@solana/kit';
import type { Cluster, PriorityFee } from './cluster.ts';
import type { Signer } from './signer.ts';
import { buildTransaction, computeBudget, type SignedTransaction } from './transaction.ts';

/** The most that any transaction may use. */
const MOST_UNITS = 1_400_000n;
const MICRO = 1_000_000n;

/**
 * Signs a transaction of ours with a young blockhash, without sending it. Where the cluster takes bids, it says what it
 * needs, a fifth above what it used when it was tried out, and bids for that: leaders pack by price for each unit.
 * @throws Problem `cluster_failed`
 */
export async function signPriced(
  cluster: Pick<Cluster, 'latestBlockhash' | 'priorityFee' | 'simulate'>,
  parts: {
    readonly feePayer: Signer;
    readonly signers?: readonly Signer[];
    readonly instructions: readonly Instruction[];
  },
): Promise<SignedTransaction> {
  if (!cluster.priorityFee) return buildTransaction({ ...parts, blockhash: await cluster.latestBlockhash() });
  const [fee, blockhash] = await Promise.all([cluster.priorityFee(writableOf(parts)), cluster.latestBlockhash()]);
  const bidding = (units: bigint, price: bigint) =>
    buildTransaction({
      ...parts,
      instructions: [...computeBudget(Number(units), price), ...parts.instructions],
      blockhash,
    });
  const { err, unitsConsumed } = await cluster.simulate(bidding(MOST_UNITS, 1n).wire);
  // What fails when it is tried out is refused when it is sent, with its reason.
  const units = err === null ? withReserve(unitsConsumed) : MOST_UNITS;
  return bidding(units, priceOf(fee, units));
}

const withReserve = (used: bigint): bigint => {
  const needed = (used * 12n + 9n) / 10n;
  return needed < MOST_UNITS ? needed : MOST_UNITS;
};

function priceOf({ microLamportsPerUnit, mostLamports }: PriorityFee, units: bigint): bigint {
  const most = (mostLamports * MICRO) / (units > 0n ? units : 1n);
  return microLamportsPerUnit < most ? microLamportsPerUnit : most;
}

function writableOf(parts: { readonly feePayer: Signer; readonly instructions: readonly Instruction[] }): Address[] {
  const named = parts.instructions.flatMap(({ accounts = [] }) =>
    accounts.filter(({ role }) => isWritableRole(role as AccountRole)).map(({ address }) => address),
  );
  return [...new Set([parts.feePayer.address, ...named])];
}
