import { isLowcost } from '../offers/lowcost.ts';
import { ordering, queued, ticketing } from './airline-steps.ts';
import { capturing, refunding, settling } from './money-steps.ts';
import type { WorkState } from './states.ts';
import { type Step, stuck } from './step.ts';

const FAST = { queued, ordering, ticketing };

/** The lowcost tier buys in its own way; its steps are loaded for a booking of it. */
const byTier =
  (step: keyof typeof FAST): Step =>
  async (tools, booking, intent) => {
    if (!isLowcost(intent.offer_id)) return FAST[step](tools, booking, intent);
    const { lowcost } = tools.ports;
    if (!lowcost) return stuck('provider_not_configured');
    const steps = await import('./lowcost-steps.ts');
    return steps[step]({ ...tools, fulfiller: lowcost }, booking, intent);
  };

/** The step of each state: recheck -> order -> ticket -> capture -> booked, or refunding -> refunded. */
export const STEPS: Readonly<Record<WorkState, Step>> = {
  settling,
  queued: byTier('queued'),
  ordering: byTier('ordering'),
  ticketing: byTier('ticketing'),
  capturing,
  refunding,
};
