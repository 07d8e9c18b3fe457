import { type HttpHeaders, type HttpRequest, HttpResponse } from '../../../kernel/http.ts';

/** A page's browser asks again after a day whether it may call. */
const PREFLIGHT_S = '86400';

interface Openness {
  readonly methods: string;
  /** Headers that a page may send, besides those that every page may. */
  readonly headers: string;
  /** Headers of an answer that a page may read, besides those that every page may. */
  readonly exposed: string;
}

/** web3.js names itself in `solana-client`; other clients have headers of their own. */
const RPC: Openness = { methods: 'POST, OPTIONS', headers: 'content-type, solana-client, *', exposed: 'retry-after' };

/**
 * The calls of customers: x402's headers, and those that calls take. The stock x402 client asks, in its request, for
 * headers to be exposed, so that one is allowed too.
 */
const PUBLIC: Openness = {
  methods: 'GET, HEAD, POST, OPTIONS',
  headers: [
    ...['content-type', 'accept', 'authorization', 'payment-signature', 'access-control-expose-headers'],
    ...['x-customer-support-code', 'x-passenger-family-name', 'x-payment'],
    ...['connect-protocol-version', 'connect-timeout-ms', 'idempotency-key'],
  ].join(', '),
  exposed: ['payment-required', 'payment-response', 'retry-after', 'x-request-id', 'x-sponsored-preview'].join(', '),
};

/** null for what pages of others have no business with: the operators' desks, and what holds a partner's key. */
function opennessOf(pathname: string): Openness | null {
  if (pathname === '/rpc' || pathname === '/rpc/') return RPC;
  const isPrivate = /^\/operator(\/|$)|^\/[^/]+\.core\.v1\.partner\.Service\//.test(pathname);
  return isPrivate ? null : PUBLIC;
}

/**
 * Lets pages of any origin call what is open to anybody, and never with a browser's credentials: whoever calls says
 * who they are in the call, or pays.
 */
export async function crossOrigin(request: HttpRequest, answer: () => Promise<HttpResponse>): Promise<HttpResponse> {
  const openness = opennessOf(new URL(request.url).pathname);
  if (!openness) return answer();
  const { headers } = request;
  if (request.method === 'OPTIONS' && 'access-control-request-method' in headers)
    return new HttpResponse(204, null, preflight(openness, headers));
  const { status, body, headers: own } = await answer();
  return new HttpResponse(status, body, {
    ...own,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': openness.exposed,
  });
}

const preflight = (openness: Openness, asked: HttpHeaders): HttpHeaders => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': openness.methods,
  'access-control-allow-headers': openness.headers,
  'access-control-max-age': PREFLIGHT_S,
  // A page of the internet that calls a service on this machine.
  ...('access-control-request-private-network' in asked ? { 'access-control-allow-private-network': 'true' } : {}),
});
