import type { EscrowOnChain } from '../../escrow/claim.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { Command, CommandContext } from '../context.ts';
import { linkedOf } from '../explorer.ts';
import { knowsCluster } from '../from-chain.ts';
import { printPlan } from '../plan.ts';
import { shortened } from '../view/payment.ts';
import type { ClaimOptions } from './refund-desk.ts';

/**
 * Two claims, which never meet: an escrow that still holds money is claimed from the chain, by anyone, for its refund
 * owner; and a refund request, which exists only once the escrow was captured, is claimed by an operator who takes it.
 */
export const refundClaim: Command<ClaimOptions> = async (context, options) => {
  const found = options.release ? null : await claimable(context, options.id);
  if (found && (found.escrow.state !== 'captured' || found.held > 0n)) {
    return claimFromChain(context, options.id, found);
  }
  try {
    const { refundClaim: takeCase } = await import('./refund-desk.ts');
    return await takeCase(context, options);
  } catch (error) {
    throw found && isProblem(error, 'no_operator_key', 'network_unreachable', 'refund_request_not_found')
      ? capturedAlready(found)
      : error;
  }
};

/** The escrow of an intent; null when there is none, or no cluster to ask and so only a request can be meant. */
async function claimable({ session }: CommandContext, id: string): Promise<EscrowOnChain | null> {
  if (!id.startsWith('int_') || !knowsCluster(session)) return null;
  // The embedded service may owe the refund itself, and do it now.
  await session.work();
  const { escrowOnChain } = await import('../../escrow/claim.ts');
  return escrowOnChain(await session.cluster(), id);
}

async function claimFromChain(context: CommandContext, intentId: string, found: EscrowOnChain): Promise<0> {
  const { session, terminal, globals } = context;
  const { escrow, held } = found;
  if (globals.dryRun) {
    printPlan(terminal, [`Send ${formatUsdc(held)} USDC from the escrow to ${escrow.refundOwner}.`]);
    return 0;
  }
  const { claimEscrow } = await import('../../escrow/claim.ts');
  const [cluster, wallet] = await Promise.all([session.cluster(), session.wallet()]);
  terminal.phase('Claiming the escrow');
  const claim = await claimEscrow(cluster, wallet, intentId, found);
  const document = {
    intent_id: intentId,
    outcome: claim.outcome,
    escrow: escrow.address,
    amount: Number(claim.amount),
    refund_wallet: escrow.refundOwner,
    transaction: claim.transaction,
  };
  const linked = linkedOf(context);
  terminal.result(document, {
    lines: (done, { paint }) => [
      done.outcome === 'already_refunded'
        ? `The money went back to ${done.refund_wallet} before.`
        : `${paint.good('✓')} ${formatUsdc(claim.amount)} USDC sent to ${done.refund_wallet}`,
      ...(claim.transaction === null
        ? []
        : [paint.dim(linked(shortened(claim.transaction), claim.transaction, cluster.network))]),
    ],
  });
  return 0;
}

const capturedAlready = ({ escrow }: EscrowOnChain): Problem =>
  problem('nothing_to_claim', {
    message: 'The escrow was captured when the ticket was issued: there is nothing in it to claim.',
    fix: 'What comes back now follows the rules of the fare: farelock refund request <intent-id>.',
    detail: { escrow: escrow.address, state: escrow.state },
  });
