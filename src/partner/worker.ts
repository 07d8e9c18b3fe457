import { dueOf, earliest, isDueAt } from '../store/index.ts';
import type { DuePorts, Job, PartnerDemo, PartnerPorts } from './base/index.ts';
import { attestationsDue, loadRetention, loadStanding, retentionDue } from './compliance/index.ts';
import { creationsDue, loadOrderCreation } from './orders/index.ts';

const JOBS: readonly Job[] = [
  { due: attestationsDue, runDue: async (ports) => (await loadStanding()).createStanding(ports).attestations.runDue() },
  { due: retentionDue, runDue: async (ports) => (await loadRetention()).purgeCustomerData(ports) },
  { due: creationsDue, runDue: async (ports) => (await loadOrderCreation()).runCreations(ports) },
];

const jobsOf = (demo: PartnerDemo | null): readonly Job[] => (demo ? [...JOBS, demo.updates] : JOBS);

interface WorkerRun {
  readonly worked: number;
  /** When the next step is due (epoch ms); null if no work is open. */
  readonly nextDueAtMs: number | null;
}

/** When work of this environment is next due (the database may also hold the other's). Loads none of its code. */
export async function partnerDueAtMs(ports: DuePorts & Pick<PartnerPorts, 'demo'>): Promise<number | null> {
  const jobs = jobsOf(ports.demo).map((job, place) => [`job_${place}`, job.due(ports)]);
  return earliest(Object.values(await dueOf(ports.store, Object.fromEntries(jobs))));
}

/** Takes every due step; workers may run in parallel. A failing job does not stop the others, and throws at the end. */
export async function runPartnerWorker(ports: PartnerPorts): Promise<WorkerRun> {
  let worked = 0;
  const failures: unknown[] = [];
  for (const job of jobsOf(ports.demo)) {
    try {
      const { due } = await dueOf(ports.store, { due: job.due(ports) });
      if (isDueAt(due, ports.clock)) worked += await job.runDue(ports);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { worked, nextDueAtMs: await partnerDueAtMs(ports) };
}
