import type { Address, Signature } from '@solana/kit';
import type { HistorySince, Trace } from '../cluster.ts';
import { memoStands } from '../memo.ts';
import { historyAnswer, statusesAnswer } from './answers.ts';
import type { RpcCaller } from './caller.ts';

const PAGE = 1000;
const MOST_PAGES = 50;
/** Where so many addresses are named, no single one's word is enough. */
const WITNESSES = 2;

/**
 * Proves that an account's history reaches back far enough and does not name the transaction: by two addresses
 * where two are named. A history that ends sooner (a node that keeps little, or has just lost what it kept) proves
 * nothing: false. So does one that is too long, and an address that can't be asked.
 * @throws Problem `cluster_failed` when none can be asked
 */
export async function isAbsent(caller: RpcCaller, trace: Trace, from: HistorySince): Promise<boolean> {
  const alone = caller.alone();
  const needed = Math.min(WITNESSES, alone.length);
  const words = await Promise.allSettled(alone.map((one) => isAbsentBy(one, trace, from)));
  const heard = words.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [silence] = words.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  if (heard.length === 0) throw silence;
  return heard.length >= needed && heard.every(Boolean);
}

async function isAbsentBy(
  caller: RpcCaller,
  trace: Trace,
  { account, sinceS, sinceSlot = null }: HistorySince,
): Promise<boolean> {
  if ('signature' in trace) {
    const params = [[trace.signature], { searchTransactionHistory: true }];
    const [status] = await caller.read('getSignatureStatuses', params, statusesAnswer);
    if (status) return false;
  }
  let before: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    // A node that is behind the others cannot know the newest: it refuses, and is asked again.
    const options = { commitment: 'confirmed', limit: PAGE, ...(before === undefined ? {} : { before }) };
    const entries = await caller.read('getSignaturesForAddress', [account, options], historyAnswer);
    const isNamed = entries.some((entry) =>
      'signature' in trace
        ? entry.signature === trace.signature
        : (entry.err ?? null) === null && memoStands(entry.memo, trace.memo),
    );
    if (isNamed) return false;
    const last = entries.at(-1);
    if (!last) return false;
    const reachesBack = entries.some(
      ({ blockTime, slot }) =>
        (typeof blockTime === 'number' && blockTime < sinceS) || (sinceSlot !== null && slot < sinceSlot),
    );
    if (reachesBack) return true;
    before = last.signature;
  }
  return false;
}

/** Transactions that bear a memo, among the newest thousand that name an account. */
export async function signaturesWithMemo(
  caller: RpcCaller,
  memo: string,
  account: Address,
): Promise<Signature[]> {
  const options = { commitment: 'confirmed', limit: PAGE };
  const entries = await caller.read('getSignaturesForAddress', [account, options], historyAnswer);
  return entries
    .filter((entry) => memoStands(entry.memo, memo))
    .map(({ signature }) => signature as Signature);
}
