import { type AccountMeta, AccountRole, type Address, type Instruction } from '@solana/kit';
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../solana/index.ts';

/** The parts of which every instruction of the escrow program is made (docs/escrow.md). */

export const TAG = {
  ...{ open: 0, capture: 1, refund: 2, sweep: 3, close: 4, recover: 5 },
  ...{ authorize: 6, capturePart: 7, refundCaptured: 8 },
} as const;

export const readonly = (address: Address): AccountMeta => ({ address, role: AccountRole.READONLY });
export const writable = (address: Address): AccountMeta => ({ address, role: AccountRole.WRITABLE });
export const signer = (address: Address): AccountMeta => ({ address, role: AccountRole.READONLY_SIGNER });
export const payingSigner = (address: Address): AccountMeta => ({ address, role: AccountRole.WRITABLE_SIGNER });

export type Of<Account extends string> = { readonly [A in Account | 'programId']: Address };

export const instruction = (of: Of<never>, data: Uint8Array, accounts: readonly AccountMeta[]): Instruction => ({
  programAddress: of.programId,
  accounts,
  data,
});

/** Creates the associated token account of `owner`, or does nothing if it exists. */
export function createTokenAccount(payer: Address, account: Address, owner: Address, mint: Address): Instruction {
  const others = [owner, mint, SYSTEM_PROGRAM, TOKEN_PROGRAM].map(readonly);
  return instruction({ programId: ASSOCIATED_TOKEN_PROGRAM }, Uint8Array.of(1), [
    payingSigner(payer),
    writable(account),
    ...others,
  ]);
}

/** The amounts that an instruction expects. No pair recurs in an escrow, so the instruction takes effect once. */
export interface Expected {
  readonly capturable: bigint;
  readonly refundable: bigint;
  /** Seconds since the epoch: the last second at which the instruction may be done. Default: any. */
  readonly validUntil?: bigint | undefined;
}

const I64_MAX = 2n ** 63n - 1n;

/** The end of the data of CapturePart, RefundCaptured and a void. */
export function expectedBytes({ capturable, refundable, validUntil = I64_MAX }: Expected): Uint8Array {
  const data = new Uint8Array(24);
  const view = new DataView(data.buffer);
  view.setBigUint64(0, capturable, true);
  view.setBigUint64(8, refundable, true);
  view.setBigInt64(16, validUntil, true);
  return data;
}
