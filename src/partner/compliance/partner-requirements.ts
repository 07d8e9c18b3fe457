import { canonicalJson } from '../../kernel/json.ts';
import { problem } from '../../kernel/problems.ts';
import type { AddCustomerRequirementRequest } from '../../wire/partner/requirements.ts';
import type { PartnerPorts } from '../ports.ts';
import type { Tx } from '../tables.ts';

/** So many that no program adds more by mistake; a partner has 26 kinds to ask for. */
const MOST_PER_CUSTOMER = 100;

/**
 * Adds what a partner asks of one customer. A requirement applies from then on, and the same one asked again (same
 * kind, same maxAgeDays) is the same requirement: a request that is sent twice adds nothing.
 * @returns its id
 * @throws Problem `customer_not_found`, also for a customer who is not the partner's; `too_many_attempts`
 */
export async function addRequirement(
  { ids, clock, environment }: Pick<PartnerPorts, 'ids' | 'clock' | 'environment'>,
  tx: Tx,
  partnerId: string,
  { customerId, data, attestation, maxAgeDays }: AddCustomerRequirementRequest,
): Promise<string> {
  const linked = await tx
    .selectFrom('customer_partners')
    .innerJoin('customers', 'customers.customer_id', 'customer_partners.customer_id')
    .select('customers.customer_id')
    .where('customers.customer_id', '=', customerId)
    .where('customers.environment', '=', environment)
    .where('customer_partners.partner_id', '=', partnerId)
    .executeTakeFirst();
  if (!linked) throw problem('customer_not_found');
  const askKey = canonicalJson([partnerId, customerId, data ?? attestation, maxAgeDays ?? null]);
  const known = await tx
    .selectFrom('partner_requirements')
    .select(['requirement_id', 'ask_key'])
    .where('partner_id', '=', partnerId)
    .where('customer_id', '=', customerId)
    .execute();
  const same = known.find(({ ask_key }) => ask_key === askKey);
  if (same) return same.requirement_id;
  if (known.length >= MOST_PER_CUSTOMER) {
    throw problem('too_many_attempts', {
      message: `You already have ${MOST_PER_CUSTOMER} requirements for this customer.`,
      fix: 'Nothing was added.',
    });
  }
  const requirementId = ids.next('rqm');
  await tx
    .insertInto('partner_requirements')
    .values({
      requirement_id: requirementId,
      customer_id: customerId,
      partner_id: partnerId,
      data_type: data ?? null,
      attestation_type: attestation ?? null,
      max_age_days: maxAgeDays ?? null,
      ask_key: askKey,
      created_at_ms: clock.now(),
    })
    .execute();
  return requirementId;
}
