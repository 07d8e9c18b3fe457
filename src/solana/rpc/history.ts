import type { Address, Signature } from '@solana/kit';
import { historyAnswer } from './answers.ts';
import type { RpcCaller } from './caller.ts';

const PAGE = 1000;
const MOST_PAGES = 50;

/**
 * Proves that an account's history reaches back to before `sinceS` and does not name the signature. One that ends
 * sooner (a node that keeps little, or has just lost what it kept) proves nothing: false. So does one that is too long.
 * @throws Problem `cluster_failed`
 */
export async function isAbsent(
  caller: RpcCaller,
  signature: Signature,
  { account, sinceS }: { readonly account: Address; readonly sinceS: number },
): Promise<boolean> {
  let before: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const options = {
      commitment: 'confirmed',
      limit: PAGE,
      // A node that is behind the others cannot know the newest: it refuses, and is asked again.
      minContextSlot: caller.confirmedSlot(),
      ...(before === undefined ? {} : { before }),
    };
    const entries = await caller.read('getSignaturesForAddress', [account, options], historyAnswer);
    if (entries.some((entry) => entry.signature === signature)) return false;
    const last = entries.at(-1);
    if (!last) return false;
    if (entries.some(({ blockTime }) => typeof blockTime === 'number' && blockTime < sinceS)) return true;
    before = last.signature;
  }
  return false;
}
