import { refuse } from '../http/body.ts';
import { createRouter, type Serve } from '../http/router.ts';
import { type Route, servedAt, type Visit } from '../http/routes.ts';
import { type HttpRequest, headerOf } from '../kernel/http.ts';
import { once } from '../kernel/once.ts';
import { readMessage } from './body.ts';
import type { Caller } from './call.ts';
import { connectFailure } from './connect-errors.ts';
import { authenticatePartner } from './credentials.ts';
import type { PartnerPorts } from './ports.ts';
import { aboutRoutes, procedureRoutes } from './routes.ts';
import { authenticateCustomer } from './tokens.ts';

/**
 * The partner service over HTTP: the procedures in Connect's unary form with the JSON codec (CONTRACT, section 10), the
 * operator's desk, which is loaded when it is called, and the description.
 * @param arrive comes before every call
 */
export function createPartnerHttp(ports: PartnerPorts, arrive = async (): Promise<void> => undefined): Serve {
  const served = { log: ports.log, ids: ports.ids, arrive };
  const standing = once(async () => (await import('./compliance/standing.ts')).createStanding(ports));
  const procedures = createRouter({
    ...served,
    table: procedureRoutes(ports.serviceName),
    read: readMessage,
    failure: connectFailure,
    /** Who calls is settled before the body is read. */
    async enter({ request }: Visit, route: Route<Caller> | null): Promise<Caller> {
      checkConnectHeaders(request);
      const partner = await authenticatePartner(ports, headerOf(request, 'x-api-key'));
      const ofCustomer = route?.security?.some((schemes) => schemes.includes('customerToken'));
      const customerId = ofCustomer
        ? await authenticateCustomer(ports, headerOf(request, 'authorization'), partner.partnerId)
        : null;
      return { ports, standing, partner, customerId };
    },
  });
  const document = once(async () => (await import('./openapi.ts')).openapiDocument(ports.serviceName));
  const describe = async (publicUrl: string | undefined) => servedAt(await document(), publicUrl);
  const about = createRouter({ ...served, table: aboutRoutes, enter: () => describe });
  return async function fetch(request, connection) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/partner/')) return about(request, connection);
    if (!pathname.startsWith('/operator/')) return procedures(request, connection);
    const { deskRoutes, enterDesk } = await import('./desk/routes.ts');
    return createRouter({ ...served, table: deskRoutes, enter: enterDesk(ports) })(request, connection);
  };
}

/** Connect's own headers: both may be missing, and a version that is not ours is refused. */
function checkConnectHeaders({ headers }: HttpRequest): void {
  const version = headers['connect-protocol-version'];
  if (version !== undefined && version !== '1')
    refuse([{ path: 'Connect-Protocol-Version', message: 'must be 1, or left out.' }]);
  const timeout = headers['connect-timeout-ms'];
  if (timeout !== undefined && !/^\d{1,10}$/.test(timeout))
    refuse([
      { path: 'Connect-Timeout-Ms', message: 'must be a number of milliseconds of at most ten digits.' },
    ]);
}
