import type { Address } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import { COMPUTE_BUDGET_PROGRAM, LAMPORTS_PER_SIGNATURE, SYSTEM_PROGRAM, UPGRADEABLE_LOADER } from '../cluster.ts';
import { MEMO_PROGRAM, mintOf, tokenAccountOf, viewOf } from '../token.ts';
import type { LoadedAddresses, ParsedMessage } from './parse.ts';

export interface InnerInstructions {
  readonly index: number;
  readonly instructions: readonly {
    readonly programIdIndex: number;
    readonly accounts: readonly number[];
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
  /** Absent in older rows: the SPL token program. */
  readonly programId?: string;
}

/** The stored effects of a transaction, lamports as decimal text. */
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
  /** The addresses that lookup tables had at that time. */
  readonly loadedAddresses?: LoadedAddresses;
}

export const lamportsOf = (accounts: readonly (ChainAccount | null)[]): string[] =>
  accounts.map((account) => String(account?.lamports ?? 0n));

/** Lists token balances by their account's place in the transaction; `mintAt` reads a mint's account. */
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

/** Lists memos as getSignaturesForAddress does; empty without one. */
export const memosOf = ({ accountKeys, instructions }: Pick<ParsedMessage, 'accountKeys' | 'instructions'>): string =>
  instructions
    .filter(({ programIdIndex }) => accountKeys[programIdIndex] === MEMO_PROGRAM)
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`)
    .join('; ');

/** Programs of the runtime, whose instructions cost little (SIMD-0170). */
const BUILTINS: ReadonlySet<string> = new Set([
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  'Vote111111111111111111111111111111111111111',
  UPGRADEABLE_LOADER,
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
]);
const PRECOMPILES = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);
const MOST_UNITS = 1_400_000n;

/** Sums the base fee per signature and the priority fee, in lamports. */
export function feeOf(message: Pick<ParsedMessage, 'header' | 'accountKeys' | 'instructions'>): bigint {
  let signatures = BigInt(message.header.numRequiredSignatures);
  let defaultUnits = 0n;
  let units: bigint | undefined;
  let microLamportsPerUnit = 0n;
  for (const { programIdIndex, data } of message.instructions) {
    const program = message.accountKeys[programIdIndex] ?? '';
    if (PRECOMPILES.has(program)) signatures += BigInt(data[0] ?? 0);
    else defaultUnits += BUILTINS.has(program) ? 3_000n : 200_000n;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    const view = viewOf(data);
    if (data[0] === 2 && data.length >= 5) units = BigInt(view.getUint32(1, true));
    if (data[0] === 3 && data.length >= 9) microLamportsPerUnit = view.getBigUint64(1, true);
  }
  const wanted = units ?? defaultUnits;
  const limit = wanted < MOST_UNITS ? wanted : MOST_UNITS;
  return signatures * LAMPORTS_PER_SIGNATURE + (limit * microLamportsPerUnit + 999_999n) / 1_000_000n;
}
