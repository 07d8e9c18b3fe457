import {
  AccountRole,
  type Address,
  createAddressWithSeed,
  getAddressEncoder,
  type Instruction,
  type Signature,
} from '@solana/kit';
import type { Agreed, ChainPlan } from '../../effects/index.ts';
import { payoutMark, payoutMemo, payoutMemoWithId } from '../../kernel/domain/payout-memo.ts';
import { USDC_DECIMALS } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, MEMO_PROGRAM, TOKEN_PROGRAM } from '../../solana/index.ts';
import type { FlightsPorts } from '../base/index.ts';

interface PayOut {
  /** What it is for; the same subject is never paid twice. The chain shows its hash alone. */
  readonly subject: string;
  /** A wallet, not a token account. */
  readonly to: string;
  /** Atomic units, above zero. */
  readonly amount: bigint;
  /** Throws when whoever asks may no longer act; runs right before signing and before sending. */
  readonly fence?: (() => Promise<void>) | undefined;
  /** Throws when another amount was decided; runs in the transaction that writes the pay-out down. */
  readonly agreed?: Agreed | undefined;
}

/** What a pay-out leaves on chain for ever: an account of one byte, where only the authority can make one. */
const MARKER_BYTES = 1;
/** Our clock and the cluster's may differ a little. */
const SLACK_S = 60;
const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
const ALLOCATE_WITH_SEED = 9;
const TRANSFER_SOL = 2;

/**
 * Pays USDC from the treasury to a wallet, once for each subject, as an effect (DESIGN, section 6). The authority
 * pays the network fee, and opens the wallet's token account where there is none. Call it again after any failure: it
 * goes on where it stopped, also with the same subject from another process.
 *
 * That it happens once is the chain's own doing, whatever a node says or forgets: the transaction also allocates the
 * subject's marker, which no second transaction can. Its rent, 0.0009 SOL, stays there. The marker's address is one
 * that anybody can send lamports to, and that changes nothing: only the authority can allocate bytes there.
 */
export function createPayouts(ports: PayoutPorts) {
  /**
   * @returns the signature of the transfer that landed.
   * @throws Problem `treasury_insufficient` before anything is signed, `cluster_failed` (not known yet), `not_final`,
   *   `transaction_failed` (refused; may be tried again), and what `fence` throws.
   */
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
  'store' | 'cluster' | 'clock' | 'effects' | 'authority' | 'treasurySigner' | 'mint'
>;

/** A pay-out of this release bears the first, one of an earlier release the second. */
const memosOf = (subject: string) => [payoutMemo(subject), payoutMemoWithId(subject)];
const markerOf = ({ authority }: Pick<PayoutPorts, 'authority'>, subject: string): Promise<Address> =>
  createAddressWithSeed({ baseAddress: authority.address, programAddress: SYSTEM_PROGRAM, seed: payoutMark(subject) });

/** Which subjects were paid, by their markers. */
export async function isMarked(
  ports: Pick<PayoutPorts, 'cluster' | 'authority'>,
  subjects: readonly string[],
): Promise<boolean[]> {
  const markers = await Promise.all(subjects.map((subject) => markerOf(ports, subject)));
  return (await ports.cluster.accounts(markers)).map((marker) => (marker?.data.length ?? 0) > 0);
}

/** The transaction that made the marker, where no attempt of ours is known. @throws Problem `not_final` */
async function markedBy(ports: PayoutPorts, subject: string): Promise<string | null> {
  const { cluster } = ports;
  const marker = await markerOf(ports, subject);
  for (const memo of memosOf(subject)) {
    for (const signature of await cluster.signaturesWithMemo(memo, marker)) {
      const status = await cluster.signatureStatus(signature);
      if (status?.err !== null) continue;
      if (status.confirmation !== 'finalized') throw problem('not_final');
      return signature;
    }
  }
  return null;
}

/** Allocates the marker, then pays its rent; refused where the marker has been allocated. */
async function mark(ports: PayoutPorts, subject: string): Promise<Instruction[]> {
  const { authority, cluster } = ports;
  const marker = await markerOf(ports, subject);
  const seed = Buffer.from(payoutMark(subject));
  const address = getAddressEncoder();
  const allocate = Buffer.alloc(44 + seed.length + 40);
  allocate.writeUInt32LE(ALLOCATE_WITH_SEED, 0);
  allocate.set(address.encode(authority.address), 4);
  allocate.writeBigUInt64LE(BigInt(seed.length), 36);
  allocate.set(seed, 44);
  allocate.writeBigUInt64LE(BigInt(MARKER_BYTES), 44 + seed.length);
  allocate.set(address.encode(SYSTEM_PROGRAM), 52 + seed.length);
  const rent = Buffer.alloc(12);
  rent.writeUInt32LE(TRANSFER_SOL, 0);
  rent.writeBigUInt64LE(await cluster.minimumRent(MARKER_BYTES), 4);
  return [
    {
      programAddress: SYSTEM_PROGRAM,
      accounts: [
        { address: marker, role: AccountRole.WRITABLE },
        { address: authority.address, role: AccountRole.READONLY_SIGNER },
      ],
      data: allocate,
    },
    {
      programAddress: SYSTEM_PROGRAM,
      accounts: [
        { address: authority.address, role: AccountRole.WRITABLE_SIGNER },
        { address: marker, role: AccountRole.WRITABLE },
      ],
      data: rent,
    },
  ];
}

/**
 * The marker says so; of pay-outs that were signed before there were markers, their signatures. A second one is signed
 * only when the history of the account that pays shows none with this memo.
 * @throws Problem `cluster_failed` while that is not certain
 */
async function hasLanded(ports: PayoutPorts, subject: string): Promise<boolean> {
  if ((await isMarked(ports, [subject]))[0]) return true;
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
  const source = await associatedTokenAddress(treasury.address, mint);
  const destination = await associatedTokenAddress(to, mint);
  if (((await cluster.tokenBalance(source)) ?? 0n) < amount) throw problem('treasury_insufficient');
  const transfer = Buffer.alloc(10);
  transfer.writeUInt8(12);
  transfer.writeBigUInt64LE(amount, 1);
  transfer.writeUInt8(USDC_DECIMALS, 9);
  const instructions: Instruction[] = [
    ...(await mark(ports, subject)),
    openTokenAccount(ports, to, destination),
    {
      programAddress: TOKEN_PROGRAM,
      accounts: [
        { address: source, role: AccountRole.WRITABLE },
        { address: mint, role: AccountRole.READONLY },
        { address: destination, role: AccountRole.WRITABLE },
        { address: treasury.address, role: AccountRole.READONLY_SIGNER },
      ],
      data: transfer,
    },
    // The wallet's history names the journey by it.
    { programAddress: MEMO_PROGRAM, data: Buffer.from(payoutMemo(subject)) },
  ];
  return { feePayer: authority, signers: [treasury], instructions };
}

/** Idempotent; refused by the token program when the account was given to another owner. */
const openTokenAccount = ({ authority, mint }: PayoutPorts, owner: Address, account: Address): Instruction => ({
  programAddress: ASSOCIATED_TOKEN_PROGRAM,
  accounts: [
    { address: authority.address, role: AccountRole.WRITABLE_SIGNER },
    { address: account, role: AccountRole.WRITABLE },
    { address: owner, role: AccountRole.READONLY },
    { address: mint, role: AccountRole.READONLY },
    { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
    { address: TOKEN_PROGRAM, role: AccountRole.READONLY },
  ],
  data: Uint8Array.of(1),
});
