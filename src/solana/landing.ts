import type { Address, Signature } from '@solana/kit';
import type { Clock } from '../kernel/clock.ts';
import type { Cluster, Trace } from './cluster.ts';
import { feePayerOf, signatureOf } from './transaction.ts';

export interface SignedBytes {
  readonly wire: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  /** When they were signed or a little earlier, by our clock. */
  readonly signedAtMs: number;
}

/**
 * The fate of signed bytes.
 * - `landed`, `failed`: in a block; `final` once nobody can take that block back.
 * - `open`: not seen, and their blockhash may still live. The same bytes may be sent again.
 * - `dead`: never landed, and never will.
 * - `unknown`: past their time, and the cluster says nothing that can be relied on.
 */
export type Landing =
  | { readonly kind: 'landed'; readonly final: boolean }
  | { readonly kind: 'failed'; readonly final: boolean; readonly err: unknown }
  | { readonly kind: 'open' | 'dead' | 'unknown' };

/** Blocks past the last valid one before its expiry counts: finalized, with room for nodes that lag. */
const MARGIN_BLOCKS = 32n;
/** A transaction lives for so many blocks, and blocks come no faster than every 0.4 s. */
const LIFE_BLOCKS = 150n;
const BLOCK_S = 0.4;
/** Block times and the cluster's clock are in whole seconds, and may differ a little. */
const SLACK_S = 5;

/**
 * The one question about every transaction that was signed here: what became of it? (DESIGN, section 3.) It asks,
 * and changes nothing. "Never landed" is the answer that money is lost by when it is wrong, so a node's word that it
 * does not know the signature is not enough. The expiry must be finalized, and the transaction itself unknown too.
 * Unless a second one could do no harm (`exclusive`), more blocks must have passed than an outage of a node's
 * memory lasts, and the history of the fee payer, which every transaction is part of, must reach back to before the
 * signing without naming it, by the word of two addresses where two are named. Every answer must be of a slot that no
 * earlier answer was past: the one that the expiry was read of, too. Sources that contradict each other leave it
 * `unknown`.
 *
 * @param options.exclusive the chain itself admits only one such transaction, so that a second one can do no harm
 * @throws Problem `cluster_failed`: the cluster can't be asked now
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
    // Nodes forget statuses sooner than transactions. Its block is below a finalized one, and final itself.
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
  /** Where its history must not have it; null where a second one could do no harm. */
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
    // Counted in our clock and in blocks: a clock that was set back between must not hide what came before.
    const byClockS = nowS - (clock.now() - signedAtMs) / 1000;
    const byBlocksS = nowS - Number(past + LIFE_BLOCKS) * BLOCK_S;
    const sinceS = Math.floor(Math.min(byClockS, byBlocksS)) - SLACK_S;
    if (!(await cluster.isAbsent(absence.trace, { account: absence.account, sinceS }))) {
      return { kind: 'unknown' };
    }
  }
  // Asked again at the end: it may have been found meanwhile, or a node may remember again.
  return (await seen()) ?? { kind: 'dead' };
}

/** A message with a memo whose signature is not known here: another party completes it. */
export interface SignedMessage extends Omit<SignedBytes, 'wire'> {
  readonly message: Uint8Array;
  readonly memo: string;
  /** An account that the message names: its history has the transaction. */
  readonly account: Address;
}

/**
 * The same question about a message that somebody else completes and sends. It is looked for by its memo, and taken for
 * landed only where the message on chain is this one: anybody can write a memo.
 * @returns its signature where it is on chain
 * @throws Problem `cluster_failed`
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

/** Exactly this message behind the signatures: whoever pays could make one that only ends like it. */
const isOf = (wire: Uint8Array, message: Uint8Array): boolean =>
  Buffer.compare(wire.subarray(1 + 64 * (wire[0] ?? 0)), message) === 0;

const ended = (err: unknown, final: boolean): Landing =>
  err === null ? { kind: 'landed', final } : { kind: 'failed', final, err };
