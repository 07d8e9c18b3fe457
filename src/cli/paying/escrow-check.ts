import { refundOwners } from '../../client/agreed.ts';
import { escrowChecks, UNSAID } from '../../client/escrow-terms.ts';
import type { EscrowCheck } from '../../escrow/verify.ts';
import type { Intent } from '../../flights/wire.ts';
import type { Session } from '../session/session.ts';
import { isFunded } from '../view/flights/status.ts';
import { standingOf } from './agreement.ts';

/**
 * Reads the escrow of an intent from the cluster, and compares it with the service's record and with what was agreed to
 * here: its refund owner has to be this wallet, the one of the intent's creation, or the one that was named.
 */
export async function verifyIntent(
  session: Session,
  intent: Intent,
  named: string | null = null,
): Promise<EscrowCheck[]> {
  const [cluster, standing] = await Promise.all([session.cluster(), standingOf(session, intent, named)]);
  const { program_id: program, amount } = intent.escrow;
  const checks = await escrowChecks(cluster, intent, {
    ...(isFunded(intent) && { held: { min: BigInt(amount) } }),
  });
  // Another program keeps other promises, or none: nothing of it can be verified.
  const known = checks.find((one) => one.check === 'program');
  if (known && known.expected !== program) return [{ ...known, found: program || UNSAID, ok: false }];
  const owners = refundOwners(standing);
  const agreed = checks.map((check): EscrowCheck => {
    if (check.check !== 'refund_owner') return check;
    const expected = owners.join(' or ') || 'a wallet of yours';
    return { ...check, expected, ok: check.ok && owners.includes(check.found) };
  });
  // What else differs from its creation, where it was created from here.
  const escrow = standing.terms?.escrow;
  const frozen = escrow
    ? agreed.map((check): EscrowCheck => {
        if (check.check !== 'amount' && check.check !== 'mint') return check;
        const expected = String(escrow[check.check]);
        return { ...check, expected, ok: check.ok && check.found === expected };
      })
    : agreed;
  return intent.status === 'active' ? frozen : frozen.map((check) => atTheEnd(check, intent));
}

/** An intent that has ended says how: its escrow is then expected to be captured or refunded, and empty. */
function atTheEnd(check: EscrowCheck, { status }: Intent): EscrowCheck {
  const expected = { state: status === 'booked' ? 'captured' : 'refunded', held: 'none' };
  if (check.check !== 'state' && check.check !== 'held') return check;
  return { ...check, expected: expected[check.check], ok: check.found === expected[check.check] };
}
