import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import { x402Facilitator } from '@x402/core/facilitator';
import { x402ResourceServer } from '@x402/core/server';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme as StockClient } from '@x402/svm/exact/client';
import { ExactSvmScheme as StockFacilitator } from '@x402/svm/exact/facilitator';
import { ExactSvmScheme as StockServer } from '@x402/svm/exact/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJsonRpc } from '../../src/solana/json-rpc/index.ts';
import {
  type Challenge,
  challengeOf,
  decoded,
  encoded,
  openShop,
  openWorld,
  payHeader,
  request,
  type World,
} from '../payments/world.ts';
import { webOf } from '../web.ts';

/**
 * `exact` on Solana between our parts and the stock ones, on our cluster: stock client, server and facilitator of x402,
 * from the packages in node_modules; nothing is fetched. The protocol's own end-to-end tests run in its workspace alone.
 */

let world: World;
let server: ServerType;
let url: string;
let stock: x402Facilitator;
let stockPayTo: string;

beforeAll(async () => {
  world = await openWorld();
  const rpc = webOf(createJsonRpc(world.cluster));
  server = serve({
    port: 0,
    async fetch(incoming) {
      const { pathname } = new URL(incoming.url);
      if (pathname === '/rpc') return rpc(incoming);
      if (pathname === '/supported') return Response.json(stock.getSupported());
      const { paymentPayload, paymentRequirements } = (await incoming.json()) as Record<string, never>;
      const isVerify = pathname === '/verify';
      const [payload, wanted] = [paymentPayload as never, paymentRequirements as never];
      return Response.json(isVerify ? await stock.verify(payload, wanted) : await stock.settle(payload, wanted));
    },
  });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fees = await createKeyPairSignerFromPrivateKeyBytes(crypto.getRandomValues(new Uint8Array(32)));
  await world.cluster.airdropSol(fees.address, 1_000_000_000n);
  const signer = toFacilitatorSvmSigner(fees, { defaultRpcUrl: `${url}/rpc` });
  stock = new x402Facilitator().register(world.cluster.network as never, new StockFacilitator(signer));
  stockPayTo = world.treasury.address;
});
afterAll(async () => {
  server.close();
  await world.close();
});

const inProcess = () => ({
  verify: stock.verify.bind(stock),
  settle: stock.settle.bind(stock),
  getSupported: async () => stock.getSupported(),
});

async function stockShop() {
  const shop = new x402ResourceServer(inProcess() as never).register('solana:*', new StockServer());
  await shop.initialize();
  const accepts = await shop.buildPaymentRequirements({
    ...{ scheme: 'exact', payTo: stockPayTo, price: '$0.10', network: world.cluster.network as never },
  });
  const resource = { url: 'http://stock.test/', description: 'A page.', mimeType: 'application/json' };
  return { shop, required: await shop.createPaymentRequiredResponse(accepts, resource) };
}

/** A stock challenge names none; our tool then writes one of its own. */
const MEMO = { memo: 'c0ffee' };

const treasury = () => world.usdc(world.treasury);

test('the payment of our tool is verified and settled by a stock server and a stock facilitator', async () => {
  const { shop, required } = await stockShop();
  const payload = decoded<never>(await payHeader(world.cluster, world.wallet, required as never as Challenge, MEMO));
  const [accepted] = required.accepts;
  expect(shop.findMatchingRequirements(required.accepts, payload)).toEqual(accepted);
  const before = await treasury();
  expect(await shop.verifyPayment(payload, accepted as never)).toMatchObject({ isValid: true });
  const settled = await shop.settlePayment(payload, accepted as never);
  expect(settled).toMatchObject({ success: true, payer: world.wallet.address });
  expect((await treasury()) - before).toBe(100_000n);
});

test('a stock client pays our service, which settles by a stock facilitator', async () => {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const payer = await createKeyPairSignerFromPrivateKeyBytes(seed);
  await world.cluster.airdropUsdc(payer.address, 1_000_000n);
  const client = new x402Client().register('solana:*', new StockClient(payer, { rpcUrl: `${url}/rpc` }));
  const shop = openShop(world, { facilitatorUrl: url });
  const challenge = await challengeOf(shop, '/search', { a: 1 });
  const payment = encoded(await client.createPaymentPayload(challenge as never));
  const before = await treasury();
  const answer = await shop.fetch(request('/search', { a: 1 }, payment));
  expect([answer.status, (await treasury()) - before]).toEqual([200, 100_000n]);
  expect((await shop.fetch(request('/search', { a: 1 }, payment))).status).toBe(200);
  expect((await treasury()) - before).toBe(100_000n);
});

const other = 'HWWLx8FXyfAW2TqiBWxK2qZqJsoqrjFLcSPt8AdTkw5K';

/** What the scheme forbids: the stock facilitator and ours refuse it alike, uncharged. */
test.each([
  ['another amount', { amount: 99_999n }],
  ['another receiver', { payTo: other }],
  ['another fee payer', { feePayer: other }],
  ['another memo', { memo: 'pay_other' }],
])('%s is refused by the stock facilitator and by ours', async (name, change) => {
  const before = await treasury();
  const { shop, required } = await stockShop();
  const [accepted] = required.accepts;
  if (name !== 'another memo') {
    const payload = decoded<never>(
      await payHeader(world.cluster, world.wallet, required as never as Challenge, { ...MEMO, ...change }),
    );
    expect((await shop.verifyPayment(payload, accepted as never)).isValid).toBe(false);
  }
  const ours = openShop(world);
  const payment = await payHeader(world.cluster, world.wallet, await challengeOf(ours, '/search', { a: 1 }), change);
  expect((await ours.fetch(request('/search', { a: 1 }, payment))).status).toBe(402);
  expect(await treasury()).toBe(before);
});
