import { addAcceptance } from '../../partner/compliance/acceptances.ts';
import { inputKey, RUN_INPUTS, type RunType } from '../../partner/compliance/compliance.ts';
import { loadPolicy } from '../../partner/compliance/policy.ts';
import { createSubmissions } from '../../partner/compliance/submissions.ts';
import type { CustomerData } from '../../partner/customer-data/schema.ts';
import type { PartnerPorts } from '../../partner/ports.ts';
import type { Tx } from '../../partner/tables.ts';
import { DATA_KEYS, DATA_TYPES } from '../../wire/partner/kinds.ts';
import { SEEDED_CUSTOMER_DATA, type SeededCustomerData } from './seed-customers-table.ts';

/**
 * Makes most of the demo's customers ready to order: their data is in, attested, and the terms are accepted. Who else
 * is in the demo starts from nothing.
 */
export async function seedCustomers(ports: PartnerPorts, tx: Tx): Promise<void> {
  for (const customer of SEEDED_CUSTOMER_DATA) await seedCustomer(ports, tx, customer);
}

async function seedCustomer(
  ports: PartnerPorts,
  tx: Tx,
  { customerId, data }: SeededCustomerData,
): Promise<void> {
  const nowMs = ports.clock.now();
  const given = data.map(({ dataId, value }) => ({ dataId, type: typeOf(value), value }));
  await createSubmissions(ports).save(tx, customerId, given, nowMs);
  const idOf = (type: string) => given.find((one) => one.type === type)?.dataId ?? '';
  const runs = Object.keys(RUN_INPUTS) as RunType[];
  await tx
    .insertInto('attestation_runs')
    .values(
      runs.map((type, index) => ({
        attestation_id: ports.ids.next('att'),
        customer_id: customerId,
        type,
        input_key: inputKey(RUN_INPUTS[type].map(idOf)),
        rank: index + 1,
        state: 'passed' as const,
        live_key: null,
        due_at_ms: nowMs,
        lease_until_ms: 0,
        attempts: 0,
        started_at_ms: nowMs,
        finished_at_ms: nowMs,
        decided_by: 'seed',
      })),
    )
    .execute();
  const { terms } = loadPolicy(ports.options.compliancePolicyFile);
  await addAcceptance(tx, { acceptanceId: ports.ids.next('att'), customerId, terms, atMs: nowMs });
}

function typeOf(value: CustomerData) {
  const type = DATA_TYPES.find((one) => value[DATA_KEYS[one]] !== undefined);
  if (!type) throw new Error('seeded data of no kind');
  return type;
}
