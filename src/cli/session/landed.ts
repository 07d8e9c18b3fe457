import type { Address } from '@solana/kit';
import type { ClientStore } from '../../client/journal/index.ts';
import { loadPayerVerify } from '../../client/payer/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { associatedTokenAddress, type Cluster, memoStands } from '../../solana/index.ts';
import { asked, type ClusterDoor, connectWallet } from './wallet-connection.ts';

/** Number of newest signatures of a token account that are searched for a memo. */
const MOST_SIGNATURES = 1000;

/** Opens a search for memos in the history of a token account, which is read once. */
export function memoFinder(session: ClusterDoor): (tokenAccount: string, memo: string) => Promise<string | null> {
  const histories = new Map<string, Promise<readonly { signature: string; memo: string | null }[]>>();
  const read = async (tokenAccount: string) => {
    const { connection, key } = await connectWallet(session);
    return asked(connection.getSignaturesForAddress(key(tokenAccount), { limit: MOST_SIGNATURES }));
  };
  return async (tokenAccount, memo) => {
    const history = histories.get(tokenAccount) ?? read(tokenAccount);
    histories.set(tokenAccount, history);
    return (await history).find((one) => memoStands(one.memo, memo))?.signature ?? null;
  };
}

/** The machine's clock and the cluster's may differ a little. */
const SLACK_S = 60;

/**
 * True if the chain shows that a payment moved nothing and never will: its last valid block is finalized, and the
 * history of the paying account, back to before the signing, has no successful transaction with its memo.
 * @throws Problem `cluster_failed`, `network_unreachable`
 */
export async function hasNeverLanded(
  session: ClusterDoor & { readonly clock: Clock; cluster(): Promise<Cluster>; store(): Promise<ClientStore> },
  paymentId: string,
): Promise<boolean> {
  const signed = await (await session.store()).signedPayment(paymentId);
  if (!signed) throw problem('cluster_failed', { message: `There is no payment ${paymentId}.` });
  const cluster = await session.cluster();
  if (signed.record.network !== cluster.network) return false;
  const { verifyPayment } = await loadPayerVerify();
  const { verdict, memo, checks } = await verifyPayment({ cluster, findByMemo: memoFinder(session) }, signed);
  const failed = checks.filter(({ ok }) => !ok).map(({ check }) => check);
  const movedNothing = verdict === 'not_landed' || (failed.length === 1 && failed[0] === 'succeeded');
  if (!movedNothing || memo === null) return false;
  const { lastValidBlockHeight, createdAtMs, signedAtSlot: sinceSlot } = signed.payment;
  if ((await cluster.finalizedBlockHeight()) <= lastValidBlockHeight) return false;
  const { wallet, asset } = signed.record;
  const account = await associatedTokenAddress(wallet as Address, asset as Address);
  const ageS = (session.clock.now() - createdAtMs) / 1000;
  const sinceS = Math.floor((await cluster.unixTime()) - ageS) - SLACK_S;
  return cluster.isAbsent({ memo }, { account, sinceS, sinceSlot });
}
