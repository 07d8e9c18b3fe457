import type { Address } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import { MEMO_PROGRAM, mintOf, tokenAccountOf } from '../token.ts';
import type { LoadedAddresses, ParsedMessage } from './parse.ts';

export interface InnerInstructions {
  readonly index: number;
  readonly instructions: readonly {
    readonly programIdIndex: number;
    readonly accounts: readonly number[];
    /** Base58. */
    readonly data: string;
    readonly stackHeight: number;
  }[];
}

export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  /** Atomic units, decimal text. */
  readonly amount: string;
  readonly decimals: number;
  /** Absent in older rows: then the token program. */
  readonly programId?: string;
}

/** The effects of a landed transaction, as its row keeps them. Lamports are decimal text. */
export interface StoredMeta {
  readonly fee: string;
  readonly preBalances: readonly string[];
  readonly postBalances: readonly string[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly innerInstructions: readonly InnerInstructions[];
  readonly logs: readonly string[];
  readonly unitsConsumed: number;
  readonly returnData: { readonly programId: string; readonly data: string } | null;
  /** The addresses out of lookup tables, as they were then; absent where it used none. */
  readonly loadedAddresses?: LoadedAddresses;
}

export const lamportsOf = (accounts: readonly (ChainAccount | null)[]): string[] =>
  accounts.map((account) => String(account?.lamports ?? 0n));

/** The token accounts among `accounts`, by their place in the transaction. `mintAt` reads a mint's account. */
export function tokenBalancesOf(
  accounts: readonly (ChainAccount | null)[],
  mintAt: (mint: Address) => ChainAccount | null,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = account && tokenAccountOf(account);
    if (!token) return [];
    const mint = mintAt(token.mint);
    const decimals = (mint && mintOf(mint)?.decimals) ?? 0;
    const { owner, amount } = token;
    const programId = account.owner;
    return [{ accountIndex, mint: token.mint, owner, amount: String(amount), decimals, programId }];
  });
}

/** The memos of a transaction as getSignaturesForAddress lists them; empty without one. */
export const memosOf = ({ accountKeys, instructions }: Pick<ParsedMessage, 'accountKeys' | 'instructions'>): string =>
  instructions
    .filter(({ programIdIndex }) => accountKeys[programIdIndex] === MEMO_PROGRAM)
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`)
    .join('; ');
