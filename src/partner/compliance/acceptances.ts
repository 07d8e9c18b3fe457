import type { Store, Tx } from '../tables.ts';
import type { Terms } from './compliance.ts';

/** Which terms a customer has accepted, and when. Acceptances are added, never changed. */

interface Acceptance extends Terms {
  readonly acceptedAtMs: number;
}

export async function acceptancesOf(at: Store | Tx, customerId: string): Promise<Acceptance[]> {
  const rows = await at
    .selectFrom('terms_acceptances')
    .selectAll()
    .where('customer_id', '=', customerId)
    .execute();
  return rows.map((row) => ({
    version: row.version,
    termsUrl: row.terms_url,
    privacyPolicyUrl: row.privacy_policy_url,
    acceptedAtMs: row.accepted_at_ms,
  }));
}

export async function addAcceptance(
  tx: Tx,
  given: {
    readonly acceptanceId: string;
    readonly customerId: string;
    readonly terms: Terms;
    readonly atMs: number;
  },
): Promise<void> {
  await tx
    .insertInto('terms_acceptances')
    .values({
      acceptance_id: given.acceptanceId,
      customer_id: given.customerId,
      version: given.terms.version,
      terms_url: given.terms.termsUrl,
      privacy_policy_url: given.terms.privacyPolicyUrl,
      accepted_at_ms: given.atMs,
    })
    .execute();
}
