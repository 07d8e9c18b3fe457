import type { Serve } from '../http/index.ts';
import { once } from '../kernel/once.ts';
import { defaultPartnerOptions, type PartnerGiven, type PartnerPorts } from './base/index.ts';
import { createPartnerHttp } from './http.ts';
import { runPartnerWorker } from './worker.ts';

export type { Connection } from '../http/index.ts';
export type { PartnerGiven, PartnerOptions } from './base/index.ts';
export { createPartnerHttp } from './http.ts';
export * from './migrations.ts';
export { partnerDueAtMs } from './worker.ts';

/** The one door of the partner service: its procedures as a fetch, and its worker. Loads and touches nothing. */
export function createPartner(given: PartnerGiven) {
  const ports: PartnerPorts = { ...given, options: { ...defaultPartnerOptions, ...given.options } };
  /** Seeds a demo with partners, customers and keys, once a process. */
  const ready = once(async () => ports.demo?.seed(ports));
  const fetch: Serve = createPartnerHttp(ports, ready);
  return {
    /** Makes the demo's partners and their key files, where they are missing. */
    ready,
    fetch,
    worker: { runDue: () => runPartnerWorker(ports) },
  };
}
