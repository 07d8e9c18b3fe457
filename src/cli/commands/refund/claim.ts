import type { Address } from '@solana/kit';
import { refundOwners } from '../../../client/base/index.ts';
import { type EscrowOnChain, type LateMoney, loadClaim } from '../../../escrow/index.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { agreementOf, knowsCluster, linkedOf, programsOf } from '../../paying/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { printPlan, shortened } from '../../view/index.ts';
import type * as spec from './spec.ts';

/**
 * Two claims that never overlap: anyone can claim an escrow that still holds money, on chain, for its refund owner; an
 * operator claims a refund request, which exists only once the escrow was captured.
 */
export const refundClaim: Run<typeof spec.refundClaim> = async (context, given) => {
  const options = { ...given, id: context.session.recentCases.resolve(given.id) };
  const found = options.release ? null : await claimable(context, options);
  if (found && (found.escrow?.state !== 'captured' || found.held > 0n)) {
    return claimFromChain(context, options.id, found);
  }
  try {
    const { refundClaim: takeCase } = await import('./run.ts');
    // The given number names the case in the next steps too.
    return await takeCase(context, given);
  } catch (error) {
    const escrow = found?.escrow;
    if (!escrow || !isProblem(error, 'no_operator_key', 'network_unreachable', 'refund_request_not_found')) throw error;
    throw problem('nothing_to_claim', {
      message: 'The escrow was captured when the ticket was issued, so there is nothing left to claim.',
      fix: 'To ask for a refund under the fare rules: farelock refund request <intent-id>.',
      detail: { escrow: escrow.address, state: escrow.state },
    });
  }
};

type Found = EscrowOnChain | LateMoney;

/** Finds the money of an intent on chain; null if there is none, or no cluster, or the id is not an intent's. */
async function claimable(
  { session }: CommandContext,
  { id, refundWallet }: OptionsOf<typeof spec.refundClaim>,
): Promise<Found | null> {
  if (!id.startsWith('int_') || !knowsCluster(session)) return null;
  // If the embedded service owes the refund, it pays it now.
  await session.work();
  const { escrowOnChain, lateMoney } = await loadClaim();
  const cluster = await session.cluster();
  const programs = await programsOf(session, id);
  const found = await escrowOnChain(cluster, id, programs);
  if (found) return found;
  const agreement = await agreementOf(session, id, refundWallet ?? null);
  return lateMoney(cluster, {
    intentId: id,
    mint: (agreement.terms?.escrow?.mint as Address | undefined) ?? cluster.usdcMint,
    owners: refundOwners(agreement) as Address[],
    programs,
  });
}

async function claimFromChain(context: CommandContext, intentId: string, found: Found): Promise<0> {
  const { session, terminal, globals } = context;
  const { address, refundOwner: refundWallet } = found.escrow ?? found;
  if (globals.dryRun && refundWallet !== null)
    return printPlan(terminal, [(usdc) => `Send ${usdc(found.held)} from the escrow to ${refundWallet}.`]);
  const { claimEscrow, claimLateMoney } = await loadClaim();
  const [cluster, wallet] = await Promise.all([session.cluster(), session.wallet()]);
  terminal.phase('Claiming the escrow');
  const claim =
    found.escrow === null
      ? await claimLateMoney(cluster, wallet, intentId, found)
      : await claimEscrow(cluster, wallet, intentId, found);
  const document = {
    intent_id: intentId,
    outcome: claim.outcome,
    escrow: address,
    amount: Number(claim.amount),
    refund_wallet: refundWallet,
    transaction: claim.transaction,
  };
  const linked = linkedOf(context);
  terminal.result(document, {
    lines: (done, { paint }) => [
      done.outcome === 'already_refunded'
        ? `The money went back to ${done.refund_wallet} before.`
        : `${paint.good('✓')} ${paint.usdc(claim.amount)} sent to ${done.refund_wallet}`,
      ...(claim.transaction === null
        ? []
        : [paint.dim(linked(shortened(claim.transaction), claim.transaction, cluster.network))]),
    ],
  });
  return 0;
}
