import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpRequest, HttpResponse, json } from '../../../kernel/http.ts';
import { problem, problemBody } from '../../../kernel/problems.ts';

/** How long the unread rest of a body is read past, so that its sender can hear the answer. */
const REST_MS = 500;

type Answer = (request: HttpRequest, incoming: IncomingMessage) => Promise<HttpResponse>;

/** @param failed gets a failure that the service could not answer itself, as of one that could not be loaded */
export const httpServer = (answer: Answer, failed: (error: unknown) => void = () => undefined): Server =>
  createServer(async (incoming, outgoing) => {
    outgoing.once('close', () => letGo(incoming));
    const request = requestOf(incoming, outgoing);
    if (request === null) return write(outgoing, new HttpResponse(400, null));
    const given = await answer(request, incoming).catch((error: unknown) => {
      failed(error);
      return json(problemBody(problem('internal_error')), 500);
    });
    write(outgoing, given);
  });

/** null for what has no address. */
function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): HttpRequest | null {
  const url = urlOf(incoming);
  if (url === null) return null;
  const gone = new AbortController();
  outgoing.once('close', () => outgoing.writableFinished || gone.abort());
  return {
    method: incoming.method ?? 'GET',
    url,
    headers: Object.fromEntries(
      Object.entries(incoming.headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']),
    ),
    body: chunksOf(incoming),
    signal: gone.signal,
  };
}

function urlOf({ url = '', headers: { host = 'localhost' } }: IncomingMessage): string | null {
  const [path = ''] = url.split('?', 1);
  const isWhole = /^https?:\/\//.test(url);
  if (path.includes('\\') || !(isWhole || path.startsWith('/')) || !/^[\w.:[\]-]+$/.test(host)) return null;
  const whole = isWhole ? url : `http://${host}${url}`;
  return URL.canParse(whole) ? new URL(whole).href : null;
}

/** The body as it comes. Who reads it no further leaves the connection to the answer. */
async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* incoming.iterator({ destroyOnReturn: false });
  } catch (error) {
    // A sender that left after its last byte has made a whole request.
    if (!incoming.complete) throw error;
    const rest: Uint8Array | null = incoming.read();
    if (rest !== null) yield rest;
  }
}

function write(outgoing: ServerResponse, { status, headers, body }: HttpResponse): void {
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  outgoing.writeHead(status, { ...Object.fromEntries(sorted), ...('content-length' in headers ? {} : length) });
  outgoing.end(body ?? undefined);
}

function letGo(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  const end = setTimeout(() => incoming.socket.destroySoon(), REST_MS);
  incoming.once('close', () => clearTimeout(end)).resume();
}

/** Answers that take longer are cut off: what they began is resumable. */
const DRAIN_MS = 25_000;
const STILL_ACCEPTING_MS = 250;
const IDLE_LOOK_MS = 50;

export const STOPPING = 'Stopping after current work. Press Ctrl-C again to stop now.';

interface Stoppable {
  once(event: 'listening', run: () => void): unknown;
  once(event: 'error', run: (error: NodeJS.ErrnoException) => void): unknown;
  prependListener(event: 'request', run: (request: unknown, response: ServerResponse) => void): unknown;
  address(): AddressInfo | string | null;
  close(done: (error?: Error) => void): unknown;
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

interface Where {
  readonly host: string;
  readonly port: number;
}

/** Waits until a server listens. @returns its origin, for this machine. @throws Problem `usage` */
export async function listening(server: Pick<Stoppable, 'once' | 'address'>, where: Where): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (error) => reject(listenProblem(error, where)));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const shown = where.host === '0.0.0.0' || where.host === '::' ? '127.0.0.1' : where.host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

/**
 * Follows what a server is answering, so that it can stop without cutting anybody off. Every answer from then on is the
 * last of its connection. It goes on accepting for a moment: what a client has sent may not have been read yet, and its
 * connection looks idle. Then whoever is answered is waited for, within limits.
 * @returns stops it, and accepts until `heard` as well
 */
export function drainable(server: Stoppable): (heard?: Promise<unknown>) => Promise<void> {
  const answering = new Set<ServerResponse>();
  let isStopping = false;
  server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    response.shouldKeepAlive &&= !isStopping;
    answering.add(response);
    response.once('close', () => answering.delete(response));
  });
  return async (heard) => {
    isStopping = true;
    for (const response of answering) response.shouldKeepAlive = false;
    await heard;
    await sleep(STILL_ACCEPTING_MS);
    await new Promise<void>((resolve) => {
      // A connection whose last answer was begun before is kept open by it, and idle once it has ended.
      const idle = setInterval(() => server.closeIdleConnections?.(), IDLE_LOOK_MS);
      const last = setTimeout(() => server.closeAllConnections?.(), DRAIN_MS);
      server.close(() => {
        clearInterval(idle);
        clearTimeout(last);
        resolve();
      });
    });
  };
}

function listenProblem(error: NodeJS.ErrnoException, { host, port }: Where): unknown {
  if (error.code === 'EADDRINUSE') {
    return problem('usage', {
      message: `Port ${port} on ${host} is already in use.`,
      fix: 'Give another --port, or 0 for any free one.',
    });
  }
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return problem('usage', {
      message: `Cannot listen on ${host}:${port} (${error.code}).`,
      fix: 'Give another --host or --port.',
    });
  }
  return error;
}
