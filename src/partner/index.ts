import { once } from '../kernel/once.ts';
import { connectFailure } from './connect-errors.ts';
import { type Connection, createPartnerHttp, problemOf } from './http.ts';
import { defaultPartnerOptions, type PartnerGiven, type PartnerPorts } from './ports.ts';
import { createProcedures } from './procedures.ts';
import { runPartnerWorker } from './worker.ts';

export type { Connection } from './http.ts';
export type { PartnerGiven, PartnerOptions } from './ports.ts';

/** The one door of the partner service: its procedures as a fetch, and its worker. Loads and touches nothing. */
export function createPartner(given: PartnerGiven) {
  const ports: PartnerPorts = { ...given, options: { ...defaultPartnerOptions, ...given.options } };
  const procedures = createProcedures(ports);
  const fetchProcedure = createPartnerHttp(ports, procedures);
  /** A demo has partners, customers and keys from the start; once a process. */
  const ready = once(async () => ports.demo?.seed(ports));

  return {
    /** Makes the demo's partners and their key files, where they are not there yet. */
    ready,
    async fetch(request: Request, connection: Connection = {}): Promise<Response> {
      try {
        await ready();
      } catch (error) {
        return connectFailure(problemOf(ports, error, request, ports.ids.next('req')));
      }
      const { pathname } = new URL(request.url);
      if (pathname.startsWith('/operator/')) {
        const { createPartnerDesk } = await import('./desk/http.ts');
        return createPartnerDesk(ports)(request);
      }
      if (pathname.startsWith('/partner/')) {
        const { describe } = await import('./openapi/description.ts');
        return describe(ports, procedures, request, connection.publicUrl);
      }
      return fetchProcedure(request, connection);
    },
    worker: { runDue: () => runPartnerWorker(ports) },
  };
}
