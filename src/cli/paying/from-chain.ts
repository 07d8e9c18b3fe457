import type { Address } from '@solana/kit';
import { intentOf } from '../../client/base/index.ts';
import { loadAddress, loadClaim } from '../../escrow/index.ts';
import { isProblem, type Problem } from '../../kernel/problems.ts';
import type { Usdc } from '../../kernel/usdc.ts';
import { type Screen, utcTime, wrap } from '../../terminal/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { Session } from '../session/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { nextLines } from '../view/index.ts';

/** True if the cluster can be read without the service: a remote profile may name no cluster. */
export const knowsCluster = (session: Session): boolean => session.isEmbedded || session.profile.rpcUrls.length > 0;

/**
 * True if the service is away, fails, or does not know the intent (any more). The chain is then the only source, and
 * enough to get the money back.
 */
const isSilent = (error: unknown): error is Problem =>
  isProblem(error) &&
  error.code !== 'cluster_failed' &&
  (error.kind.exit === 7 || isProblem(error, 'internal_error', 'intent_not_found'));

/** Programs that may hold the escrow: the one noted with the intent, the configured ones, the embedded one. */
export async function programsOf(session: Session, intentId: string): Promise<Address[]> {
  const { ESCROW_PROGRAM_ID } = await loadAddress();
  const created = (await (await session.store()).intent(intentId))?.terms?.escrow?.program;
  const all = [created as Address | undefined, ...session.profile.escrowPrograms, ESCROW_PROGRAM_ID];
  return [...new Set(all.filter((one) => one !== undefined))];
}

/** Reads the escrow of an intent from the cluster; null if there is none. */
async function statusFromChain(session: Session, intentId: string) {
  const { escrowOnChain } = await loadClaim();
  const programs = await programsOf(session, intentId);
  const found = await escrowOnChain(await session.cluster(), intentId, programs);
  if (!found) return null;
  const { escrow, held } = found;
  return {
    intent_id: intentId,
    source: 'chain' as const,
    escrow: {
      state: escrow.state,
      address: escrow.address,
      vault_address: escrow.vault,
      mint: escrow.mint,
      program_id: escrow.programId,
      /** Atomic units: the price, and what the vault holds now. */
      amount: Number(escrow.amount),
      held: Number(held),
      refund_wallet: escrow.refundOwner,
      /** RFC 3339, UTC: from then on anyone can refund. */
      refund_after: instantOf(escrow.refundAfter),
      ended_at: escrow.endedAt === 0n ? null : instantOf(escrow.endedAt),
    },
  };
}

const instantOf = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString();

/** The intent from the service or, if it is silent, its escrow from the chain; else throws the service's error. */
export async function intentOrChain(
  { session, signal, terminal }: CommandContext,
  intentId: string,
): Promise<Intent | ChainStatus> {
  const flights = await session.flights();
  try {
    return await flights.intent(intentId, { signal });
  } catch (error) {
    if (!isSilent(error) || !knowsCluster(session)) throw error;
    const chain = await statusFromChain(session, intentId).catch((failed: unknown) => {
      // If the cluster fails too, the service's own error counts.
      if (isProblem(failed)) return null;
      throw failed;
    });
    if (!chain) throw error;
    terminal.note(`${error.message} This is what the chain says.`);
    return chain;
  }
}

/** Turns the chain's record into an intent, to compare it with what was agreed to here. */
export const recordFromChain = ({ intent_id, escrow }: ChainStatus): Intent =>
  intentOf({
    intent_id,
    status: { open: 'active', captured: 'booked', refunded: 'refunded' }[escrow.state],
    refund_wallet: escrow.refund_wallet,
    escrow,
  });

export const isFromChain = (found: Intent | ChainStatus): found is ChainStatus =>
  'source' in found && found.source === 'chain';

/** Shows the chain's record and, once anyone can refund the escrow, the command that brings the money back. */
export function showFromChain({ terminal, clock }: CommandContext, chain: ChainStatus): 0 {
  terminal.result(chain, { lines: fromChainLines });
  const { state, held, refund_after } = chain.escrow;
  const isDue = state !== 'open' || Date.parse(refund_after) <= clock.now();
  if (held > 0 && isDue) terminal.aside(['', ...nextLines(`farelock refund claim ${chain.intent_id}`)]);
  return 0;
}

/** The escrow of an intent as the cluster alone knows it, in the form that --json prints. */
type ChainStatus = Readonly<NonNullable<Awaited<ReturnType<typeof statusFromChain>>>>;

function fromChainLines({ intent_id, escrow }: ChainStatus, { paint, width }: Screen): string[] {
  return [
    `${paint.bold(intent_id)}  ${paint.accent(`escrow ${escrow.state}`)}`,
    ...said(escrow, paint.usdc).flatMap((line) => wrap(line, width)),
    paint.dim(`escrow ${escrow.address}`),
  ];
}

function said(escrow: ChainStatus['escrow'], usdc: Usdc): string[] {
  const { state, held, amount, refund_wallet: owner, refund_after: refundAfter, ended_at: endedAt } = escrow;
  const at = endedAt === null ? '' : ` on ${utcTime(endedAt)}`;
  const late = held > 0 ? [`${usdc(held)} arrived after that; anyone can send it to ${owner}.`] : [];
  if (state === 'captured') return [`${usdc(amount)} went to the operator${at}: the ticket was issued.`, ...late];
  if (state === 'refunded') return [`The money went back to ${owner}${at}.`, ...late];
  if (held === 0) return [`It holds none of the ${usdc(amount)}: nothing was paid.`];
  return [
    `It holds ${usdc(held)} of ${usdc(amount)}.`,
    `If no ticket is issued, the money goes to ${owner}. From ${utcTime(refundAfter)} anyone can send it there.`,
  ];
}
