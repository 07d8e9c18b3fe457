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

/** Paths of the partner service: its procedures, its description, and its part of the operator's desk. */
export const isPartnerPath = (pathname: string): boolean =>
  /^\/(?:[^/]+\.core\.v1\.(?:partner|customer)\.Service\/|partner\/|operator\/(?:partners|partner-keys|customers|customer-tokens|attestations)(?:\/|$))/.test(
    pathname,
  );

/** The partner service, loaded with the first request for one of its paths, or when its worker has something to do. */
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
        // The partner service knows no table of the desk; its transaction is on the database that has it.
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

/** A round of both workers. Where one fails the other has its turn first: trouble with a fare holds up no order. */
export async function bothRuns(first: Worker, second: Worker): Promise<WorkerRun> {
  const [a, b] = [await settled(first), await settled(second)];
  if ('failure' in a) throw a.failure;
  if ('failure' in b) throw b.failure;
  const due = [a.nextDueAtMs, b.nextDueAtMs].filter((atMs) => atMs !== null);
  return { worked: a.worked + b.worked, nextDueAtMs: due.length === 0 ? null : Math.min(...due) };
}

const settled = (worker: Worker): Promise<WorkerRun | { readonly failure: unknown }> =>
  worker.runDue().catch((failure: unknown) => ({ failure }));
