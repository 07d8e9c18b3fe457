import { once } from '../kernel/once.ts';
import { defaultPartnerOptions, type PartnerGiven, type PartnerPorts } from './base/index.ts';
import { createPartnerHttp } from './http.ts';
import { runPartnerWorker } from './worker.ts';

export type { Connection } from '../http/index.ts';
export type { PartnerGiven, PartnerOptions } from './base/index.ts';
export { createPartnerHttp } from './http.ts';
export * from './migrations.ts';
export { partnerDueAtMs } from './worker.ts';

/** Creates the partner service: its procedures as a fetch, and its worker. Creating it loads and touches nothing. */
export function createPartner(given: PartnerGiven) {
  const ports: PartnerPorts = { ...given, options: { ...defaultPartnerOptions, ...given.options } };
  /** Creates a demo's missing partners, customers and key files, once per process. */
  const ready = once(async () => ports.demo?.seed(ports));
  return { ready, fetch: createPartnerHttp(ports, ready), worker: { runDue: () => runPartnerWorker(ports) } };
}
