import type { Clock } from '../kernel/clock.ts';
import type { Cluster } from './cluster.ts';
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
  { cluster, clock }: { readonly cluster: Cluster; readonly clock: Clock },
  { wire, lastValidBlockHeight, signedAtMs }: SignedBytes,
  { exclusive }: { readonly exclusive: boolean },
): Promise<Landing> {
  const signature = signatureOf(wire);
  const seen = async (): Promise<Landing | null> => {
    const status = await cluster.signatureStatus(signature);
    return status && ended(status.err, status.confirmation === 'finalized');
  };
  const known = await seen();
  if (known) return known;
  const height = await cluster.finalizedBlockHeight();
  const past = height - lastValidBlockHeight;
  if (past <= MARGIN_BLOCKS) return { kind: 'open' };
  // Nodes forget statuses sooner than transactions. Its block is below a finalized one, and final itself.
  const found = await cluster.transaction(signature);
  if (found) return ended(found.err, true);
  if (!exclusive) {
    if (past <= cluster.doubtBlocks) return { kind: 'unknown' };
    const nowS = await cluster.unixTime();
    // Counted in our clock and in blocks: a clock that was set back between must not hide what came before.
    const byClockS = nowS - (clock.now() - signedAtMs) / 1000;
    const byBlocksS = nowS - Number(past + LIFE_BLOCKS) * BLOCK_S;
    const sinceS = Math.floor(Math.min(byClockS, byBlocksS)) - SLACK_S;
    if (!(await cluster.isAbsent({ signature }, { account: feePayerOf(wire), sinceS }))) {
      return { kind: 'unknown' };
    }
  }
  // Asked again at the end: it may have been found meanwhile, or a node may remember again.
  return (await seen()) ?? { kind: 'dead' };
}

const ended = (err: unknown, final: boolean): Landing =>
  err === null ? { kind: 'landed', final } : { kind: 'failed', final, err };
