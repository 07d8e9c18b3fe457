import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { isProblem, problem, problemBody } from '../../../src/kernel/problems.ts';
import type { Cluster } from '../../../src/solana/cluster.ts';
import { openShop, openWorld, type Shop, shiftedClock } from '../../payments/world.ts';

/** A paid service behind a port, on a cluster and with a facilitator that can be made to lie. */

export type Faults = Partial<Cluster>;

/** A node that gives no answer. */
export const outage = () => Promise.reject(problem('cluster_failed'));

/** Nobody can be asked what became of a transaction. */
export const BLIND: Faults = {
  signatureStatus: outage,
  transaction: outage,
  signaturesWithMemo: outage,
  isAbsent: outage,
  finalizedBlockHeight: outage,
};

/** Settles a payment of a facilitator service; null: the connection is cut without an answer. */
export type Settle = (transaction: string, send: (transaction: string) => Promise<string>) => Promise<Response | null>;

export const settled = (transaction: string): Response => Response.json({ success: true, transaction });
export const refused = (errorReason: string): Response =>
  Response.json({ success: false, errorReason, transaction: '' });

const listening = async (server: ServerType): Promise<string> => {
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

export async function openTill() {
  const clock = shiftedClock();
  const world = await openWorld({ clock });
  let faults: Faults = {};
  /** As a stock facilitator, which keeps no journal: what has landed looks bad to it. */
  const honest: Settle = async (transaction, sends) =>
    sent.has(transaction)
      ? refused('invalid_exact_svm_payload_transaction_simulation_failed')
      : settled(await sends(transaction));
  let settle = honest;
  const cluster: Cluster = new Proxy(world.cluster, {
    get: (real, name) => Reflect.get(faults, name) ?? Reflect.get(real, name),
  });

  /** Adds its signature and sends, as a facilitator service does that keeps no journal. */
  const sent = new Set<string>();
  const send = async (transaction: string): Promise<string> => {
    sent.add(transaction);
    const wire = Buffer.from(transaction, 'base64');
    wire.set(world.feePayer.sign(new Uint8Array(wire.subarray(129))), 1);
    return world.cluster.send(new Uint8Array(wire));
  };
  const facilitator = serve({
    port: 0,
    async fetch(asked, { incoming }) {
      const { pathname } = new URL(asked.url);
      const { network } = world.cluster;
      if (pathname === '/supported') {
        const kinds = [{ x402Version: 2, scheme: 'exact', network, extra: { feePayer: world.feePayer.address } }];
        return Response.json({ kinds, extensions: [], signers: {} });
      }
      const { paymentPayload } = (await asked.json()) as { paymentPayload: { payload: { transaction: string } } };
      if (pathname === '/verify') return Response.json({ isValid: true, payer: world.wallet.address });
      const answer = await settle(paymentPayload.payload.transaction, send);
      if (!answer) {
        incoming.socket.destroy();
        return new Response();
      }
      return answer.ok ? Response.json({ network, ...((await answer.json()) as object) }) : answer;
    },
  });
  const facilitatorUrl = await listening(facilitator);

  let shop: Shop = openShop(world);
  const server = serve({
    port: 0,
    fetch: (request) =>
      shop.fetch(request).catch((error: unknown) => {
        if (!isProblem(error)) throw error;
        const headers = error.retryAfter === undefined ? {} : { 'retry-after': `${error.retryAfter}` };
        return Response.json(problemBody(error), { status: error.status, headers });
      }),
  });
  const url = await listening(server);

  return {
    world,
    clock,
    url,
    /** Where the shop is asked that is open now. */
    shop: () => shop,
    /** Opens another shop, as after a restart, over the same books. */
    open(how: 'in its process' | 'at another address'): Shop {
      const remote = how === 'at another address' ? { facilitatorUrl } : {};
      shop = openShop(world, { cluster, patienceMs: 0, ...remote });
      return shop;
    },
    /** Makes the cluster and the facilitator lie from now on. */
    lie(about: Faults, settles: Settle): void {
      faults = about;
      settle = settles;
    },
    /** Everybody is honest again. */
    heal(): void {
      faults = {};
      settle = honest;
    },
    async post(path: string, body: unknown, payment?: string): Promise<Response> {
      const headers = { 'content-type': 'application/json', ...(payment && { 'PAYMENT-SIGNATURE': payment }) };
      return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    },
    async close() {
      facilitator.close();
      server.close();
      await world.close();
    },
  };
}

export type Till = Awaited<ReturnType<typeof openTill>>;
