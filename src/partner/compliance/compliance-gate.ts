import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { PartnerPorts, Tx } from '../base/index.ts';
import type { Assessment, Judged } from './compliance.ts';
import type { Standing } from './standing.ts';
import type { WantedOrder } from './wanted-orders.ts';

export type { WantedOrder } from './wanted-orders.ts';

/** What is left to do before an order can be made, for machines: names of the specification alone. */
interface Outstanding {
  readonly data?: string;
  readonly attestation?: string;
  readonly network?: string;
  readonly state: 'missing' | 'running' | 'rejected';
}

/**
 * The gate of CreateOrder: no order without a compliance status of SUCCESS for this very order, which is the policy by
 * country, direction and amount (with what the customer ordered lately), and what the order's partner asks. The
 * contract leaves it open; a ramp may not take money from somebody it does not know.
 *
 * Call it once before anything leaves the house, and once more with the transaction that writes the order: two orders
 * at once that are too much together do not both pass.
 * @throws Problem `compliance_required`, with the status and what is outstanding. Outside a transaction the order is
 *   remembered, and GetOnboardingRequirements lists from then on what it takes.
 */
export function createComplianceGate(ports: Pick<PartnerPorts, 'store' | 'clock'>, standing: Standing) {
  const { store, clock } = ports;

  return async function requireCompliant(customerId: string, wanted: WantedOrder, tx?: Tx): Promise<void> {
    const about = { kind: 'order', wanted } as const;
    if (tx) {
      const assessment = await standing.assessed(tx, customerId, about);
      if (assessment.status !== 'COMPLIANCE_STATUS_SUCCESS') throw required(assessment);
      return noteUse(tx, assessment);
    }
    const assessment = await standing.now(customerId, about);
    if (assessment.status === 'COMPLIANCE_STATUS_SUCCESS') return;
    await store.transaction().execute(async (own) => {
      const order = await standing.wantedOrders.weigh(own, customerId, wanted);
      await standing.wantedOrders.remember(own, customerId, wanted, order);
    });
    throw required(assessment);
  };

  /** The retention of what the order stands on counts from now: written once a day at most. */
  async function noteUse(tx: Tx, { judged }: Assessment): Promise<void> {
    const dataIds = [...new Set(judged.flatMap((one) => one.dataIds))];
    if (dataIds.length === 0) return;
    const nowMs = clock.now();
    await tx
      .updateTable('customer_data')
      .set({ last_used_at_ms: nowMs })
      .where('data_id', 'in', dataIds)
      .where('last_used_at_ms', '<', nowMs - DAY_MS)
      .execute();
  }
}

const required = (assessment: Assessment) =>
  problem('compliance_required', {
    detail: {
      complianceStatus: assessment.status,
      outstanding: assessment.judged.filter(({ standing }) => standing.state !== 'met').map(outstandingOf),
    },
  });

function outstandingOf({ requirement, standing }: Judged): Outstanding {
  const state = standing.state === 'missing' || standing.state === 'rejected' ? standing.state : 'running';
  return {
    ...(requirement.kind === 'data' ? { data: requirement.type } : { attestation: requirement.type }),
    ...(requirement.network === null ? {} : { network: requirement.network }),
    state,
  };
}
