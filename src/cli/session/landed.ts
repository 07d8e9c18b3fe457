import type { ClientStore } from '../../client/journal/store.ts';
import { problem } from '../../kernel/problems.ts';
import type { Cluster } from '../../solana/cluster.ts';
import { asked, type ClusterDoor, connectWallet } from './wallet-connection.ts';

/** How far back the history of a token account is searched for a memo. */
const MOST_SIGNATURES = 1000;

/** Looks a memo up in the history of a token account, which is read once. */
export function memoFinder(
  session: ClusterDoor,
): (tokenAccount: string, memo: string) => Promise<string | null> {
  const histories = new Map<string, Promise<readonly { signature: string; memo: string | null }[]>>();
  const read = async (tokenAccount: string) => {
    const { connection, key } = await connectWallet(session);
    return asked(connection.getSignaturesForAddress(key(tokenAccount), { limit: MOST_SIGNATURES }));
  };
  return async (tokenAccount, memo) => {
    const history = histories.get(tokenAccount) ?? read(tokenAccount);
    histories.set(tokenAccount, history);
    // `[length] memo` stands beside each signature.
    const named = `[${Buffer.byteLength(memo)}] ${memo}`;
    return (await history).find((one) => one.memo?.split('; ').includes(named))?.signature ?? null;
  };
}

/**
 * True when the chain shows that a payment of the journal did not land and never will.
 * @throws Problem `cluster_failed`, `network_unreachable`
 */
export async function hasNeverLanded(
  session: ClusterDoor & { cluster(): Promise<Cluster>; store(): Promise<ClientStore> },
  paymentId: string,
): Promise<boolean> {
  const signed = await (await session.store()).signedPayment(paymentId);
  if (!signed) throw problem('cluster_failed', { message: `There is no payment ${paymentId}.` });
  const cluster = await session.cluster();
  if (signed.record.network !== cluster.network) return false;
  const { verifyPayment } = await import('../../client/payer/verify.ts');
  const { verdict } = await verifyPayment({ cluster, findByMemo: memoFinder(session) }, signed);
  return verdict === 'not_landed';
}
