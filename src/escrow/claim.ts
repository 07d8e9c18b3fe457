import type { Instruction, Signature } from '@solana/kit';
import { isProblem, problem } from '../kernel/problems.ts';
import type { Cluster } from '../solana/cluster.ts';
import type { Signer } from '../solana/signer.ts';
import { readEscrow } from './account.ts';
import { escrowPlace, intentHashOf } from './address.ts';
import { type ObservedEscrow, observeEscrow } from './observe.ts';
import { refundInstructions, sweepInstructions } from './program.ts';
import type { EscrowAccount } from './terms.ts';

/** The escrow of an intent as the cluster alone shows it: no service is asked. */
export interface EscrowOnChain extends ObservedEscrow {
  readonly escrow: EscrowAccount;
}

/** What became of a claim. `amount` is in atomic units; `transaction` is null where somebody else was first. */
export interface Claim {
  readonly outcome: 'refunded' | 'swept' | 'already_refunded';
  readonly amount: bigint;
  readonly transaction: Signature | null;
}

/** The network fee of a transaction with one signature, and the rent of a token account, in lamports. */
const NETWORK_FEE = 5_000n;
const TOKEN_ACCOUNT_BYTES = 165;

/**
 * Finds the escrow by the intent's id, which its address follows from.
 * @returns null when there is none: never opened, or closed after its end.
 * @throws Problem `cluster_failed`
 */
export async function escrowOnChain(
  cluster: Pick<Cluster, 'accounts'>,
  intentId: string,
): Promise<EscrowOnChain | null> {
  const { address } = await escrowPlace(intentHashOf(intentId));
  const escrow = await readEscrow(cluster, address);
  if (!escrow) return null;
  const at = { escrow: address, mint: escrow.mint, refundOwner: escrow.refundOwner };
  const observed = await observeEscrow(cluster, at);
  return observed.escrow ? { ...observed, escrow: observed.escrow } : null;
}

/**
 * Sends the money of an escrow to its refund owner without the operator (docs/escrow.md): all of it once
 * `refund_after` has passed, and whatever arrived after the end at any time. `signer` pays the network fee, and the
 * rent of the refund owner's token account where that is gone; the money goes to the refund owner whoever claims.
 * Call it again after any failure: the chain itself lets it happen once.
 * @throws Problem `refund_not_due`, `nothing_to_claim`, `insufficient_funds` (SOL), all before anything is sent;
 *   `cluster_failed`, `transaction_failed`
 */
export async function claimEscrow(
  cluster: Cluster,
  signer: Signer,
  intentId: string,
  found: EscrowOnChain,
): Promise<Claim> {
  const { escrow, held } = found;
  if (escrow.state === 'refunded' && held === 0n) {
    return { outcome: 'already_refunded', amount: escrow.amount, transaction: null };
  }
  const outcome = escrow.state === 'open' ? 'refunded' : 'swept';
  await checkClaim(cluster, found);
  await checkFee(cluster, signer, found);
  const parties = {
    programId: escrow.programId,
    payer: signer.address,
    escrow: escrow.address,
    mint: escrow.mint,
    refundOwner: escrow.refundOwner,
    rentPayer: escrow.rentPayer,
    observed: found,
  };
  const instructions =
    outcome === 'refunded'
      ? await refundInstructions({ ...parties, authority: escrow.authority, byAuthority: false })
      : await sweepInstructions(parties);
  const transaction = await send(cluster, signer, instructions, async () => {
    const now = await escrowOnChain(cluster, intentId);
    return now === null || (now.escrow.state !== 'open' && now.held === 0n);
  });
  return { outcome, amount: held, transaction };
}

async function checkClaim(cluster: Cluster, { escrow, held }: EscrowOnChain): Promise<void> {
  if (held === 0n) {
    throw problem('nothing_to_claim', { detail: { escrow: escrow.address, state: escrow.state } });
  }
  if (escrow.state !== 'open') return;
  // The program goes by the cluster's clock, so that one decides here too.
  const now = BigInt(await cluster.unixTime());
  if (now >= escrow.refundAfter) return;
  const refundAfter = instantOf(escrow.refundAfter);
  throw problem('refund_not_due', {
    message: `Until ${refundAfter} only the operator can refund this escrow; from then on anyone can.`,
    detail: { escrow: escrow.address, refund_after: refundAfter, held: Number(held) },
  });
}

async function checkFee(cluster: Cluster, signer: Signer, found: EscrowOnChain): Promise<void> {
  const rent = found.refundAccount === 'missing' ? await cluster.minimumRent(TOKEN_ACCOUNT_BYTES) : 0n;
  const needed = NETWORK_FEE + rent;
  const [wallet] = await cluster.accounts([signer.address]);
  const lamports = wallet?.lamports ?? 0n;
  if (lamports >= needed) return;
  throw problem('insufficient_funds', {
    message: `The wallet ${signer.address} needs ${Number(needed) / 1e9} SOL for the network and holds ${Number(lamports) / 1e9}.`,
    fix: 'Send it SOL, or claim with another wallet (--keypair): the money goes to the refund wallet in any case.',
    detail: { wallet: signer.address, needed_lamports: Number(needed), held_lamports: Number(lamports) },
  });
}

/** The signature of our transaction; null when it was refused or lost, and the escrow is empty all the same. */
async function send(
  cluster: Cluster,
  signer: Signer,
  instructions: readonly Instruction[],
  isDone: () => Promise<boolean>,
): Promise<Signature | null> {
  const { buildTransaction } = await import('../solana/transaction.ts');
  const blockhash = await cluster.latestBlockhash();
  const signed = buildTransaction({ feePayer: signer, instructions, blockhash });
  try {
    return await cluster.send(signed.wire);
  } catch (error) {
    if (!isProblem(error, 'cluster_failed', 'transaction_failed') || !(await isDone())) throw error;
    const status = await cluster.signatureStatus(signed.signature);
    return status?.err === null ? signed.signature : null;
  }
}

const instantOf = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString();
