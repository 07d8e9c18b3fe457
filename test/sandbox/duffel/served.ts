import type { AddressInfo } from 'node:net';
import { httpServer } from '../../../src/cli/commands/serve/index.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import type { Fetch } from '../../../src/kernel/http.ts';
import type { DuffelSandboxOptions } from '../../../src/service/sandbox.ts';
import { openDuffelSandbox } from '../../../src/service/sandbox.ts';
import type { Body, Books, Offer, Offers, Thing } from './shapes.ts';

/** The sandbox of the Duffel API over real HTTP, on a port of its own. */

export interface ServedDuffel {
  readonly url: string;
  /** A call as a client makes it. `body` goes into `data`. */
  call<T = Thing>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
  /** A call of the sandbox's own. */
  admin(path: string, body?: object): Promise<Books>;
  runDue(): Promise<{ worked: number; nextDueAtMs: number | null }>;
  close(): Promise<void>;
}

export interface Answer<T = Thing> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body<T>;
}

export interface ServingOptions extends Omit<DuffelSandboxOptions, 'path' | 'clock' | 'fetch'> {
  readonly clock: Clock;
  readonly path?: string;
  readonly deliver?: Fetch;
}

export async function serveDuffel({ path, deliver, ...options }: ServingOptions): Promise<ServedDuffel> {
  const sandbox = await openDuffelSandbox({ ...options, path: path ?? null, fetch: deliver });
  const server = httpServer((request, incoming) => sandbox.fetch(request, () => incoming.socket.destroy())).listen(
    0,
    '127.0.0.1',
  );
  await new Promise((ready) => server.once('listening', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async call<T>(method: string, path: string, body?: object, headers = {}): Promise<Answer<T>> {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: 'Bearer duffel_test_here',
          'duffel-version': 'v2',
          'content-type': 'application/json',
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify({ data: body }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      return { status: answer.status, headers: answer.headers, body: JSON.parse(isJson ? text : '{}') as Body<T> };
    },
    async admin(path, body) {
      const answer = await fetch(`${url}/sandbox${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return (await answer.json()) as Books;
    },
    runDue: () => sandbox.runDue(),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      sandbox.close();
    },
  };
}

/** Searches, and gives the cheapest offers first, or those of Duffel Airways alone. */
export async function searched(
  duffel: ServedDuffel,
  origin: string,
  destination: string,
  date: string,
  more: object = {},
  only?: 'ZZ',
): Promise<Offers> {
  const search = await duffel.call('POST', '/air/offer_requests?return_offers=false', {
    slices: [{ origin, destination, departure_date: date }],
    passengers: [{ type: 'adult' }],
    ...more,
  });
  const offers = await duffel.call<Offer[]>(
    'GET',
    // They come first where nobody asks for an order.
    `/air/offers?offer_request_id=${search.body.data.id}${only ? '&limit=8' : '&sort=total_amount&limit=200'}`,
  );
  return offers.body.data.filter(({ owner }) => !only || owner.iata_code === only) as Offers;
}

/** An order of an offer by people who can fly. */
export const orderOf = (offer: Offer, reference: string, more: object = {}): object => ({
  type: 'instant',
  selected_offers: [offer.id],
  passengers: offer.passengers.map(({ id }, position) => traveller(id, position)),
  payments: [{ type: 'balance', amount: offer.total_amount, currency: offer.total_currency }],
  metadata: { reference },
  ...more,
});

export const traveller = (id: string, position = 0): object => ({
  id,
  title: 'ms',
  gender: 'f',
  given_name: ['Amelia', 'Bessie', 'Jacqueline'][position] ?? `Pilot ${'abcdefgh'.charAt(position)}`,
  family_name: 'Earhart',
  born_on: '1987-07-24',
  email: 'amelia@example.com',
  phone_number: '+442080160509',
});

/** The first that is as it has to be. */
export function found<T>(list: readonly T[], is: (one: T) => boolean): T {
  const one = list.find(is);
  if (one === undefined) throw new Error(`nothing is as ${is} wants it`);
  return one;
}
