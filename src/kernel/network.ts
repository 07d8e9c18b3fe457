import { isIPv6 } from 'node:net';
import { type Fetch, HttpResponse, readBody } from './http.ts';
import { problem } from './problems.ts';

const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** `unsent`: no connection was made. */
interface NetworkFailure {
  readonly kind: 'unsent' | 'lost';
  /** A word such as ECONNREFUSED; a message could contain addresses or headers. */
  readonly reason: string;
}

/** Sends requests. By default it follows no redirect, which would carry keys, codes and passengers to other hosts. */
export const overNetwork =
  (redirect: 'manual' | 'follow' | 'error' = 'manual', mostBytes = MOST_ANSWER_BYTES): Fetch =>
  async ({ url, body, signal, ...rest }) => {
    const init = { ...rest, redirect, body: body || null, signal: signal ?? null };
    const { status, headers, body: stream } = await fetch(url, init);
    const bytes = await readBody(stream ?? '', mostBytes);
    if (bytes === null) throw problem('unexpected_answer', { message: `${new URL(url).host} answered without end.` });
    return new HttpResponse(status, new TextDecoder().decode(bytes), Object.fromEntries(headers));
  };

/** Connection errors before a byte is sent. */
const NEVER_CONNECTED = /^(UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Unknown errors count as `lost`. */
export function networkFailure(error: unknown): NetworkFailure {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  const isUnsent = causes.length > 0 && causes.every(isConnecting);
  const { code, name } = (causes[0] ?? cause) as { code?: unknown; name?: unknown };
  const word = [code, name].find((one) => typeof one === 'string' && /^\w{1,60}$/.test(one));
  return { kind: isUnsent ? 'unsent' : 'lost', reason: typeof word === 'string' ? word : 'network' };
}

function isConnecting(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo' || NEVER_CONNECTED.test(code ?? '');
}

/** The network that counts as one client: an IPv4 address, or an IPv6 /64. */
export function clientNetwork(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return isIPv6(plain) ? networkOf(plain) : plain;
}

function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
