import { type Address, type Instruction, isAddress, type Signature } from '@solana/kit';
import { isProblem, problem } from '../kernel/problems.ts';
import { type Cluster, genesisHashOf, LAMPORTS_PER_SIGNATURE, loadPriced, type Signer } from '../solana/index.ts';
import { type EscrowAccount, type ObservedEscrow, observeEscrow, readEscrow } from './account.ts';
import { commitsTo, escrowPlace, intentHashOf } from './address.ts';
import { authorizationPlace, termsOnChain } from './authorization.ts';
import { openedIn, recoverInstructions, refundInstructions, sweepInstructions } from './program.ts';

export type EscrowOnChain = NonNullable<Awaited<ReturnType<typeof escrowOnChain>>>;

/** Money at the address of an escrow that does not exist: it was closed before the money came, or never opened. */
export type LateMoney = NonNullable<Awaited<ReturnType<typeof lateMoney>>>;

/** `amount` is in atomic units; `transaction` is null where another claim was first. */
interface Claim {
  readonly outcome: 'refunded' | 'swept' | 'recovered' | 'already_refunded';
  readonly amount: bigint;
  readonly transaction: Signature | null;
}

const TOKEN_ACCOUNT_BYTES = 165;

type Chain = Pick<Cluster, 'accounts' | 'history' | 'transaction' | 'network' | 'genesis'>;

/**
 * Finds the escrow of an intent at the programs: the opened one, or the authorization that was paid in its place.
 * Returns null if it was never opened, or is closed. @throws Problem `cluster_failed`
 */
export async function escrowOnChain(cluster: Chain, intentId: string, programs: readonly Address[]) {
  const hash = intentHashOf(intentId);
  for (const programId of programs) {
    const { address } = await escrowPlace(hash, programId);
    const opened = await observedAt(cluster, await readEscrow(cluster, address, [programId]));
    if (opened && (opened.held > 0n || opened.escrow.state === 'captured')) return opened;
    const paid = await authorizationOf(cluster, { hash, programId, address, opened: opened?.escrow });
    const found = (await observedAt(cluster, paid)) ?? opened;
    if (found) return found;
  }
  return null;
}

async function observedAt(cluster: Chain, found: EscrowAccount | null) {
  if (!found) return null;
  const { programId, address, mint, refundOwner } = found;
  const observed = await observeEscrow(cluster, { programId, escrow: address, mint, refundOwner });
  return observed.escrow && { ...observed, escrow: observed.escrow };
}

interface OpenedAt {
  readonly hash: Uint8Array;
  readonly programId: Address;
  readonly address: Address;
  readonly opened: EscrowAccount | undefined;
}

/** Finds an intent's authorization, by the terms of the opened escrow or of the transaction that opened it. */
async function authorizationOf(cluster: Chain, { hash, programId, address, opened }: OpenedAt) {
  const terms = opened ?? (await openingOf(cluster, address, programId));
  if (!terms) return null;
  const { authority, refundAfter } = terms;
  const shown = { ...terms, refundDeadline: refundAfter, receiverAuthorizer: authority };
  const { escrow } = await authorizationPlace(termsOnChain(shown, hash, genesisHashOf(cluster)), programId);
  return readEscrow(cluster, escrow, [programId]);
}

/** Reads the opening of a closed escrow from its history; null where no node remembers it. */
async function openingOf(cluster: Chain, escrow: Address, programId: Address) {
  for (let before: Signature | undefined; ; ) {
    const page = await cluster.history(escrow, before === undefined ? {} : { before });
    for (const { signature } of page.filter((one) => one.err === null)) {
      const found = await cluster.transaction(signature);
      const terms = found && openedIn(found.transaction, escrow, programId);
      if (terms) return terms;
    }
    before = page.at(-1)?.signature;
    if (before === undefined) return null;
  }
}

/** Finds money where a closed escrow was, and the owner that the intent id proves (docs/escrow.md, Recover). */
export async function lateMoney(
  cluster: Pick<Cluster, 'accounts'>,
  of: { readonly intentId: string; readonly mint: Address } & Record<'owners' | 'programs', readonly Address[]>,
) {
  const { intentId, mint, owners, programs } = of;
  const refundOwner = owners.find((owner) => isAddress(owner) && commitsTo(intentId, owner)) ?? null;
  for (const programId of programs) {
    const { address } = await escrowPlace(intentHashOf(intentId), programId);
    const at = { programId, escrow: address, mint, refundOwner: refundOwner ?? address };
    const observed = await observeEscrow(cluster, at);
    if (observed.escrow) return null;
    if (observed.held > 0n) return { ...observed, escrow: null, programId, address, mint, refundOwner };
  }
  return null;
}

