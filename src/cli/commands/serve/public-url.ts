import type { HttpHeaders } from '../../../kernel/http.ts';
import { problem } from '../../../kernel/problems.ts';
import { NotASetting, webAddress } from '../../settings/keys-table.ts';

/** The address that a request says it was sent to. */
interface Addressed {
  readonly headers: HttpHeaders;
  /** The connection's own end: Node's socket. */
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly localAddress?: string | undefined;
    readonly localPort?: number | undefined;
  };
}

/**
 * The address under which a service is reached, for what repeats it: a challenge's `resource.url`, the host that a
 * gateway signs, the servers of /openapi.json. A client writes the Host header as it likes, so it is repeated only where
 * it names this server itself; behind a proxy that is trusted the proxy's word counts. Else it is `configured`, or the
 * address that the connection came in at.
 */
export function publicUrlBehind(given: {
  readonly configured: string | undefined;
  readonly isTrusted: (connection: string | undefined) => boolean;
  /** Where the server listens: its host as it was given. */
  readonly host: string;
}): (request: Addressed) => string {
  const { configured, isTrusted } = given;
  if (configured !== undefined) return () => configured;
  return ({ headers, socket }) => {
    const own = `http://${bracketed(plain(socket.localAddress) ?? given.host)}:${socket.localPort ?? 80}`;
    const { host } = headers;
    if (isTrusted(socket.remoteAddress)) {
      const scheme = last(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http';
      return originOf(scheme, last(headers['x-forwarded-host']) ?? host) ?? own;
    }
    const asked = originOf('http', host);
    const names = [given.host, ...(isLoopback(socket.localAddress) ? LOOPBACK_NAMES : [])];
    const known = names.map((name) => originOf('http', `${bracketed(name)}:${socket.localPort ?? 80}`));
    return asked !== null && known.includes(asked) ? asked : (originOf('http', own.slice(7)) ?? own);
  };
}

/** @throws Problem `usage` for what is not an address without query and user */
export function checkedPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    if (!/[?#]/.test(text)) return webAddress(text);
  } catch (error) {
    if (!(error instanceof NotASetting)) throw error;
  }
  throw problem('usage', {
    message: '--public-url (FARELOCK_PUBLIC_URL) is not the address of a service.',
    fix: 'Give it as customers write it, such as https://flights.example.',
  });
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];

const plain = (address: string | undefined): string | undefined => address?.replace(/^::ffff:(?=\d+\.)/i, '');
const isLoopback = (address: string | undefined): boolean => /^(127\.|::1$)/.test(plain(address) ?? '');
const bracketed = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;

/** The last of a list: what the nearest proxy wrote. */
const last = (header: string | undefined): string | undefined =>
  header?.split(',').at(-1)?.trim() || undefined;

/** An origin in its usual form; null for what is no host. */
function originOf(scheme: 'http' | 'https', host: string | undefined): string | null {
  if (host === undefined || !/^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host)) return null;
  return URL.canParse(`${scheme}://${host}`) ? new URL(`${scheme}://${host}`).origin : null;
}
