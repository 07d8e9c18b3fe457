import { type Address, createAddressWithSeed, type Instruction, type Signature } from '@solana/kit';
import type { Agreed, ChainPlan } from '../../effects/index.ts';
import { payoutMark, payoutMemo, payoutMemoWithId } from '../../kernel/domain/payout-names.ts';
import { USDC_DECIMALS } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { authoritiesOf } from '../../payments/index.ts';
import { associatedTokenAddress, MEMO_PROGRAM, type Signer, SYSTEM_PROGRAM } from '../../solana/index.ts';
import type { FlightsPorts } from '../base/index.ts';

interface PayOut {
  /** The same subject is never paid twice. The chain shows only its hash. */
  readonly subject: string;
  /** A wallet, not a token account. */
  readonly to: string;
  /** Atomic units, above zero. */
  readonly amount: bigint;
  /** Throws if the caller has lost its lease. Runs before the pay-out is written or sent again. */
  readonly fence?: (() => Promise<void>) | undefined;
  /** Throws if another amount was decided. Runs in the transaction that writes the pay-out. */
  readonly agreed?: Agreed | undefined;
}

/** Size of the account that each pay-out leaves on chain, at an address that only the authority can allocate. */
const MARKER_BYTES = 1;
/** Our clock and the cluster's may differ a little. */
const SLACK_S = 60;

/**
 * Pays USDC from the treasury once per subject, as an effect (DESIGN, section 6); safe to call again after any failure.
 * The authority pays the fee, and opens the wallet's token account if missing. The chain prevents a second pay-out,
 * even if a node forgets the first: the transaction allocates the subject's marker, which only the authority can, once.
 * While an older authority is in use, it allocates its own marker, too, so that transactions signed before and
 * after a switch cannot both land. A marker's rent (0.0009 SOL) stays there; lamports that others send change nothing.
 */
export function createPayouts(ports: PayoutPorts) {
  /** @throws Problem `treasury_insufficient` before signing, `cluster_failed` (unknown), `not_final`, … */
  return async function payOut({ subject, to, amount, fence, agreed }: PayOut): Promise<{ signature: string }> {
    if (amount <= 0n) throw new RangeError('a pay-out of nothing');
    const { signature } = await ports.effects.chain({
      kind: 'payout',
      subject,
      fence,
      agreed,
      already: () => hasLanded(ports, subject),
      trace: () => markedBy(ports, subject),
      plan: () => plan(ports, subject, to as Address, amount),
    });
    if (signature === null) {
      throw problem('cluster_failed', {
        message: 'The pay-out was made, and the cluster does not say by which transaction.',
        detail: { subject },
      });
    }
    return { signature };
  };
}

type PayoutPorts = Pick<
  FlightsPorts,
  'store' | 'cluster' | 'clock' | 'effects' | 'authority' | 'authorities' | 'treasurySigner' | 'mint'
>;
type MarkerPorts = Pick<PayoutPorts, 'cluster' | 'authority' | 'authorities'>;

/** The memos of a pay-out: that of this release, then that of earlier releases. */
const memosOf = (subject: string) => [payoutMemo(subject), payoutMemoWithId(subject)];
const markerOf = (baseAddress: Address, subject: string): Promise<Address> =>
  createAddressWithSeed({ baseAddress, programAddress: SYSTEM_PROGRAM, seed: payoutMark(subject) });

/** Markers of a subject under every authority, past and present. */
const markersOf = async (ports: MarkerPorts, subject: string): Promise<Address[]> =>
  Promise.all((await authoritiesOf(ports).look()).all.map((authority) => markerOf(authority, subject)));

/** True once the chain shows that the subject was paid. */
export async function isMarked(ports: MarkerPorts, subject: string): Promise<boolean> {
  const markers = await ports.cluster.accounts(await markersOf(ports, subject));
  return markers.some((marker) => (marker?.data.length ?? 0) > 0);
}

