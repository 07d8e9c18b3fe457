import { lookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { readBody } from '../../kernel/http.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { OutboundLimits, ResolvedAddress, Resolver } from '../base/index.ts';

/** Azure's internal services answer at this address, although it looks public. */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Checks that an IP address (canonical text, from a resolver or a URL) belongs to the public internet: only global
 * unicast, and no IPv6 address that contains an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), because a
 * gateway on the way could unpack it.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_PLATFORM) return false;
  if (!(parsed instanceof ipaddr.IPv6)) return true;
  // Only 2000::/3 is assigned so far.
  if (((parsed.parts[0] ?? 0) & 0xe000) !== 0x2000) return false;
  const isIsatap = ((parsed.parts[4] ?? 0) & ~0x0200) === 0 && parsed.parts[5] === 0x5efe;
  return !isIsatap;
}

const isLoopbackAddress = (address: string): boolean =>
  ipaddr.isValid(address) && !address.includes('%') && ipaddr.parse(address).range() === 'loopback';

/** The host name of the sandbox platform inside the process. `.invalid` never resolves (RFC 6761). */
export const EMBEDDED_PLATFORM_HOST = 'platform.sandbox.farelock.invalid';

const OUTBOUND_PORTS: readonly number[] = [443, 8443];

export interface GuardRules {
  readonly environment: 'demo' | 'live';
  /** Ports besides 443 and 8443 that the operator allows. */
  readonly extraPorts?: readonly number[];
}

/** A checked address at which a partner may be called. `hostname` has no brackets. */
export interface GuardedUrl {
  readonly kind: 'public' | 'loopback' | 'embedded';
  readonly url: URL;
  readonly hostname: string;
}

const WORDS = {
  not_a_url: 'is not an address that can be read',
  scheme: 'must be https',
  credentials: 'must not carry a user or a password',
  query: 'must not carry a query or a fragment',
  notation: 'must name its host plainly: a domain name in ASCII, or an IP address in its usual form',
  port: 'uses a port that is not allowed (443 and 8443 are)',
  address: 'does not lead to the public internet',
  reserved_host: 'names a host that is reserved for the sandbox',
} as const;

/** Makes the Problem `partner_url_refused`. Its `detail.reason` names the rule; the address is not repeated. */
const urlRefused = (reason: keyof typeof WORDS) =>
  problem('partner_url_refused', { message: `The partner's platform address ${WORDS[reason]}.`, detail: { reason } });

const PLAIN_AUTHORITY = /^[a-z]+:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?(?=\/|$)/i;

/** Host names of the machine itself and of private networks. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa|onion)$/;

/**
 * Checks the address of a partner's platform as written (CONTRACT, section 13), before it is resolved: https, a plain
 * host, no user, ports 443 and 8443 (and those that the operator allows), literal addresses only if public. In a demo,
 * also http to a plain loopback address. @throws Problem `partner_url_refused`
 */
