import type { Job, PartnerDemo, PartnerPorts } from './base/index.ts';
import { attestationsDueAtMs, loadRetention, loadStanding, retentionDueAtMs } from './compliance/index.ts';
import { creationsDueAtMs, loadOrderCreation } from './orders/index.ts';

const JOBS: readonly Job[] = [
  {
    dueAtMs: attestationsDueAtMs,
    runDue: async (ports) => (await loadStanding()).createStanding(ports).attestations.runDue(),
  },
  { dueAtMs: retentionDueAtMs, runDue: async (ports) => (await loadRetention()).purgeCustomerData(ports) },
  // Orders whose creation a crash, a lost answer or an outage left open.
  { dueAtMs: creationsDueAtMs, runDue: async (ports) => (await loadOrderCreation()).runCreations(ports) },
];

const jobsOf = (demo: PartnerDemo | null): readonly Job[] => (demo ? [...JOBS, demo.updates] : JOBS);

interface WorkerRun {
  readonly worked: number;
  /** When the next step is due (epoch ms), null when nothing is under way. */
  readonly nextDueAtMs: number | null;
}

/** The next due time of work in this environment (the other's may be in the same database). Loads nothing. */
export async function partnerDueAtMs(
  ports: Pick<PartnerPorts, 'store' | 'environment' | 'clock' | 'demo'>,
): Promise<number | null> {
  let earliest: number | null = null;
  for (const job of jobsOf(ports.demo)) {
    const due = await job.dueAtMs(ports.store, ports.environment, ports.clock);
    if (due !== null && (earliest === null || due < earliest)) earliest = due;
  }
  return earliest;
}

/** Takes every due step, safely beside other workers. A failing kind of work holds up no other, and throws at the end. */
export async function runPartnerWorker(ports: PartnerPorts): Promise<WorkerRun> {
  let worked = 0;
  const failures: unknown[] = [];
  for (const job of jobsOf(ports.demo)) {
    try {
      const due = await job.dueAtMs(ports.store, ports.environment, ports.clock);
      if (due !== null && due <= ports.clock.now()) worked += await job.runDue(ports);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { worked, nextDueAtMs: await partnerDueAtMs(ports) };
}
