// The peer of the served benchmark: a paid call on the stock x402 server classes with a trivial handler, as their
// documentation would write it, settling through its own facilitator on a cluster.
// node peer-server.mjs <rpc_url> <keypair file of the fee payer> <address that is paid>
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { x402HTTPResourceServer, x402ResourceServer } from '@x402/core/server';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme as FacilitatorScheme } from '@x402/svm/exact/facilitator';
import { ExactSvmScheme as ServerScheme } from '@x402/svm/exact/server';

const [rpcUrl, keypairFile, payTo] = process.argv.slice(2);
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const feePayer = await createKeyPairSignerFromBytes(
  Uint8Array.from(JSON.parse(readFileSync(keypairFile, 'utf8'))),
);
const facilitator = new x402Facilitator().register(
  DEVNET,
  new FacilitatorScheme(toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: rpcUrl })),
);
const local = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported(),
};
const paid = new x402HTTPResourceServer(new x402ResourceServer(local).register(DEVNET, new ServerScheme()), {
  'POST /air/search': {
    accepts: { scheme: 'exact', network: DEVNET, price: '$0.10', payTo },
    description: 'A search',
  },
});
await paid.initialize();

const write = (outgoing, status, headers, body) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
};

async function answer(incoming, outgoing) {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const adapter = {
    getHeader: (name) => incoming.headers[name.toLowerCase()],
    getMethod: () => incoming.method,
    getPath: () => incoming.url,
    getUrl: () => url,
    getAcceptHeader: () => incoming.headers.accept ?? '',
    getUserAgent: () => incoming.headers['user-agent'] ?? '',
    getBody: () => JSON.parse(text),
  };
  const request = {
    adapter,
    path: incoming.url,
    method: incoming.method,
    paymentHeader: incoming.headers['payment-signature'],
  };
  const result = await paid.processHTTPRequest(request);
  if (result.type === 'payment-error') {
    return write(outgoing, result.response.status, result.response.headers, result.response.body);
  }
  const body = JSON.stringify({ offers: [] });
  const settled = await paid.processSettlement(
    result.paymentPayload,
    result.paymentRequirements,
    result.declaredExtensions,
    { request, responseBody: Buffer.from(body) },
  );
  if (!settled.success) {
    return write(outgoing, settled.response.status, settled.response.headers, settled.response.body);
  }
  return write(outgoing, 200, settled.headers, body);
}

const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error) => write(outgoing, 500, {}, { error: String(error) }));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ flights_url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
