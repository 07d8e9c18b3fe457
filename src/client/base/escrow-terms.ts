import { type Address, isAddress } from '@solana/kit';
import {
  type AccountReader,
  ESCROW_PROGRAM_ID,
  type EscrowCheck,
  type ExpectedEscrow,
  loadEscrowVerify,
} from '../../escrow/index.ts';
import { problem } from '../../kernel/problems.ts';
import { loadToken } from '../../solana/index.ts';
import type { Intent } from '../../wire/flights/index.ts';

/**
 * Compares an intent's escrow on chain with its record; fields missing there expect `not in the record`.
 * @param given `paidOn`: genesis hash, if an authorization may have paid it; `latestRefundMs`: the latest time from
 *   which anyone may send the money back (default: the record's)
 * @throws Problem `cluster_failed`, `escrow_mismatch` for unreadable addresses
 */
export async function escrowChecks(
  cluster: AccountReader,
  intent: Intent,
  given: Pick<ExpectedEscrow, 'held' | 'paidOn'> & { readonly latestRefundMs?: number },
): Promise<EscrowCheck[]> {
  const { verifyEscrow } = await loadEscrowVerify();
  const { associatedTokenAddress } = await loadToken();
  const { escrow } = intent;
  const { address, mint } = escrow;
  if (!isAddress(address) || !isAddress(mint)) {
    throw problem('escrow_mismatch', {
      message: `The record of ${intent.intent_id} names no escrow and coin that are Solana addresses.`,
      detail: { intent_id: intent.intent_id },
    });
  }
  const refundAfter = deadlineOf(escrow.refund_after);
  const checks = await verifyEscrow({
    cluster,
    intentId: intent.intent_id,
    programId: isAddress(escrow.program_id) ? escrow.program_id : ESCROW_PROGRAM_ID,
    address,
    vault:
      escrow.vault_address === '' ? await associatedTokenAddress(address, mint) : (escrow.vault_address as Address),
    mint,
    amount: BigInt(escrow.amount),
    refundOwner: intent.refund_wallet as Address,
    refundAfter: typeof refundAfter === 'bigint' ? { min: refundAfter, max: refundAfter } : {},
    held: given.held,
    paidOn: given.paidOn,
  });
  return checks.map((check): EscrowCheck => {
    if (check.check === 'vault' && escrow.vault_address === '') return { ...check, expected: UNSAID };
    if (check.check !== 'refund_after') return check;
    if (refundAfter === 'unreadable') return { ...check, expected: 'unreadable in the record', ok: false };
    const isTooLate = given.latestRefundMs !== undefined && BigInt(check.found) * 1000n > BigInt(given.latestRefundMs);
    const expected = refundAfter === 'unsaid' ? UNSAID : check.expected;
    return { ...check, expected, ok: check.ok && !isTooLate };
  });
}

export const UNSAID = 'not in the record';

/** Seconds since the epoch. */
function deadlineOf(text: string): bigint | 'unsaid' | 'unreadable' {
  if (text === '') return 'unsaid';
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? BigInt(Math.floor(ms / 1000)) : 'unreadable';
}
