import type { Serve } from '../src/http/router.ts';
import { type Fetch, HttpResponse } from '../src/kernel/http.ts';
import type { Service } from '../src/service/index.ts';

/** The platform's requests and responses on one side, the plain ones of `src` on the other. */

export type WebFetch = (request: Request) => Promise<Response>;

/** A service, asked as the web asks. */
export const webOf =
  (serve: Serve) =>
  async (request: Request, connection?: Parameters<Serve>[1]): Promise<Response> => {
    const { method, url, signal } = request;
    const asked = { method, url, headers: Object.fromEntries(request.headers), signal };
    const { status, headers, body } = await serve({ ...asked, body: request.body ?? '' }, connection);
    return new Response(body, { status, headers });
  };

/** What a client asks, answered by the web's means. */
export const fetchOver =
  (web: WebFetch): Fetch =>
  async ({ url, body, signal, ...rest }) => {
    const asked = { ...rest, body: body || null, signal: signal ?? null, redirect: 'manual' } as const;
    const response = await web(new Request(url, asked));
    return new HttpResponse(response.status, await response.text(), Object.fromEntries(response.headers));
  };

/** The services of a process, asked as the web asks. */
export const webService = (service: Service) => ({ ...service, fetch: webOf(service.fetch) });
export type WebService = ReturnType<typeof webService>;
