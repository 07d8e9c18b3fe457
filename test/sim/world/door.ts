import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpServer } from '../../../src/cli/commands/serve/index.ts';
import type { Serve } from '../../../src/http/router.ts';
import { type HttpRequest, HttpResponse, readBody } from '../../../src/kernel/http.ts';
import { outside } from './machine.ts';

const CALL = 'x-simulated-call';
const MOST_BYTES = 10_000_000;

interface Passing {
  readonly arrived: (request: HttpRequest) => void;
  readonly answer: Promise<HttpResponse>;
}

/**
 * The HTTP door of `serve` before a service, over real sockets. The world waits while bytes are on their way; what the
 * service does with them takes the world's time.
 */
export async function openDoor(serve: Serve): Promise<{ readonly serve: Serve; close(): void }> {
  const passing = new Map<string, Passing>();
  let calls = 0;
  const server = httpServer(async (incoming) => {
    const body = Buffer.from((await readBody(incoming.body, MOST_BYTES)) ?? []).toString('utf8');
    const { [CALL]: id = '', ...headers } = incoming.headers;
    const call = passing.get(id);
    if (!call) return new HttpResponse(500, null);
    call.arrived({ ...incoming, headers, body });
    return call.answer;
  });
  await outside(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  const { port } = server.address() as AddressInfo;

  return {
    async serve(request, connection) {
      const id = String(++calls);
      let give: (answer: HttpResponse) => void = () => undefined;
      const answer = new Promise<HttpResponse>((resolve) => {
        give = resolve;
      });
      const arrived = new Promise<HttpRequest>((resolve) => passing.set(id, { arrived: resolve, answer }));
      const reply = send(port, request, id);
      reply.catch(() => undefined);
      const heard = await outside(() => Promise.race([arrived, reply.then(() => arrived)]));
      const { url } = request;
      give(await serve({ ...heard, url }, connection));
      passing.delete(id);
      return outside(() => reply);
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(port: number, { method, url, headers, body }: HttpRequest, id: string): Promise<HttpResponse> {
  const { pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { port, host: '127.0.0.1', method, path: pathname + search, headers: { ...headers, [CALL]: id } },
      (incoming) => {
        text(incoming).then(
          (said) => resolve(new HttpResponse(incoming.statusCode ?? 0, said, headersOf(incoming))),
          reject,
        );
      },
    );
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : '');
  });
}

async function text(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
