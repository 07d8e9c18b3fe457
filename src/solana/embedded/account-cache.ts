import type { Address } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import type { Changes } from './changes.ts';

export type StoredAccount = ChainAccount & { readonly slot: number };

/** Every transaction names the same few accounts, of which the programs are large. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ACCOUNTS = 5_000;

/** Accounts as they were read or written last, for as long as nobody else changes the file. */
export function createAccountCache(
  changes: Pick<Changes, 'seen'>,
  read: (address: Address) => StoredAccount | null,
) {
  const known = new Map<Address, StoredAccount | null>();
  let bytes = 0;
  let seen = -1;
  let misses = 0;
  const clear = () => {
    known.clear();
    bytes = 0;
  };
  const put = (address: Address, account: StoredAccount | null) => {
    const size = account?.data.length ?? 0;
    if (bytes + size > MOST_BYTES || known.size >= MOST_ACCOUNTS) clear();
    bytes += size;
    known.set(address, account);
  };
  return {
    get(address: Address): StoredAccount | null {
      const now = changes.seen();
      if (now !== seen) clear();
      seen = now;
      const account = known.get(address);
      if (account !== undefined) return account;
      misses += 1;
      const found = read(address);
      put(address, found);
      return found;
    },
    /** How often an account had to be read. */
    misses: () => misses,
    /** After a write of our own. */
    put,
  };
}
