import type { Address } from '@solana/kit';
import type { LandedTransaction } from './ledger-transactions.ts';
import { advanceIn } from './nonce.ts';
import { isWritable, NONE_LOADED, type ParsedTransaction, parseTransaction, withLoaded } from './parse.ts';

/** A landed transaction, read again from its bytes, with the addresses that it had loaded from tables. */
export const transactionOf = ({ wire, meta }: Pick<LandedTransaction, 'wire' | 'meta'>): ParsedTransaction =>
  withLoaded(parseTransaction(wire), meta.loadedAddresses ?? NONE_LOADED);

/** The accounts that a landed transaction named, and those among them that it may have changed. */
export function changedBy(landed: LandedTransaction): {
  readonly named: readonly Address[];
  readonly written: readonly Address[];
} {
  const transaction = transactionOf(landed);
  const { accountKeys } = transaction;
  const written = accountKeys.filter((_, index) => isWritable(transaction, index));
  if (landed.err === null) return { named: accountKeys, written };
  // A failure changes what pays for it, and the nonce that it lived by.
  const kept = [accountKeys[0], advanceIn(transaction)];
  return { named: accountKeys, written: written.filter((address) => kept.includes(address)) };
}
