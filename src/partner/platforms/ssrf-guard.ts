import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { problem } from '../../kernel/problems.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

/** Where the sandbox platform answers inside the process. `.invalid` is never resolved by anybody (RFC 6761). */
export const EMBEDDED_PLATFORM_HOST = 'platform.sandbox.farelock.invalid';

const OUTBOUND_PORTS: readonly number[] = [443, 8443];

export interface GuardRules {
  readonly environment: 'demo' | 'live';
  /** Ports beyond 443 and 8443 that the operator opened. */
  readonly extraPorts?: readonly number[];
}

/** An address that a partner may be called at. `hostname` is without brackets. */
export interface GuardedUrl {
  readonly kind: 'public' | 'loopback' | 'embedded';
  readonly url: URL;
  readonly hostname: string;
}

type UrlRefusal =
  | 'not_a_url'
  | 'scheme'
  | 'credentials'
  | 'query'
  | 'notation'
  | 'port'
  | 'address'
  | 'reserved_host';

const WORDS: Record<UrlRefusal, string> = {
  not_a_url: 'is not an address that can be read',
  scheme: 'must be https',
  credentials: 'must not carry a user or a password',
  query: 'must not carry a query or a fragment',
  notation: 'must name its host plainly: a domain name in ASCII, or an IP address in its usual form',
  port: 'uses a port that is not allowed (443 and 8443 are)',
  address: 'does not lead to the public internet',
  reserved_host: 'names a host that is reserved for the sandbox',
};

/** @returns Problem `partner_url_refused`, whose `detail.reason` names the rule; the address itself is not repeated. */
const urlRefused = (reason: UrlRefusal) =>
  problem('partner_url_refused', {
    message: `The partner's platform address ${WORDS[reason]}.`,
    detail: { reason },
  });

const PLAIN_AUTHORITY = /^[a-z]+:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?(?=\/|$)/i;
/** Host names of the machine itself and of private networks. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa|onion)$/;

/**
 * Checks the address of a partner's platform as it is written, before anything is resolved: https only, plain host,
 * no user, ports 443 and 8443 (and those the operator opened), a literal address only when it is public. In demo,
 * http to a loopback address that is written as such (CONTRACT, section 13).
 * @throws Problem `partner_url_refused`
 */
export function checkPartnerUrl(text: string, rules: GuardRules): GuardedUrl {
  if (text.length > 2048 || !URL.canParse(text)) throw urlRefused('not_a_url');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw urlRefused('scheme');
  if (url.username !== '' || url.password !== '' || /^[a-z]+:[\\/]*[^\\/?#]*@/i.test(text))
    throw urlRefused('credentials');
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) throw urlRefused('query');
  // The parser forgives a lot (0x7f.1, ①②⑦, tabs, backslashes): what it had to repair is refused, not repaired.
  const written = PLAIN_AUTHORITY.exec(text)?.[1]?.toLowerCase();
  if (written === undefined || /[\s\\\p{Cc}]/u.test(text)) throw urlRefused('notation');
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  if (written !== url.hostname && !isSameIpv6(written, hostname)) throw urlRefused('notation');

  if (hostname === EMBEDDED_PLATFORM_HOST) {
    if (rules.environment !== 'demo' || url.protocol !== 'https:' || url.port !== '')
      throw urlRefused('reserved_host');
    return { kind: 'embedded', url, hostname };
  }
  if (url.protocol === 'http:') {
    const isLoopback = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '::1';
    if (rules.environment !== 'demo' || !isLoopback) throw urlRefused('scheme');
    if (Number(url.port || 80) < 1024) throw urlRefused('port');
    return { kind: 'loopback', url, hostname };
  }
  if (!OUTBOUND_PORTS.concat(rules.extraPorts ?? []).includes(Number(url.port || 443)))
    throw urlRefused('port');
  if (isIP(hostname) !== 0) {
    if (!isPublicAddress(hostname)) throw urlRefused('address');
  } else if (LOCAL_NAME.test(hostname) || !hostname.includes('.')) throw urlRefused('address');
  return { kind: 'public', url, hostname };
}

/** `[2606:4700:0:0::1]` and what the parser makes of it are one address; every other difference is a disguise. */
const isSameIpv6 = (written: string, hostname: string): boolean =>
  written.startsWith('[') && isIP(hostname) === 6 && !written.includes('.');

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds every address of a name; rejects when it has none. */
export type Resolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export const systemResolver: Resolver = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * The addresses that a connection may be made to, and only those: the caller connects to what was checked here, so a
 * name that answers differently the next time (rebinding) gains nothing. One address that is not public refuses all.
 * @throws Problem `partner_url_refused`; what the resolver throws
 */
export async function pinnedAddresses(
  guarded: GuardedUrl,
  resolve: Resolver,
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(guarded.hostname);
  const found = family === 0 ? await resolve(guarded.hostname) : [{ address: guarded.hostname, family }];
  const isAllowed = guarded.kind === 'loopback' ? isLoopbackAddress : isPublicAddress;
  if (found.length === 0 || !found.every(({ address }) => isAllowed(address))) throw urlRefused('address');
  return found;
}
