import { type AuditTables, loadAudit } from '../flights/base/index.ts';
import { loadKeys } from '../flights/desk/index.ts';
import type { Connection } from '../http/index.ts';
import type { HttpRequest, HttpResponse } from '../kernel/http.ts';
import { once } from '../kernel/once.ts';
import type { PartnerPorts } from '../partner/base/index.ts';
import { partnerDueAtMs } from '../partner/index.ts';
import { partnerDemo } from '../sandbox/index.ts';
import type { Store } from './home.ts';
import type { ServiceOptions, WorkerRun } from './types.ts';

/** True for the partner service's paths: its procedures, its description, and its part of the operator's desk. */
export const isPartnerPath = (pathname: string): boolean =>
  /^\/(?:[^/]+\.core\.v1\.(?:partner|customer)\.Service\/|partner\/|operator\/(?:partners|partner-keys|customers|customer-tokens|attestations)(?:\/|$))/.test(
    pathname,
  );

/** Loads the partner service with the first request for one of its paths, or when its worker has work. */
export function lazyPartner(
  given: Pick<PartnerPorts, 'secrets' | 'clock' | 'ids' | 'log'> & { readonly store: Store },
  options: ServiceOptions,
) {
  const environment = options.partnerEnvironment ?? 'demo';
  const demo = environment === 'demo' ? partnerDemo : null;
  const partner = once(async () => {
    const [{ createPartner }, { createOperatorKeys }, { writeAudit }] = await Promise.all([
      import('../partner/index.ts'),
      loadKeys(),
      loadAudit(),
    ]);
    const operators = createOperatorKeys(given);
    return createPartner({
      ...given,
      environment,
      demo,
      serviceName: options.partnerServiceName ?? 'farelock',
      home: options.home,
      desk: {
        authenticate: (header) => operators.authenticate(header),
        // The partner service knows no table of the desk, but its transaction is on the database that has them.
        audit: (tx, act) => writeAudit(tx.withTables<AuditTables>(), given, act),
      },
      options: options.partner ?? {},
    });
  });
  return {
    ready: async (): Promise<void> => (await partner()).ready(),
    fetch: async (request: HttpRequest, connection: Connection): Promise<HttpResponse> =>
      (await partner()).fetch(request, connection),
    async runDue(): Promise<WorkerRun> {
      const nextDueAtMs = await partnerDueAtMs({ ...given, environment, demo });
      if (nextDueAtMs === null || nextDueAtMs > given.clock.now()) return { worked: 0, nextDueAtMs };
      return (await partner()).worker.runDue();
    },
  };
}

type Worker = { readonly runDue: () => Promise<WorkerRun> };

/** Runs both workers once. If one fails, the other still has its turn: trouble with a fare delays no order. */
export async function bothRuns(first: Worker, second: Worker): Promise<WorkerRun> {
  const [a, b] = [await settled(first), await settled(second)];
  if ('failure' in a) throw a.failure;
  if ('failure' in b) throw b.failure;
  const due = [a.nextDueAtMs, b.nextDueAtMs].filter((atMs) => atMs !== null);
  return { worked: a.worked + b.worked, nextDueAtMs: due.length === 0 ? null : Math.min(...due) };
}

const settled = (worker: Worker): Promise<WorkerRun | { readonly failure: unknown }> =>
  worker.runDue().catch((failure: unknown) => ({ failure }));
