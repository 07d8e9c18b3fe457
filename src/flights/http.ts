import { createRouter, type Serve } from '../http/router.ts';
import { servedAt, type Visit } from '../http/routes.ts';
import { once } from '../kernel/once.ts';
import { type FlightsParts, flightRoutes } from './routes.ts';

/** The flight service over HTTP: the customers' routes, and the operators', which are loaded when one is called. */
export function createFlightsApp(given: Omit<FlightsParts, 'describe' | 'readiness'>): {
  readonly fetch: Serve;
} {
  const { ports, funds } = given;
  const document = once(async () => (await import('./openapi.ts')).openapiDocument(ports.options));
  const readiness = once(async () => (await import('./readiness.ts')).createReadiness(ports, funds));
  const parts: FlightsParts = {
    ...given,
    readiness: async () => (await readiness())(),
    describe: async (publicUrl) => servedAt(await document(), publicUrl),
  };
  const served = {
    log: ports.log,
    ids: ports.ids,
    // Whatever moves money, a GET of an order included, comes with a payment or in a POST.
    arrive: async ({ request }: Visit) => {
      if (request.method !== 'GET' || 'payment-signature' in request.headers) await ports.ready?.();
    },
  };
  const customers = createRouter({ ...served, table: flightRoutes, enter: () => parts });
  return {
    async fetch(request, connection) {
      if (!/^\/operator(\/|$)/.test(new URL(request.url).pathname)) return customers(request, connection);
      const { deskRoutes, enterDesk } = await import('./desk/routes.ts');
      const enter = enterDesk(ports);
      return createRouter({ ...served, table: deskRoutes, enter })(request, connection);
    },
  };
}