/** Sends late money to its owner without the operator; `signer` pays the fee, and the rent of a missing account. */
export async function claimLateMoney(
  cluster: Cluster,
  signer: Signer,
  intentId: string,
  found: LateMoney,
): Promise<Claim> {
  const { programId, address: escrow, mint, refundOwner, held } = found;
  if (refundOwner === null) {
    throw problem('nothing_to_claim', {
      message: 'The escrow was closed, and the id of the intent does not name any of the wallets that are known here.',
      fix: 'Name the wallet that its refunds go to: --refund-wallet <address>.',
      detail: { escrow, held: Number(held) },
    });
  }
  await checkFee(cluster, signer, found);
  const parties = { programId, payer: signer.address, escrow, mint, refundOwner, observed: found };
  const instructions = await recoverInstructions({ ...parties, intentId });
  const transaction = await send(cluster, signer, instructions, async () => {
    const now = await observeEscrow(cluster, { programId, escrow, mint, refundOwner });
    return now.held === 0n;
  });
  return { outcome: 'recovered', amount: held, transaction };
}

/**
 * Sends an escrow's money to its refund owner, for anybody: all of it after `refund_after`, late money at any time.
 * `signer` pays the fee, and the rent of a missing token account. The chain lets it happen once, so a failed
 * claim can be repeated.
 * @throws Problem `refund_not_due`, `nothing_to_claim`, `insufficient_funds` (SOL), all before anything is sent
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
  const parties = { ...escrow, payer: signer.address, escrow: escrow.address, observed: found };
  const instructions =
    outcome === 'refunded'
      ? await refundInstructions({ ...parties, byAuthority: false })
      : await sweepInstructions(parties);
  const transaction = await send(cluster, signer, instructions, async () => {
    const now = await escrowOnChain(cluster, intentId, [escrow.programId]);
    return now === null || (now.escrow.state !== 'open' && now.held === 0n);
  });
  return { outcome, amount: held, transaction };
}

async function checkClaim(cluster: Cluster, { escrow, held }: EscrowOnChain): Promise<void> {
  if (held === 0n) {
    throw problem('nothing_to_claim', { detail: { escrow: escrow.address, state: escrow.state } });
  }
  if (escrow.state !== 'open') return;
  // The program goes by the cluster's clock.
  const now = BigInt(await cluster.unixTime());
  if (now >= escrow.refundAfter) return;
  const refundAfter = instantOf(escrow.refundAfter);
  throw problem('refund_not_due', {
    message: `Until ${refundAfter} only the operator can refund this escrow; from then on anyone can.`,
    detail: { escrow: escrow.address, refund_after: refundAfter, held: Number(held) },
  });
}

async function checkFee(cluster: Cluster, signer: Signer, found: ObservedEscrow): Promise<void> {
  const rent = found.refundAccount === 'missing' ? await cluster.minimumRent(TOKEN_ACCOUNT_BYTES) : 0n;
  const needed = LAMPORTS_PER_SIGNATURE + rent;
  const [wallet] = await cluster.accounts([signer.address]);
  const lamports = wallet?.lamports ?? 0n;
  if (lamports >= needed) return;
  throw problem('insufficient_funds', {
    message: `The wallet ${signer.address} needs ${Number(needed) / 1e9} SOL for the network and holds ${Number(lamports) / 1e9}.`,
    fix: 'Send it SOL, or claim with another wallet (--keypair): the money goes to the refund wallet in any case.',
    detail: { wallet: signer.address, needed_lamports: Number(needed), held_lamports: Number(lamports) },
  });
}

/** Returns the signature of our transaction; null if it was refused or lost, but the escrow is empty anyway. */
async function send(
  cluster: Cluster,
  signer: Signer,
  instructions: readonly Instruction[],
  isDone: () => Promise<boolean>,
): Promise<Signature | null> {
  const { signPriced } = await loadPriced();
  const signed = await signPriced(cluster, { feePayer: signer, instructions });
  try {
    return await cluster.send(signed.wire);
  } catch (error) {
    if (!isProblem(error, 'cluster_failed', 'transaction_failed') || !(await isDone())) throw error;
    const status = await cluster.signatureStatus(signed.signature);
    return status?.err === null ? signed.signature : null;
  }
}

const instantOf = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString();
