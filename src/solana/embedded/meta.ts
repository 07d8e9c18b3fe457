import type { Address } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import { decodeMint, decodeTokenAccount, MEMO_PROGRAM, TOKEN_PROGRAM } from '../token.ts';
import type { ParsedMessage } from './parse.ts';

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
}

export const lamportsOf = (accounts: readonly (ChainAccount | null)[]): string[] =>
  accounts.map((account) => String(account?.lamports ?? 0n));

/** The token accounts among `accounts`, by their place in the transaction. `mintAt` reads a mint's account. */
export function tokenBalancesOf(
  accounts: readonly (ChainAccount | null)[],
  mintAt: (mint: Address) => ChainAccount | null,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = account?.owner === TOKEN_PROGRAM ? decodeTokenAccount(account.data) : null;
    if (!token) return [];
    const mint = mintAt(token.mint);
    const decimals = (mint && decodeMint(mint.data)?.decimals) ?? 0;
    return [{ accountIndex, mint: token.mint, owner: token.owner, amount: String(token.amount), decimals }];
  });
}

/** The memos of a transaction as getSignaturesForAddress lists them; empty without one. */
export const memosOf = ({
  accountKeys,
  instructions,
}: Pick<ParsedMessage, 'accountKeys' | 'instructions'>): string =>
  instructions
    .filter(({ programIdIndex }) => accountKeys[programIdIndex] === MEMO_PROGRAM)
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`)
    .join('; ');
