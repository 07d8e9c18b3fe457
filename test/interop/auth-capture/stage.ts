import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { x402Facilitator } from '@x402/core/facilitator';
import { HTTPFacilitatorClient, x402HTTPResourceServer } from '@x402/core/http';
import { x402ResourceServer } from '@x402/core/server';
import { ESCROW_PROGRAM_ID, escrowElf, readEscrow } from '../../../src/escrow/index.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import {
  authCaptureClient,
  authCaptureFacilitator,
  authCaptureServer,
  memoryStore,
  type Store,
} from '../../../src/payments/auth-capture/index.ts';
import { openEmbeddedCluster } from '../../../src/solana/embedded/index.ts';
import {
  associatedTokenAddress,
  type Cluster,
  DEVNET_USDC,
  type Signer,
  signerFromSeed,
} from '../../../src/solana/index.ts';
import { createJsonRpc } from '../../../src/solana/json-rpc/index.ts';
import { webOf } from '../../web.ts';

/**
 * A client, a server and a facilitator of `@x402/core`, as they come, each behind a port of its own, with the plug-ins of
 * `auth-capture` and a cluster that executes the escrow program.
 */

export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
export const PRICE = 150_000n;
export const FUNDS = 1_000_000n;

export const seedOf = (name: string): Uint8Array => createHash('sha256').update(name).digest();
export const keyOf = (name: string): Signer => signerFromSeed(seedOf(name));

export function movableClock(): Clock & { move(seconds: number): void } {
  let aheadMs = 0;
  return {
    now: () => Date.now() + aheadMs,
    sleep: systemClock.sleep,
    move: (seconds) => {
      aheadMs += seconds * 1000;
    },
  };
}

type Answering = (request: Request) => Promise<Response>;

