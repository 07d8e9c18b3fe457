import type { Job, PartnerDemo, PartnerPorts } from './base/index.ts';
import { attestationsDueAtMs, loadRetention, loadStanding, retentionDueAtMs } from './compliance/index.ts';
import { creationsDueAtMs, loadOrderCreation } from './orders/index.ts';

const JOBS: readonly Job[] = [
  {
    dueAtMs: attestationsDueAtMs,
    load: async (ports) => (await loadStanding()).createStanding(ports).attestations.runDue,
  },
  {
    dueAtMs: retentionDueAtMs,
    load: async (ports) => {
      const { purgeCustomerData } = await loadRetention();
      return () => purgeCustomerData(ports);
    },
  },
  // Orders whose creation a crash, a lost answer or an outage left open.
  {
    dueAtMs: creationsDueAtMs,
    load: async (ports) => {
      const { runCreations } = await loadOrderCreation();
      return () => runCreations(ports);
    },
  },
];

const jobsOf = (demo: PartnerDemo | null): readonly Job[] => (demo ? [...JOBS, demo.updates] : JOBS);

interface WorkerRun {
  readonly worked: number;
  /** When the next step is due (epoch ms), null when nothing is under way. */
  readonly nextDueAtMs: number | null;
}

/**
 * When the partner service has something to do next. Loads nothing. What belongs to the other environment, which may
 * keep its work in the same database, is never due here: nobody here could do it.
 */
export async function partnerDueAtMs({
  store,
  environment,
  clock,
  demo,
}: Pick<PartnerPorts, 'store' | 'environment' | 'clock' | 'demo'>): Promise<number | null> {
  let earliest: number | null = null;
  for (const job of jobsOf(demo)) {
    const due = await job.dueAtMs(store, environment, clock);
    if (due !== null && (earliest === null || due < earliest)) earliest = due;
  }
  return earliest;
}

/**
 * Takes every step that is due. Several workers, in one process or many, are safe at the same time. A kind of work that
 * fails holds up no other: its failure is thrown when the others have had their turn.
 */
export async function runPartnerWorker(ports: PartnerPorts): Promise<WorkerRun> {
  let worked = 0;
  const failures: unknown[] = [];
  for (const job of jobsOf(ports.demo)) {
    try {
      const due = await job.dueAtMs(ports.store, ports.environment, ports.clock);
      if (due !== null && due <= ports.clock.now()) worked += await (await job.load(ports))();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { worked, nextDueAtMs: await partnerDueAtMs(ports) };
}
