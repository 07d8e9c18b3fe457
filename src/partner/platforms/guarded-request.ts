import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { isProblem } from '../../kernel/problems.ts';
import { type GuardedUrl, pinnedAddresses, type ResolvedAddress, type Resolver } from './ssrf-guard.ts';

/** An answer of more bytes than are read. */
class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** The limits of one outbound call (CONTRACT, section 13). */
export interface OutboundLimits {
  /** To resolve, connect and agree on TLS. */
  readonly connectMs: number;
  /** Over all tries. */
  readonly totalMs: number;
  /** Of answer, as sent and as unpacked. */
  readonly answerBytes: number;
}

export const outboundLimits: OutboundLimits = {
  connectMs: 2_000,
  totalMs: 10_000,
  answerBytes: 256 * 1024,
};

interface OutboundMessage {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of one try. `lost`: the platform may or may not have acted; `unsent`: it was not reached. */
export type Attempt =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfter: string | null;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'lost' | 'unsent'; readonly reason: string }
  /** The answer broke a limit and was not read on; the platform did act. */
  | { readonly kind: 'oversized'; readonly status: number };

interface AttemptPorts {
  readonly resolve: Resolver;
  readonly limits: OutboundLimits;
  /** Certificates to trust beyond the system's (tests). */
  readonly ca?: string | undefined;
}

/**
 * Posts one message to a checked address. The name is resolved once, every address it has is checked, and the socket
 * may reach only those; nothing is written before the socket's own peer is one of them. No redirect is followed and
 * no connection is kept.
 * @throws Problem `partner_url_refused` when the name leads elsewhere than it may
 */
export async function guardedRequest(
  { resolve, limits, ca }: AttemptPorts,
  guarded: GuardedUrl,
  message: OutboundMessage,
  remainingMs: number,
): Promise<Attempt> {
  const abort = new AbortController();
  const connectTimer = setTimeout(
    () => abort.abort('connect timeout'),
    Math.min(limits.connectMs, remainingMs),
  );
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
        // Literals never pass through the lookup above: the peer itself is what counts.
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

/** Answers every question with what was checked, whatever the name says now. */
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

/** Settles with `work`, or rejects when the signal aborts first: a resolver cannot be stopped, only left. */
function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(String(signal.reason))), { once: true });
    work.then(resolve, reject);
  });
}

/** A word for the log: codes such as ECONNREFUSED, never a message that could repeat an address. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return String(signal.reason);
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code ?? (error instanceof Error && /peer/.test(error.message) ? 'wrong peer' : 'network error');
}

interface Incoming extends Readable {
  readonly headers: { readonly 'content-encoding'?: string | undefined };
  readonly complete: boolean;
}

/**
 * Reads an answer of at most `mostBytes`, as it is sent and as it unpacks: a small packed body that grows without
 * end is cut off as soon as it passes the limit.
 * @throws AnswerTooLarge; an error when the connection ended before the body did, or the packing is unknown or broken
 */
async function readAnswer(incoming: Incoming, mostBytes: number): Promise<Uint8Array> {
  const packed = await collected(incoming, mostBytes);
  if (!incoming.complete) throw new Error('the answer was cut off');
  const stream = unpackerOf(incoming.headers['content-encoding'] ?? '');
  if (stream === undefined) throw new Error('the answer is packed in an unknown way');
  if (stream === null) return packed;
  stream.end(packed);
  return collected(stream, mostBytes);
}

/** null: as it is; undefined: a packing that is not known. */
function unpackerOf(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

async function collected(stream: Readable, mostBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    // Leaving the loop destroys the stream.
    if (length > mostBytes) throw new AnswerTooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
