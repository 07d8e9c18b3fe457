import type { Address } from '@solana/kit';
import type { EscrowCheck } from '../escrow/verify.ts';
import type { Intent } from '../flights/wire.ts';
import type { Session } from './session.ts';
import { isFunded } from './view/status.ts';

/** Reads the escrow of an intent from the cluster, and holds it against what the service says of it. */
export async function verifyIntent(session: Session, intent: Intent): Promise<EscrowCheck[]> {
  const [{ verifyEscrow }, cluster] = await Promise.all([import('../escrow/verify.ts'), session.cluster()]);
  const refundAfter = BigInt(Math.floor(Date.parse(intent.escrow.refund_after) / 1000));
  const amount = BigInt(intent.escrow.amount);
  const checks = await verifyEscrow({
    cluster,
    intentId: intent.intent_id,
    address: intent.escrow.address as Address,
    vault: intent.escrow.vault_address as Address,
    mint: intent.escrow.mint as Address,
    amount,
    refundOwner: intent.refund_wallet as Address,
    refundAfter: { min: refundAfter, max: refundAfter },
    ...(isFunded(intent) && { held: { min: amount } }),
  });
  return intent.status === 'active' ? checks : checks.map((check) => atTheEnd(check, intent));
}

/** An intent that has ended says how: its escrow is then expected to be captured or refunded, and empty. */
function atTheEnd(check: EscrowCheck, { status }: Intent): EscrowCheck {
  const expected = { state: status === 'booked' ? 'captured' : 'refunded', held: 'none' };
  if (check.check !== 'state' && check.check !== 'held') return check;
  return { ...check, expected: expected[check.check], ok: check.found === expected[check.check] };
}
