import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpRequest, HttpResponse, json } from '../../../kernel/http.ts';
import { problem, problemBody } from '../../../kernel/problems.ts';
import type { CommandContext } from '../../spec/index.ts';

export { accountsIn, airlineSettings } from './airline-settings.ts';

/** Reads on through the rest of a body for this long, so that its sender can receive the answer. */
const REST_MS = 500;
/** Longer than balancers keep an idle connection (60 s): a request would be lost if this side closed first. */
const IDLE_MS = 65_000;

/** Limits for a slow sender (milliseconds): for the headers, for the whole request, and how often both are checked. */
const PATIENCE = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 };

type Answer = (request: HttpRequest, incoming: IncomingMessage) => Promise<HttpResponse>;

/** @param failed gets failures that the service itself could not answer, such as a failed import */
export const httpServer = (
  answer: Answer,
  failed: (error: unknown) => void = () => undefined,
  patience = PATIENCE,
): Server =>
  createServer({ keepAliveTimeout: IDLE_MS, ...patience }, async (incoming, outgoing) => {
    outgoing.once('close', () => letGo(incoming));
    const request = requestOf(incoming, outgoing);
    if (request === null) return write(outgoing, new HttpResponse(400, null));
    const given = await answer(request, incoming).catch((error: unknown) => {
      failed(error);
      return json(problemBody(problem('internal_error')), 500);
    });
    write(outgoing, given);
  });

/** Null if the URL or the Host header is not valid. */
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

/** Keeps the connection for the answer when the body is not read to its end. */
async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* incoming.iterator({ destroyOnReturn: false });
  } catch (error) {
    // The sender left after its last byte: the request is whole.
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

/** Longer answers are cut off: their work is resumable. */
const DRAIN_MS = 25_000;
const STILL_ACCEPTING_MS = 250;
const IDLE_LOOK_MS = 50;

export const STOPPING = 'Stopping after current work. Press Ctrl-C again to stop now.';

export interface Where {
  readonly host: string;
  readonly port: number;
  /** The option that names the port; `--port` if absent. */
  readonly option?: string;
}

/** Waits until a server listens. @returns its origin, for this machine. @throws Problem `usage` */
export async function listening(server: Server, where: Where): Promise<string> {
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
 * Tracks what a server is answering, so that it can stop without cutting off a client. Each answer after the stop is
 * the last of its connection. The server accepts for a moment more, because a connection whose request was not read yet
 * looks idle. Then it waits for its answers to end, within limits.
 * @returns stops the server, which keeps accepting until `heard` has resolved
 */
export function drainable(server: Server): (heard?: Promise<unknown>) => Promise<void> {
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
      // An answer that began before the stop keeps its connection open, and leaves it idle.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
      const last = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      server.close(() => {
        clearInterval(idle);
        clearTimeout(last);
        resolve();
      });
    });
  };
}

function listenProblem(error: NodeJS.ErrnoException, { host, port, option = '--port' }: Where): unknown {
  if (error.code === 'EADDRINUSE') {
    return problem('usage', {
      message: `Port ${port} on ${host} is already in use.`,
      fix: `Choose another ${option}, or port 0 for any free one.`,
    });
  }
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return problem('usage', {
      message: `Cannot listen on ${host}:${port} (${error.code}).`,
      fix: option === '--port' ? 'Choose another --host or --port.' : `Choose another ${option}.`,
    });
  }
  return error;
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Serves a pretend company until a signal to stop, and does its due work meanwhile. */
export async function servePretend(
  { terminal, clock, signal }: CommandContext,
  where: Where,
  company: {
    readonly answer: Answer;
    readonly begun: (url: string) => void;
    /** Does due work. @returns when more is due (epoch ms); null if not known */
    readonly work: () => Promise<number | null>;
    readonly longestSleepMs: number;
    readonly close: () => Promise<void>;
    readonly stopped: string;
  },
): Promise<0> {
  const server = httpServer(company.answer).listen(where.port, where.host);
  const drain = drainable(server);
  company.begun(await listening(server, where));
  const work = async () => {
    while (!signal.aborted) {
      const dueAtMs = await company.work();
      const untilDueMs = dueAtMs === null ? company.longestSleepMs : dueAtMs - clock.now();
      await clock.sleep(Math.min(company.longestSleepMs, Math.max(20, untilDueMs)), signal);
    }
  };
  const working = work();
  await Promise.race([aborted(signal), working]);
  terminal.note(STOPPING);
  await drain();
  await working;
  await company.close();
  terminal.note(`Stopped. ${company.stopped}`);
  return 0;
}