async function listening(fetch: Answering) {
  const server = serve({ port: 0, fetch });
  await new Promise((resolve) => server.once('listening', resolve));
  const close = () => new Promise((resolve) => server.close(resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** What happens to calls of the cluster: tests break them. */
export type Faults = Partial<Pick<Cluster, 'send' | 'signatureStatus' | 'accounts'>> & {
  serverStore?: Store['update'];
};

function facilitatorOver(cluster: Cluster, faults: Faults, store: Store, clock: Clock) {
  const faulty = new Proxy(cluster, { get: (target, name) => faults[name as 'send'] ?? target[name as keyof Cluster] });
  const scheme = authCaptureFacilitator({
    ...{ cluster: faulty, clock, store, feePayer: keyOf('fee payer'), operators: [keyOf('operator')] },
    ...{ programs: [ESCROW_PROGRAM_ID], mostHoldsPerPayer: 40 },
  });
  const stock = new x402Facilitator().register(NETWORK, scheme);
  const answer: Answering = async (request) => {
    const path = new URL(request.url).pathname;
    if (path === '/supported') return Response.json(stock.getSupported());
    const { paymentPayload, paymentRequirements } = (await request.json()) as { [name: string]: never };
    const asked = [paymentPayload as never, paymentRequirements as never] as const;
    return Response.json(await (path === '/verify' ? stock.verify(...asked) : stock.settle(...asked)));
  };
  return { scheme, stock, answer };
}

export type Handler = (request: Request) => Promise<Response>;

/** A shop: the core's own HTTP half around a handler, as its middlewares have it. */
function shopOf(stock: x402HTTPResourceServer, handlerOf: () => Handler): Answering {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const adapter = {
      getHeader: (name: string) => request.headers.get(name) ?? undefined,
      getMethod: () => request.method,
      getPath: () => pathname,
      getUrl: () => request.url,
      getAcceptHeader: () => 'application/json',
      getUserAgent: () => 'test',
    };
    const context = { adapter, path: pathname, method: request.method };
    const asked = await stock.processHTTPRequest(context);
    if (asked.type === 'no-payment-required') return handlerOf()(request);
    if (asked.type === 'payment-error')
      return Response.json(asked.response.body ?? {}, {
        status: asked.response.status,
        headers: asked.response.headers,
      });
    const { paymentPayload, paymentRequirements, declaredExtensions, beforeHandlerSettlement } = asked;
    const work = await handlerOf()(request).catch((error: unknown) => Response.json(`${error}`, { status: 500 }));
    if (work.status >= 400) {
      const cancelled = await asked.cancellationDispatcher.cancel({
        reason: 'handler_failed',
        responseStatus: work.status,
      });
      const receipt = stock.createFailurePathSettlementHeaders(cancelled, beforeHandlerSettlement, paymentPayload);
      return new Response(await work.text(), { status: work.status, headers: receipt ?? {} });
    }
    const transport = { request: context, responseHeaders: Object.fromEntries(work.headers) };
    const settled = await stock.processSettlement(
      ...([
        paymentPayload,
        paymentRequirements,
        declaredExtensions,
        transport,
        undefined,
        beforeHandlerSettlement,
      ] as const),
    );
    if (!settled.success)
      return Response.json(settled.response.body ?? {}, {
        status: settled.response.status,
        headers: settled.response.headers,
      });
    return new Response(await work.text(), { status: work.status, headers: settled.headers });
  };
}

export async function openStage() {
  const clock = movableClock();
  const home = mkdtempSync(join(tmpdir(), 'farelock-auth-capture-'));
  const programs = [{ address: ESCROW_PROGRAM_ID, elf: escrowElf }];
  const cluster = await openEmbeddedCluster({ path: join(home, 'ledger.db'), clock, programs });
  const people = {
    feePayer: keyOf('fee payer'),
    operator: keyOf('operator'),
    payTo: keyOf('shop'),
    authorizer: keyOf('authorizer'),
  };
  await cluster.airdropSol(people.feePayer.address, 1_000_000_000n);
  await cluster.airdropUsdc(people.payTo.address, 0n);

  const faults: Faults = {};
  const stores = { facilitator: memoryStore(), server: memoryStore() };
  const serverStore: Store = {
    ...stores.server,
    update: (key, change) => (faults.serverStore ?? stores.server.update)(key, change),
  };
  let facilitator = facilitatorOver(cluster, faults, stores.facilitator, clock);
  /** Loses the answer of a call after it was done. */
  const lost = { next: 0 };
  const atFacilitator = await listening(async (request) => {
    const answer = await facilitator.answer(request);
    if (request.url.endsWith('/settle') && lost.next > 0 && --lost.next === 0)
      return new Response('gone', { status: 502 });
    return answer;
  });
  const rpc = await listening(webOf(createJsonRpc(cluster)));

  const remote = new HTTPFacilitatorClient({ url: atFacilitator.url });
  const plugin = authCaptureServer({
    ...{ authorizer: people.authorizer, store: serverStore, facilitator: remote, rpcUrl: rpc.url },
    ...{ captureSeconds: 3_600, refundSeconds: 86_400, now: clock.now },
  });
  const core = new x402ResourceServer(remote).register(NETWORK, plugin);
  const accepts = {
    scheme: 'auth-capture',
    network: NETWORK,
    payTo: people.payTo.address,
    price: '$0.15',
    maxTimeoutSeconds: 60,
  } as const;
  const routes = {
    'POST /report': { accepts },
    'POST /later': { accepts: { ...accepts, extra: { captureMode: 'deferred' } } },
  };
  const stock = new x402HTTPResourceServer(core, routes);
  await stock.initialize();
  const work: { handler: Handler; done: number } = { handler: async () => Response.json({ done: true }), done: 0 };
  const shop = await listening(
    shopOf(stock, () => async (request) => {
      work.done += 1;
      return work.handler(request);
    }),
  );

  let buyers = 0;
  async function buyer() {
    const wallet = keyOf(`buyer ${++buyers}`);
    await cluster.airdropUsdc(wallet.address, FUNDS);
    const scheme = authCaptureClient({
      signer: wallet,
      programs: [ESCROW_PROGRAM_ID],
      rpcUrl: rpc.url,
      now: clock.now,
    });
    const http = new x402HTTPClient(new x402Client().register('solana:*', scheme));
    const ask = (path: string, headers: Record<string, string> = {}) =>
      fetch(shop.url + path, { method: 'POST', headers });
    const challenge = async (path: string) => {
      const unpaid = await ask(path);
      const body: unknown = await unpaid.json();
      return { unpaid, required: http.getPaymentRequiredResponse((name) => unpaid.headers.get(name), body) };
    };
    const send = async (path: string, payment: Record<string, string>) => {
      const answer = await ask(path, payment);
      const settled = answer.headers.has('payment-response')
        ? http.getPaymentSettleResponse((name) => answer.headers.get(name))
        : null;
      return { status: answer.status, settled, body: await answer.text() };
    };
    return {
      wallet,
      challenge,
      send,
      async pays(path: string) {
        const { required } = await challenge(path);
        const payload = await http.createPaymentPayload(required);
        const payment = http.encodePaymentSignatureHeader(payload);
        return { payload, payment, salt: `${payload.payload.salt}`, ...(await send(path, payment)) };
      },
      async signs(path: string) {
        const payload = await http.createPaymentPayload((await challenge(path)).required);
        return { payload, payment: http.encodePaymentSignatureHeader(payload), salt: `${payload.payload.salt}` };
      },
    };
  }

  const usdc = async (owner: { readonly address: string }) =>
    (await cluster.tokenBalance(await associatedTokenAddress(owner.address as never, DEVNET_USDC))) ?? 0n;
  return {
    ...{ cluster, clock, people, faults, lost, plugin, work, remote, buyer, usdc, stores, shop, rpc },
    lamports: async (owner: Signer) => (await cluster.accounts([owner.address]))[0]?.lamports ?? 0n,
    escrow: (address: string) => readEscrow(cluster, address as never, [ESCROW_PROGRAM_ID]),
    tidy: () => facilitator.scheme.tidy(),
    /** What another process of server and facilitator, over the same rows, does with a hold. */
    beside: () => {
      const other = facilitatorOver(cluster, faults, stores.facilitator, clock).stock;
      return authCaptureServer({
        authorizer: people.authorizer,
        store: serverStore,
        facilitator: other,
        now: clock.now,
      }).lifecycle;
    },
    /** The facilitator's process ends and another one begins: its rows are what is left. */
    restart() {
      facilitator = facilitatorOver(cluster, faults, stores.facilitator, clock);
    },
    async close() {
      for (const one of [shop, atFacilitator, rpc]) await one.close();
      await cluster.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;
