import { AccountRole, type Address, type Instruction } from '@solana/kit';
import type { ChainPlan } from '../escrow/effects.ts';
import { USDC_DECIMALS } from '../kernel/money.ts';
import { problem } from '../kernel/problems.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedTokenAddress,
  MEMO_PROGRAM,
  TOKEN_PROGRAM,
} from '../solana/token.ts';
import type { FlightsPorts } from './ports.ts';

export interface PayOut {
  /** What it is for; the same subject is never paid twice. It stands in the memo on chain: no personal data. */
  readonly subject: string;
  /** A wallet, not a token account. */
  readonly to: string;
  /** Atomic units, above zero. */
  readonly amount: bigint;
  /** Throws when whoever asks may no longer act; runs right before signing and before sending. */
  readonly fence?: (() => Promise<void>) | undefined;
}

/**
 * Pays USDC from the treasury to a wallet, once for each subject, as an effect (DESIGN, section 6). The authority
 * pays the network fee, and opens the wallet's token account where there is none. Call it again after any failure: it
 * goes on where it stopped, also with the same subject from another process.
 */
export function createPayouts(
  ports: Pick<FlightsPorts, 'store' | 'cluster' | 'effects' | 'authority' | 'treasurySigner' | 'mint'>,
) {
  const { cluster, authority, treasurySigner: treasury, mint } = ports;

  /** No account on chain shows a pay-out done: its own earlier signatures do, also one that was given up for lost. */
  async function hasLanded(subject: string): Promise<boolean> {
    const past = await ports.store
      .selectFrom('effects')
      .select('signature')
      .where('subject', '=', subject)
      .where('kind', '=', 'payout')
      .where('signature', 'is not', null)
      .execute();
    for (const { signature } of past) {
      const status = await cluster.signatureStatus(
        signature as Parameters<typeof cluster.signatureStatus>[0],
      );
      if (status?.err === null) return true;
    }
    return false;
  }

  async function plan(subject: string, to: Address, amount: bigint): Promise<ChainPlan> {
    const source = await associatedTokenAddress(treasury.address, mint);
    const destination = await associatedTokenAddress(to, mint);
    if (((await cluster.tokenBalance(source)) ?? 0n) < amount) throw problem('treasury_insufficient');
    const transfer = Buffer.alloc(10);
    transfer.writeUInt8(12);
    transfer.writeBigUInt64LE(amount, 1);
    transfer.writeUInt8(USDC_DECIMALS, 9);
    const instructions: Instruction[] = [
      openTokenAccount(to, destination),
      {
        programAddress: TOKEN_PROGRAM,
        accounts: [
          { address: source, role: AccountRole.WRITABLE },
          { address: mint, role: AccountRole.READONLY },
          { address: destination, role: AccountRole.WRITABLE },
          { address: treasury.address, role: AccountRole.READONLY_SIGNER },
        ],
        data: transfer,
      },
      // Two pay-outs of one amount to one wallet in one block would otherwise be one transaction: paid once for both.
      { programAddress: MEMO_PROGRAM, data: Buffer.from(`farelock payout ${subject}`) },
    ];
    return { feePayer: authority, signers: [treasury], instructions };
  }

  /** Idempotent; refused by the token program when the account was given to another owner. */
  const openTokenAccount = (owner: Address, account: Address): Instruction => ({
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { address: authority.address, role: AccountRole.WRITABLE_SIGNER },
      { address: account, role: AccountRole.WRITABLE },
      { address: owner, role: AccountRole.READONLY },
      { address: mint, role: AccountRole.READONLY },
      { address: '11111111111111111111111111111111' as Address, role: AccountRole.READONLY },
      { address: TOKEN_PROGRAM, role: AccountRole.READONLY },
    ],
    data: Uint8Array.of(1),
  });

  /**
   * @returns the signature of the transfer that landed.
   * @throws Problem `treasury_insufficient` before anything is signed, `cluster_failed` (not known yet),
   *   `transaction_failed` (refused; may be tried again), and what `fence` throws.
   */
  return async function payOut({ subject, to, amount, fence }: PayOut): Promise<{ signature: string }> {
    if (amount <= 0n) throw new RangeError('a pay-out of nothing');
    const { signature } = await ports.effects.chain({
      kind: 'payout',
      subject,
      fence,
      already: () => hasLanded(subject),
      plan: () => plan(subject, to as Address, amount),
    });
    if (signature === null) throw new Error('a pay-out was made and its signature is gone');
    return { signature };
  };
}
