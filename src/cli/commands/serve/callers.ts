import { type HttpHeaders, type HttpRequest, HttpResponse } from '../../../kernel/http.ts';
import { problem } from '../../../kernel/problems.ts';

/**
 * Behind a reverse proxy every connection comes from the proxy, and X-Forwarded-For names the client. The header counts
 * only on a connection from a trusted proxy, and is read from the right: the first address that is not a trusted
 * proxy's is the client. Any sender could have written the addresses further left.
 * @param trusted addresses and CIDR ranges
 * @throws Problem `usage` for an entry that is neither
 */
export async function trustedProxies(trusted: readonly string[]) {
  const { default: ipaddr } = await import('ipaddr.js');
  type Address = ReturnType<typeof ipaddr.process>;

  const ranges = trusted.map((text): [Address, number] => {
    try {
      if (text.includes('/')) return ipaddr.parseCIDR(text);
      const address = ipaddr.process(text);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    } catch {
      throw problem('usage', {
        message: `--trusted-proxy must be an address or a range (got ${text}).`,
        fix: 'Use an address such as 10.0.0.5, or a range such as 10.0.0.0/8 or fd00::/8.',
      });
    }
  });

  /** Strips brackets, a port and a zone; null for a text that is no address. */
  function read(text: string | undefined): Address | null {
    const plain = (text ?? '')
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
      .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
      .replace(/%.*$/, '');
    // Short forms such as 127.1 are for people, not for proxies.
    const isPlain = plain.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(plain);
    return isPlain && ipaddr.isValid(plain) ? ipaddr.process(plain) : null;
  }

  const isTrusted = (address: Address): boolean =>
    ranges.some((range) => range[0].kind() === address.kind() && address.match(range));

  return {
    /** The address of the connection, or the one that a trusted proxy names. */
    clientOf(connection: string | undefined, forwardedFor: string | null): string | undefined {
      let nearest = read(connection);
      if (nearest === null || !isTrusted(nearest)) return connection;
      for (const hop of (forwardedFor ?? '').split(',').reverse()) {
        const address = read(hop);
        if (address === null) break;
        nearest = address;
        if (!isTrusted(address)) break;
      }
      return nearest.toString();
    },
    /** True when a connection comes from a trusted proxy. */
    areAt(connection: string | undefined): boolean {
      const address = read(connection);
      return address !== null && isTrusted(address);
    },
  };
}

/** Seconds for which a browser keeps the answer to a preflight: a day. */
const PREFLIGHT_S = '86400';

/** web3.js names itself in `solana-client`; other clients have headers of their own. */
const RPC = { methods: 'POST, OPTIONS', headers: 'content-type, solana-client, *', exposed: 'retry-after' };

/**
 * The calls of customers: the headers of x402 and MPP, and those that calls take. The stock x402 client sends
 * access-control-expose-headers with its request.
 */
const PUBLIC = {
  methods: 'GET, HEAD, POST, OPTIONS',
  headers: [
    ...['content-type', 'accept', 'authorization', 'payment-signature', 'access-control-expose-headers'],
    ...['x-customer-support-code', 'x-passenger-family-name', 'x-payment', 'accept-payment', 'prefer'],
    ...['connect-protocol-version', 'connect-timeout-ms', 'idempotency-key'],
  ].join(', '),
  exposed: [
    ...['payment-required', 'payment-response', 'www-authenticate', 'payment-receipt'],
    ...['retry-after', 'x-request-id', 'x-sponsored-preview'],
  ].join(', '),
};

/** For a page on this machine, such as an inspector of the protocol; /mcp itself refuses other pages. */
const AGENTS = {
  methods: 'POST, OPTIONS',
  headers: 'content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id',
  exposed: 'retry-after, x-request-id',
};

/** Null for paths that are closed to other origins: the operators' desks, and calls with a partner's key. */
function opennessOf(pathname: string) {
  if (pathname === '/rpc' || pathname === '/rpc/') return RPC;
  if (pathname === '/mcp') return AGENTS;
  const isPrivate = /^\/operator(\/|$)|^\/[^/]+\.core\.v1\.partner\.Service\//.test(pathname);
  return isPrivate ? null : PUBLIC;
}

/** Lets pages of any origin call open paths, without a browser's credentials: the caller pays, or sends a key. */
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

const preflight = (openness: typeof PUBLIC, asked: HttpHeaders): HttpHeaders => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': openness.methods,
  'access-control-allow-headers': openness.headers,
  'access-control-max-age': PREFLIGHT_S,
  // Lets a page of the internet call a service on this machine.
  ...('access-control-request-private-network' in asked ? { 'access-control-allow-private-network': 'true' } : {}),
});