export function checkPartnerUrl(text: string, rules: GuardRules): GuardedUrl {
  if (text.length > 2048 || !URL.canParse(text)) throw urlRefused('not_a_url');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw urlRefused('scheme');
  if (url.username !== '' || url.password !== '' || /^[a-z]+:[\\/]*[^\\/?#]*@/i.test(text))
    throw urlRefused('credentials');
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) throw urlRefused('query');
  // The parser repairs a lot (0x7f.1, ①②⑦, tabs, backslashes). An address that needs repair is refused.
  const written = PLAIN_AUTHORITY.exec(text)?.[1]?.toLowerCase();
  if (written === undefined || /[\s\\\p{Cc}]/u.test(text)) throw urlRefused('notation');
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  if (written !== url.hostname && !isSameIpv6(written, hostname)) throw urlRefused('notation');

  if (hostname === EMBEDDED_PLATFORM_HOST) {
    if (rules.environment !== 'demo' || url.protocol !== 'https:' || url.port !== '') throw urlRefused('reserved_host');
    return { kind: 'embedded', url, hostname };
  }
  if (url.protocol === 'http:') {
    const isLoopback = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '::1';
    if (rules.environment !== 'demo' || !isLoopback) throw urlRefused('scheme');
    if (Number(url.port || 80) < 1024) throw urlRefused('port');
    return { kind: 'loopback', url, hostname };
  }
  if (!OUTBOUND_PORTS.concat(rules.extraPorts ?? []).includes(Number(url.port || 443))) throw urlRefused('port');
  if (isIP(hostname) !== 0) {
    if (!isPublicAddress(hostname)) throw urlRefused('address');
  } else if (LOCAL_NAME.test(hostname) || !hostname.includes('.')) throw urlRefused('address');
  return { kind: 'public', url, hostname };
}

/** Allows an IPv6 address that the parser only shortens (`[2606:4700:0:0::1]`). Any other difference is a disguise. */
const isSameIpv6 = (written: string, hostname: string): boolean =>
  written.startsWith('[') && isIP(hostname) === 6 && !written.includes('.');

export const systemResolver: Resolver = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * Resolves the only addresses to which the caller may connect, so that DNS rebinding, a different answer the next time,
 * achieves nothing. One forbidden address refuses them all. @throws Problem `partner_url_refused`; resolver errors
 */
export async function pinnedAddresses(guarded: GuardedUrl, resolve: Resolver): Promise<readonly ResolvedAddress[]> {
  const family = isIP(guarded.hostname);
  const found = family === 0 ? await resolve(guarded.hostname) : [{ address: guarded.hostname, family }];
  const isAllowed = guarded.kind === 'loopback' ? isLoopbackAddress : isPublicAddress;
  if (found.length === 0 || !found.every(({ address }) => isAllowed(address))) throw urlRefused('address');
  return found;
}

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

export const outboundLimits: OutboundLimits = { connectMs: 2_000, totalMs: 10_000, answerBytes: 256 * 1024 };

export interface OutboundMessage {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of one try. `lost`: the platform may or may not have acted; `unsent`: it was not reached. */
export type Attempt =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter: string | null; readonly body: Uint8Array }
  | { readonly kind: 'lost' | 'unsent'; readonly reason: string }
  /** The answer exceeds the size limit; the platform did act. */
  | { readonly kind: 'oversized'; readonly status: number };

interface AttemptPorts {
  readonly resolve: Resolver;
  readonly limits: OutboundLimits;
  readonly ca?: string | undefined;
}

/**
 * Posts one message to a checked address. Resolves the name once, checks all its addresses, and writes nothing until
 * the socket's peer is one of them. Follows no redirect and keeps no connection.
 * @throws Problem `partner_url_refused` for a name that leads elsewhere
 */
export async function guardedRequest(
  { resolve, limits, ca }: AttemptPorts,
  guarded: GuardedUrl,
  message: OutboundMessage,
  remainingMs: number,
): Promise<Attempt> {
  const abort = new AbortController();
  const connectTimer = setTimeout(() => abort.abort('connect timeout'), Math.min(limits.connectMs, remainingMs));
  const totalTimer = setTimeout(() => abort.abort('timeout'), remainingMs);
  let wasSent = false;
  try {
    const pinned = await raced(pinnedAddresses(guarded, resolve), abort.signal);
    const response = await exchange(guarded, message, pinned, abort.signal, ca, () => {
      wasSent = true;
      clearTimeout(connectTimer);
    });
    const status = response.statusCode ?? 0;
    try {
      const body = await readAnswer(response, limits.answerBytes);
      return { kind: 'answer', status, retryAfter: response.headers['retry-after'] ?? null, body };
    } catch (error) {
      if (error instanceof AnswerTooLarge) return { kind: 'oversized', status };
      throw error;
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (isProblem(error)) throw error;
    return { kind: wasSent ? 'lost' : 'unsent', reason: reasonOf(error, abort.signal) };
  } finally {
    clearTimeout(connectTimer);
    clearTimeout(totalTimer);
  }
}

function exchange(
  guarded: GuardedUrl,
  message: OutboundMessage,
  pinned: readonly ResolvedAddress[],
  signal: AbortSignal,
  ca: string | undefined,
  onSent: () => void,
): Promise<IncomingMessage> {
  const isTls = message.url.protocol === 'https:';
  const options: RequestOptions & { ca?: string; servername?: string } = {
    method: 'POST',
    host: guarded.hostname,
    port: message.url.port || (isTls ? 443 : 80),
    path: message.url.pathname,
    headers: {
      ...message.headers,
      host: message.url.host,
      'content-length': String(Buffer.byteLength(message.body)),
      'accept-encoding': 'identity',
      connection: 'close',
    },
    agent: false,
    lookup: pinnedLookup(pinned),
    signal,
    maxHeaderSize: 16 * 1024,
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = (isTls ? httpsRequest : httpRequest)(options);
    outgoing.on('error', reject);
    outgoing.on('response', resolve);
    outgoing.on('socket', (socket: Socket) => {
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        // Literal addresses never pass through the lookup above, so the peer itself is checked.
        if (!pinned.some(({ address }) => isPeer(socket, address))) {
          outgoing.destroy(new Error('the peer is not an address that was checked'));
          return;
        }
        onSent();
        outgoing.end(message.body);
      });
    });
  });
}

/** Answers every lookup with the checked addresses, whatever the name resolves to now. */
const pinnedLookup =
  (pinned: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = pinned;
    if (options.all === true) callback(null, [...pinned]);
    else callback(null, first?.address ?? '', first?.family);
  };

const canonical = (address: string): string =>
  address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;

const isPeer = (socket: Socket, address: string): boolean =>
  socket.remoteAddress !== undefined && canonical(socket.remoteAddress) === canonical(address);

/** Settles with `work`, or rejects if the signal aborts first: a resolver cannot be stopped, only abandoned. */
function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(String(signal.reason))), { once: true });
    work.then(resolve, reject);
  });
}

/** Finds a short reason for the log, such as ECONNREFUSED; never a message, which could repeat an address. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return String(signal.reason);
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code ?? (error instanceof Error && /peer/.test(error.message) ? 'wrong peer' : 'network error');
}

/**
 * Reads an answer of at most `mostBytes`, compressed as well as decompressed; decompression stops at the limit.
 * @throws AnswerTooLarge; an error if the connection ended before the body did, or the encoding is unknown or broken
 */
async function readAnswer(incoming: IncomingMessage, mostBytes: number): Promise<Uint8Array> {
  const packed = await readBody(incoming, mostBytes);
  if (packed === null) throw new AnswerTooLarge();
  if (!incoming.complete) throw new Error('the answer was cut off');
  const encoding = (incoming.headers['content-encoding'] ?? '').trim().toLowerCase() || 'identity';
  const unpack = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding] : undefined;
  if (!unpack) throw new Error('the answer is packed in an unknown way');
  try {
    return unpack(packed, { maxOutputLength: mostBytes });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? new AnswerTooLarge() : error;
  }
}

const UNPACK: Readonly<Record<string, (packed: Uint8Array, limit: { maxOutputLength: number }) => Uint8Array>> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};