/** Finds the transaction that made the marker, if no known attempt did. @throws Problem `not_final` */
async function markedBy(ports: PayoutPorts, subject: string): Promise<string | null> {
  const { cluster } = ports;
  for (const marker of await markersOf(ports, subject)) {
    for (const memo of memosOf(subject)) {
      for (const signature of await cluster.signaturesWithMemo(memo, marker)) {
        const status = await cluster.signatureStatus(signature);
        if (status?.err !== null) continue;
        if (status.confirmation !== 'finalized') throw problem('not_final');
        return signature;
      }
    }
  }
  return null;
}

/** Allocates the marker, then pays its rent. The chain refuses it if the marker is allocated already. */
async function mark(
  { authority: payer, cluster }: PayoutPorts,
  authority: Signer,
  subject: string,
): Promise<Instruction[]> {
  const { getAllocateWithSeedInstruction, getTransferSolInstruction } = await import('@solana-program/system');
  const marker = await markerOf(authority.address, subject);
  return [
    getAllocateWithSeedInstruction({
      newAccount: marker,
      baseAccount: authority,
      base: authority.address,
      seed: payoutMark(subject),
      space: MARKER_BYTES,
      programAddress: SYSTEM_PROGRAM,
    }),
    getTransferSolInstruction({ source: payer, destination: marker, amount: await cluster.minimumRent(MARKER_BYTES) }),
  ];
}

/**
 * True if the marker exists or an earlier attempt landed. Otherwise the treasury's history must show that no earlier
 * attempt landed. @throws Problem `cluster_failed` while that is uncertain
 */
async function hasLanded(ports: PayoutPorts, subject: string): Promise<boolean> {
  if (await isMarked(ports, subject)) return true;
  const past = await ports.store
    .selectFrom('effects')
    .select(['signature', 'created_at_ms'])
    .where('subject', '=', subject)
    .where('kind', '=', 'payout')
    .where('signature', 'is not', null)
    .execute();
  for (const { signature } of past) {
    const status = await ports.cluster.signatureStatus(signature as Signature);
    if (status?.err === null) return true;
  }
  const firstMs = Math.min(...past.map((one) => one.created_at_ms));
  if (past.length === 0 || (await isUnpaid(ports, subject, firstMs))) return false;
  throw problem('cluster_failed', {
    message: 'The cluster does not say for certain that an earlier pay-out never landed.',
    detail: { subject },
  });
}

async function isUnpaid(ports: PayoutPorts, subject: string, sinceMs: number): Promise<boolean> {
  const { cluster, clock, treasurySigner, mint } = ports;
  const account = await associatedTokenAddress(treasurySigner.address, mint);
  const ageS = (clock.now() - sinceMs) / 1000;
  const sinceS = Math.floor((await cluster.unixTime()) - ageS) - SLACK_S;
  for (const memo of memosOf(subject)) {
    if (!(await cluster.isAbsent({ memo }, { account, sinceS }))) return false;
  }
  return true;
}

async function plan(ports: PayoutPorts, subject: string, to: Address, amount: bigint): Promise<ChainPlan> {
  const { cluster, authority, treasurySigner: treasury, mint } = ports;
  const keys = authoritiesOf(ports);
  // Each authority's marker excludes transactions that were signed before or after a switch.
  const authorities = (await keys.look()).signing.map(keys.signer);
  const source = await associatedTokenAddress(treasury.address, mint);
  const destination = await associatedTokenAddress(to, mint);
  if (((await cluster.tokenBalance(source)) ?? 0n) < amount) throw problem('treasury_insufficient');
  const token = await import('@solana-program/token');
  const transfer = { source, mint, destination, authority: treasury, amount, decimals: USDC_DECIMALS };
  const instructions: Instruction[] = [
    ...(await Promise.all(authorities.map((one) => mark(ports, one, subject)))).flat(),
    // Fails if the account was given to another owner.
    token.getCreateAssociatedTokenIdempotentInstruction({ payer: authority, ata: destination, owner: to, mint }),
    token.getTransferCheckedInstruction(transfer),
    // Names the journey in the wallet's history.
    { programAddress: MEMO_PROGRAM, data: Buffer.from(payoutMemo(subject)) },
  ];
  const others = authorities.filter(({ address }) => address !== authority.address);
  return { feePayer: authority, signers: [treasury, ...others], instructions };
}
