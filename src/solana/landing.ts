import type { Address, Signature } from '@solana/kit';
import type { Clock } from '../kernel/clock.ts';
import type { Cluster, Trace } from './cluster.ts';
import { feePayerOf, signatureOf } from './transaction.ts';

export interface SignedBytes {
  readonly wire: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  /** Our clock at the signing, or a little before. */
  readonly signedAtMs: number;
}

/**
 * `open`: not seen, but its blockhash may still live, so the same bytes may be sent again. `dead`: never landed and
 * never will. `unknown`: expired, without proof of either. `final`: its block can't be rolled back.
 */
export type Landing =
  | { readonly kind: 'landed'; readonly final: boolean }
  | { readonly kind: 'failed'; readonly final: boolean; readonly err: unknown }
  | { readonly kind: 'open' | 'dead' | 'unknown' };

/** Finalized blocks past the last valid one, with room for nodes that lag. */
const MARGIN_BLOCKS = 32n;
/** A transaction's life in blocks, which take at least 0.4 s each. */
const LIFE_BLOCKS = 150n;
const BLOCK_S = 0.4;
/** Block times and the cluster's clock are whole seconds and differ a little. */
const SLACK_S = 5;

/**
 * Finds a signed transaction's fate, changing nothing (DESIGN, section 3). A wrong "never landed" loses money, so one
 * node's word is not enough: the expiry must be finalized, and the transaction itself unknown. Unless `exclusive` (the
 * chain admits only one), as many blocks as a restored node may lack must have passed, too, and the fee payer's history
 * must reach back before the signing without it, at two addresses if there are two. No answer may be of an older slot
 * than the one before it. Contradictions leave the fate `unknown`. @throws Problem `cluster_failed`
 */
export async function landingOf(
  ports: LandingPorts,
  { wire, ...lived }: SignedBytes,
  { exclusive }: { readonly exclusive: boolean },
): Promise<Landing> {
  const { cluster } = ports;
  const signature = signatureOf(wire);
  return fateOf(ports, {
    ...lived,
    seen: async () => {
      const status = await cluster.signatureStatus(signature);
      return status && ended(status.err, status.confirmation === 'finalized');
    },
    // Nodes forget statuses sooner than transactions. The block lies below a finalized one, so it is final too.
    found: async () => {
      const found = await cluster.transaction(signature);
      return found && ended(found.err, true);
    },
    absence: exclusive ? null : { trace: { signature }, account: feePayerOf(wire) },
  });
}

interface LandingPorts {
  readonly cluster: Cluster;
  readonly clock: Clock;
}

interface Lived extends Omit<SignedBytes, 'wire'> {
  readonly seen: () => Promise<Landing | null>;
  readonly found: () => Promise<Landing | null>;
  /** The history to search; null if a second transaction can do no harm. */
  readonly absence: { readonly trace: Trace; readonly account: Address } | null;
}

async function fateOf(
  { cluster, clock }: LandingPorts,
  { lastValidBlockHeight, signedAtMs, seen, found, absence }: Lived,
): Promise<Landing> {
  const known = await seen();
  if (known) return known;
  const height = await cluster.finalizedBlockHeight();
  const past = height - lastValidBlockHeight;
  if (past <= MARGIN_BLOCKS) return { kind: 'open' };
  const late = await found();
  if (late) return late;
  if (absence) {
    if (past <= cluster.doubtBlocks) return { kind: 'unknown' };
    const nowS = await cluster.unixTime();
    // Counted by our clock and by blocks: a clock set back must not hide earlier transactions.
    const byClockS = nowS - (clock.now() - signedAtMs) / 1000;
    const byBlocksS = nowS - Number(past + LIFE_BLOCKS) * BLOCK_S;
    const sinceS = Math.floor(Math.min(byClockS, byBlocksS)) - SLACK_S;
    if (!(await cluster.isAbsent(absence.trace, { account: absence.account, sinceS }))) {
      return { kind: 'unknown' };
    }
  }
  // Asks again: it may have been found meanwhile, or a node may remember again.
  return (await seen()) ?? { kind: 'dead' };
}

/** A message with a memo that another party completes, so that its signature is unknown. */
export interface SignedMessage extends Omit<SignedBytes, 'wire'> {
  readonly message: Uint8Array;
  readonly memo: string;
  /** An account that the message names. */
  readonly account: Address;
}

/**
 * Finds the fate of a message that another party completes, by its memo and exact bytes, since anybody can write a
 * memo. @returns its signature if it is on chain @throws Problem `cluster_failed`
 */
export async function landingOfMessage(
  ports: LandingPorts,
  { message, memo, account, ...lived }: SignedMessage,
): Promise<{ readonly landing: Landing; readonly signature: Signature | null }> {
  const { cluster } = ports;
  let signature: Signature | null = null;
  const look = async (): Promise<Landing | null> => {
    for (const each of await cluster.signaturesWithMemo(memo, account)) {
      const found = await cluster.transaction(each);
      if (!found || !isOf(found.transaction, message)) continue;
      signature = each;
      const status = await cluster.signatureStatus(each);
      return ended(found.err, status?.confirmation === 'finalized');
    }
    return null;
  };
  const absence = { trace: { memo }, account };
  const landing = await fateOf(ports, { ...lived, seen: look, found: look, absence });
  return { landing, signature };
}

/** True if the transaction of this signature has succeeded and is this message. @throws Problem `cluster_failed` */
export async function hasLandedAs(cluster: Cluster, signature: Signature, message: Uint8Array): Promise<boolean> {
  const found = await cluster.transaction(signature);
  return found !== null && found.err === null && isOf(found.transaction, message);
}

/** Compares the whole message: a payer could make one that only ends the same way. */
const isOf = (wire: Uint8Array, message: Uint8Array): boolean =>
  Buffer.compare(wire.subarray(1 + 64 * (wire[0] ?? 0)), message) === 0;

const ended = (err: unknown, final: boolean): Landing =>
  err === null ? { kind: 'landed', final } : { kind: 'failed', final, err };
