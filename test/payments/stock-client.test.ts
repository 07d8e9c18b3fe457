import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJsonRpc } from '../../src/solana/json-rpc/index.ts';
import { webOf } from '../web.ts';
import { openShop, openWorld, type Shop, type World } from './world.ts';

let world: World;
let shop: Shop;
let server: ServerType;
let url: string;

beforeAll(async () => {
  world = await openWorld();
  shop = openShop(world);
  const rpc = webOf(createJsonRpc(world.cluster));
  server = serve({
    port: 0,
    fetch: (request) => (new URL(request.url).pathname === '/rpc' ? rpc(request) : shop.fetch(request)),
  });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await world.close();
});

test.each(['/search', '/book'])('the stock x402 client pays %s over HTTP', async (path) => {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const signer = await createKeyPairSignerFromPrivateKeyBytes(seed);
  await world.cluster.airdropUsdc(signer.address, 1_000_000n);
  const x402 = new x402HTTPClient(
    new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: `${url}/rpc` })),
  );
  const post = (headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ stock: true }),
    });
  const challenge = await post();
  expect(challenge.status).toBe(402);
  const required = x402.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
  const headers = x402.encodePaymentSignatureHeader(await x402.createPaymentPayload(required));
  const answer = await post(headers);
  expect(answer.status).toBe(200);
  const settled = x402.getPaymentSettleResponse((name) => answer.headers.get(name));
  expect(settled).toMatchObject({ success: true, payer: signer.address });
  const status = await world.cluster.signatureStatus(settled.transaction as never);
  expect(status?.err).toBeNull();
  expect(await world.usdc(signer.address)).toBe(900_000n);
});
