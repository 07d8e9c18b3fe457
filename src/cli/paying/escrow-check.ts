import {
  escrowChecks,
  isTrusted,
  type ProgramStanding,
  refundOwners,
  standingOfProgram,
  UNSAID,
} from '../../client/base/index.ts';
import { ESCROW_PROGRAM_ID, type EscrowCheck } from '../../escrow/index.ts';
import { genesisHashOf } from '../../solana/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { Session } from '../session/index.ts';
import { isFunded } from '../view/flights/index.ts';
import { standingOf } from './agreement.ts';

/**
 * Reads the escrow of an intent from the cluster, and compares it with the service's record and with what was agreed to
 * here. Its refund owner must be this wallet, the wallet that the intent was created with, or the named one.
 */
export async function verifyIntent(
  session: Session,
  intent: Intent,
  named: string | null = null,
): Promise<EscrowCheck[]> {
  const [cluster, standing] = await Promise.all([session.cluster(), standingOf(session, intent, named)]);
  const { program_id: program, amount } = intent.escrow;
  const [compared, code] = await Promise.all([
    escrowChecks(cluster, intent, {
      paidOn: genesisHashOf(cluster),
      ...(isFunded(intent) && { held: { min: BigInt(amount) } }),
    }),
    standingOfProgram(cluster, program, session.trust),
  ]);
  const [known, ...terms] = compared;
  if (known && program === '') return [{ ...known, found: UNSAID, ok: false }];
  // An unknown program may break any promise: its records prove nothing.
  if (known && (code.kind === 'different' || code.kind === 'absent')) {
    const own = session.isEmbedded ? [ESCROW_PROGRAM_ID] : [];
    const expected = [...own, ...session.trust.programs].join(' or ') || 'the shipped code';
    return [{ ...known, expected, found: program, ok: false }];
  }
  const checks = known ? [known, codeCheck(code), ...terms] : [];
  const owners = refundOwners(standing);
  // Known if the intent was created here.
  const escrow = standing.terms?.escrow;
  const agreed = checks.map((check): EscrowCheck => {
    if (check.check === 'refund_owner') {
      const expected = owners.join(' or ') || 'a wallet of yours';
      return { ...check, expected, ok: check.ok && owners.includes(check.found) };
    }
    if (!escrow || (check.check !== 'amount' && check.check !== 'mint')) return check;
    const expected = String(escrow[check.check]);
    return { ...check, expected, ok: check.ok && check.found === expected };
  });
  return intent.status === 'active' ? agreed : agreed.map((check) => atTheEnd(check, intent));
}

const CODE = {
  named: 'known by its address',
  final: 'the shipped code, which can no longer be replaced',
  accepted: 'the shipped code, replaceable by a key that you trust',
  upgradeable: 'the shipped code, replaceable',
  different: 'other code',
  absent: 'no program',
} as const;

/** Checks the code of the program, and the keys that can replace it. */
const codeCheck = (standing: ProgramStanding): EscrowCheck => ({
  check: 'program_code',
  expected: 'the shipped code, replaceable only by keys that you trust',
  found: standing.authority === null ? CODE[standing.kind] : `${CODE[standing.kind]}: ${standing.authority}`,
  ok: isTrusted(standing),
});

/** Expects of an ended intent that its escrow is captured or refunded, and empty. */
function atTheEnd(check: EscrowCheck, { status }: Intent): EscrowCheck {
  const expected = { state: status === 'booked' ? 'captured' : 'refunded', held: 'none' };
  if (check.check !== 'state' && check.check !== 'held') return check;
  return { ...check, expected: expected[check.check], ok: check.found === expected[check.check] };
}
