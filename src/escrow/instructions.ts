import { type AccountMeta, AccountRole, type Address, getAddressEncoder, type Instruction } from '@solana/kit';
import { TOKEN_PROGRAM } from '../solana/index.ts';
import { chainBytes } from './commitment.ts';

/**
 * The six instructions of the escrow program, account by account (docs/escrow.md). They name their signers by role
 * only: whoever builds the transaction brings the keys.
 */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;

const TAG = { open: 0, capture: 1, refund: 2, sweep: 3, close: 4, recover: 5 } as const;

const readonly = (address: Address): AccountMeta => ({ address, role: AccountRole.READONLY });
const writable = (address: Address): AccountMeta => ({ address, role: AccountRole.WRITABLE });
const signer = (address: Address): AccountMeta => ({ address, role: AccountRole.READONLY_SIGNER });
const payingSigner = (address: Address): AccountMeta => ({ address, role: AccountRole.WRITABLE_SIGNER });

interface Of {
  readonly programId: Address;
}

const instruction = (of: Of, accounts: readonly AccountMeta[], data: Uint8Array): Instruction => ({
  programAddress: of.programId,
  accounts,
  data,
});

interface OpenAccounts extends Of {
  readonly authority: Address;
  /** Pays the rents, and gets them back at the end. */
  readonly payer: Address;
  readonly escrow: Address;
  /** Associated token account of `escrow`; it must be there already, and be empty. */
  readonly vault: Address;
  readonly mint: Address;
  /** Of the intent id (address.ts). */
  readonly intentHash: Uint8Array;
  /** Atomic units. */
  readonly amount: bigint;
  /** Seconds since the epoch. */
  readonly refundAfter: bigint;
  /** Owners of token accounts, not token accounts. */
  readonly treasury: Address;
  readonly refundOwner: Address;
}

export function openInstruction(open: OpenAccounts): Instruction {
  const data = new Uint8Array(113);
  const view = new DataView(data.buffer);
  const address = getAddressEncoder();
  data[0] = TAG.open;
  data.set(open.intentHash, 1);
  view.setBigUint64(33, open.amount, true);
  view.setBigInt64(41, open.refundAfter, true);
  data.set(address.encode(open.treasury), 49);
  data.set(address.encode(open.refundOwner), 81);
  return instruction(
    open,
    [
      signer(open.authority),
      payingSigner(open.payer),
      writable(open.escrow),
      readonly(open.vault),
      readonly(open.mint),
      readonly(SYSTEM_PROGRAM),
    ],
    data,
  );
}

interface CaptureAccounts extends Of {
  readonly authority: Address;
  readonly escrow: Address;
  readonly vault: Address;
  /** A token account of the treasury. */
  readonly treasuryAccount: Address;
  /** A token account of the refund owner, or null: what is above the amount then stays in the vault for a sweep. */
  readonly refundAccount: Address | null;
  readonly rentPayer: Address;
}

export const captureInstruction = (capture: CaptureAccounts): Instruction =>
  instruction(
    capture,
    [
      signer(capture.authority),
      writable(capture.escrow),
      writable(capture.vault),
      writable(capture.treasuryAccount),
      capture.refundAccount === null ? readonly(capture.programId) : writable(capture.refundAccount),
      writable(capture.rentPayer),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.capture),
  );

interface RefundAccounts extends Of {
  /** The recorded one, whoever refunds. */
  readonly authority: Address;
  /** The authority signs. Without it the refund works once `refund_after` has passed, for anybody. */
  readonly byAuthority: boolean;
  readonly escrow: Address;
  readonly vault: Address;
  /** A token account of the refund owner; not looked at when the vault is empty. */
  readonly refundAccount: Address;
  readonly rentPayer: Address;
}

export const refundInstruction = (refund: RefundAccounts): Instruction =>
  instruction(
    refund,
    [
      refund.byAuthority ? signer(refund.authority) : readonly(refund.authority),
      writable(refund.escrow),
      writable(refund.vault),
      writable(refund.refundAccount),
      writable(refund.rentPayer),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.refund),
  );

interface SweepAccounts extends Of {
  readonly escrow: Address;
  readonly vault: Address;
  readonly refundAccount: Address;
  readonly rentPayer: Address;
}

export const sweepInstruction = (sweep: SweepAccounts): Instruction =>
  instruction(
    sweep,
    [
      readonly(sweep.escrow),
      writable(sweep.vault),
      writable(sweep.refundAccount),
      writable(sweep.rentPayer),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.sweep),
  );

interface CloseAccounts extends Of {
  readonly authority: Address;
  readonly escrow: Address;
  readonly vault: Address;
  readonly rentPayer: Address;
}

export const closeInstruction = (close: CloseAccounts): Instruction =>
  instruction(
    close,
    [signer(close.authority), writable(close.escrow), readonly(close.vault), writable(close.rentPayer)],
    Uint8Array.of(TAG.close),
  );

interface RecoverAccounts extends Of {
  /** One that names `refundOwner` (commitment.ts). */
  readonly intentId: string;
  /** Where the escrow was: there must be none. */
  readonly escrow: Address;
  /** A token account of `escrow`. */
  readonly vault: Address;
  /** A token account of the refund owner. */
  readonly refundAccount: Address;
  /** Gets the rent of the vault, which somebody made again. */
  readonly refundOwner: Address;
}

export const recoverInstruction = (recover: RecoverAccounts): Instruction =>
  instruction(
    recover,
    [
      readonly(recover.escrow),
      writable(recover.vault),
      writable(recover.refundAccount),
      writable(recover.refundOwner),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.recover, ...chainBytes(recover.intentId)),
  );
