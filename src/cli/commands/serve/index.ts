import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type HttpRequest, HttpResponse, json } from '../../../kernel/http.ts';
import { problem, problemBody } from '../../../kernel/problems.ts';

/** How long the rest of a body is read past that nobody wanted, so that its sender can hear the answer. */
const REST_MS = 500;

type Answer = (request: HttpRequest, incoming: IncomingMessage) => Promise<HttpResponse>;

/**
 * A server of plain requests and answers.
 * @param failed told of a failure that the service could not answer itself: of one that could not even be loaded
 */
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
    // Whoever has sent everything may have left since: his request is whole all the same.
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
