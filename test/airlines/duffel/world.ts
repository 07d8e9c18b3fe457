import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createDuffelProvider, type DuffelOptions } from '../../../src/airlines/duffel/index.ts';
import { openStore } from '../../../src/service/home.ts';
import { manualClock } from '../../clock.ts';
import { goodOffer, TRAVELLER } from './samples.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** `data` of the body. */
  readonly data: unknown;
}

/** `cut`: the connection ends without an answer, after the call was carried out. `half`: in the middle of one. */
export type Told =
  | { readonly status?: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | 'cut'
  | 'half'
  | 'silence';

type Answerer = (asked: Asked) => Told | undefined | Promise<Told | undefined>;

const STARTS_MS = Date.UTC(2026, 10, 21, 9);

export const TOKEN = 'duffel_test_SECRETofTheTests';
export const WEBHOOK_SECRET = 'whsec-of-the-tests';

/** A server that answers what a test tells it, a database of the service, and providers on both. */
export async function duffelWorld(where: string) {
  const asked: Asked[] = [];
  const script: { answer: Answerer; isClosing: boolean } = { answer: () => undefined, isClosing: false };
  const server = createServer((request, response) => void serve(script, asked, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const store = await openStore(where);
  const clock = manualClock(STARTS_MS);
  const lines: string[] = [];
  const options: DuffelOptions = {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    store,
    clock,
    log: (level, event, fields) => void lines.push(JSON.stringify({ level, event, ...fields })),
    webhookSecret: WEBHOOK_SECRET,
    timeoutMs: 30_000,
  };
  let provider = createDuffelProvider(options);
  return {
    get provider() {
      return provider;
    },
    /** Another process: its own memory, the same database. */
    another: (change: Partial<DuffelOptions> = {}) => createDuffelProvider({ ...options, ...change }),
    asked,
    script,
    clock,
    store,
    lines,
    /** Calls of this kind so far. */
    times: (method: string, path: RegExp) => asked.filter((one) => one.method === method && path.test(one.path)).length,
    attempts: () => store.selectFrom('duffel_attempts').selectAll().orderBy('attempt').execute(),
    /** As at the start: nothing asked, nothing on record, limits forgotten. */
    async reset() {
      await store.deleteFrom('duffel_attempts').execute();
      clock.set(STARTS_MS);
      asked.length = 0;
      lines.length = 0;
      provider = createDuffelProvider(options);
      script.answer = () => undefined;
      if (!script.isClosing) return;
      script.isClosing = false;
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    },
    /** Takes no new connection; the one that is being answered ends with its answer. */
    async stopListening() {
      script.isClosing = true;
      server.close();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await store.destroy();
    },
  };
}

export type DuffelWorld = Awaited<ReturnType<typeof duffelWorld>>;

async function serve(
  script: { readonly answer: Answerer; readonly isClosing: boolean },
  asked: Asked[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? '/', 'http://duffel.test');
  const one: Asked = {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    data: text === '' ? undefined : (JSON.parse(text) as { data: unknown }).data,
  };
  asked.push(one);
  const told = (await script.answer(one)) ?? { status: 404, body: 'nothing here' };
  if (told === 'silence') return;
  if (told === 'cut') return void request.socket.destroy();
  const { status = 200, body = {}, headers = {} } = told === 'half' ? {} : told;
  const plain = typeof body === 'string' ? body : JSON.stringify(body);
  const packed = gzipSync(plain);
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/html' : 'application/json',
    'content-encoding': 'gzip',
    'content-length': String(packed.length),
    'x-request-id': `req-${asked.length}`,
    ...(script.isClosing && { connection: 'close' }),
    ...headers,
  });
  if (told === 'half') {
    response.write(packed.subarray(0, 10));
    setTimeout(() => request.socket.destroy(), 20);
    return;
  }
  response.end(packed);
}

/** The offer is there; what is told beside it comes first. */
export const withOffer =
  (also: (asked: Asked) => Told | undefined = () => undefined, offer = () => goodOffer()) =>
  (asked: Asked): Told | undefined =>
    also(asked) ??
    (asked.method === 'GET' && asked.path.startsWith('/air/offers/')
      ? { body: { data: offer() } }
      : asked.method === 'GET' && asked.path === '/air/orders'
        ? { body: { data: [], meta: { after: null } } }
        : undefined);

export const isOrderPost = ({ method, path }: Asked): boolean => method === 'POST' && path === '/air/orders';

export const REQUEST = {
  reference: 'int_1',
  offerId: 'off_1',
  expectedAmountDecimal: '151.2',
  passengers: [TRAVELLER],
};
