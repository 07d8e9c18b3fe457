import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server in front of a service: it passes calls on, and may keep the answer of a paid one to itself. */

export interface Passed {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What becomes of a paid call. `pass` carries it out; null: no answer ever comes; a throw cuts the connection. */
export type Misbehaviour = (pass: () => Promise<Passed>) => Promise<Passed | null>;

export async function openMisbehaving(target: () => string) {
  let misbehave: Misbehaviour = (pass) => pass();
  const signatures = new Set<string>();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const method = request.method ?? 'GET';
    const pass = async (): Promise<Passed> => {
      const answered = await fetch(target() + request.url, {
        method,
        headers: headers as Record<string, string>,
        ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
      });
      const { 'content-encoding': _coded, ...kept } = Object.fromEntries(answered.headers);
      return { status: answered.status, headers: kept, body: await answered.text() };
    };
    const payment = headers['payment-signature'];
    if (typeof payment === 'string') signatures.add(payment);
    const given = await (typeof payment === 'string' ? misbehave(pass) : pass());
    // The connection stays open: it is the customer who gives up.
    if (!given) return;
    const { 'transfer-encoding': _chunked, 'content-length': _given, ...rest } = given.headers;
    response.writeHead(given.status, rest).end(given.body);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** All payments that were ever sent. */
    signatures,
    behave(how: Misbehaviour = (pass) => pass()): void {
      misbehave = how;
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type Misbehaving = Awaited<ReturnType<typeof openMisbehaving>>;

const bare = (status: number): Passed => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html>upstream</html>',
});

/** Once without an answer in time; cut off from then on, so that a test does not wait each time. */
function lost(first: (answer: Passed) => Promise<Passed | null>): Misbehaviour {
  let times = 0;
  return async (pass) => {
    const answer = await pass();
    if (times++ > 0) throw new Error('cut');
    return first(answer);
  };
}

const SLOW_MS = 700;

/** The modes in which the money has moved, and the answer does not say so. */
export const LOSSES = {
  'accepted, then timed out': () => lost(async () => null),
  'a 5xx after settling': () => async (pass) => {
    await pass();
    return bare(502);
  },
  'a second 402 after settling': () => async (pass) =>
    challenged('payment_settlement_failed: the facilitator did not answer', await pass()),
  'a slow answer': () =>
    lost(async (answer) => {
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return answer;
    }),
} satisfies Record<string, () => Misbehaviour>;

/** A challenge as the service gives it, for a payment that it has settled. */
function challenged(error: string, paid: Passed): Passed {
  const header = paid.headers['payment-response'];
  const response = JSON.parse(Buffer.from(header ?? 'e30=', 'base64').toString()) as Record<string, string>;
  const challenge = {
    x402Version: 2,
    error,
    resource: { url: 'http://shop.test/air/search' },
    accepts: [
      {
        scheme: 'exact',
        network: response.network,
        asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
        amount: '100000',
        payTo: response.payer,
        maxTimeoutSeconds: 60,
        extra: { feePayer: response.payer, memo: 'another', quote: 'another' },
      },
    ],
  };
  const body = JSON.stringify(challenge);
  return {
    status: 402,
    headers: { 'content-type': 'application/json', 'payment-required': Buffer.from(body).toString('base64') },
    body,
  };
}
