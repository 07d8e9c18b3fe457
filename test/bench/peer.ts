import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSolanaRpcFromTransport,
  generateKeyPairSigner,
  type RpcTransport,
  type RpcTransportDevnet,
} from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { x402HTTPResourceServer, x402ResourceServer } from '@x402/core/server';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import type { HttpRequest } from '../../src/kernel/http.ts';
import { openClusterOnly } from '../../src/service/cluster-only.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';

/**
 * The peer of the benchmark: the stock x402 server classes and the stock facilitator in one process, with a handler that
 * does nothing, on an embedded cluster of its own in the same process, which it asks by JSON-RPC without a socket. It has
 * no journal: it forgets what it was paid for. FARELOCK_HOME is the folder of its ledger.
 */

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const PATH = '/air/search';

const cluster = await openClusterOnly({ home: process.env.FARELOCK_HOME ?? '' });
const transport: RpcTransport = async <Answer>({ payload }: { readonly payload: unknown }) => {
  const body = JSON.stringify(payload, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
  const answer = await cluster.fetch({ method: 'POST', url: 'http://peer/rpc', headers: JSON_TYPE, body });
  return JSON.parse(answer.body ?? '') as Answer;
};
const JSON_TYPE = { 'content-type': 'application/json' };

const [feePayer, treasury] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
await cluster.faucet?.airdropSol(feePayer.address, 10_000_000_000n);
await cluster.faucet?.airdropUsdc(treasury.address, 1n);

const facilitator = registerExactSvmScheme(new x402Facilitator(), {
  signer: toFacilitatorSvmSigner(feePayer, { [DEVNET]: createSolanaRpcFromTransport(transport as RpcTransportDevnet) }),
  networks: DEVNET,
});
const resources = new x402ResourceServer({
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<SupportedOf>>,
}).register(DEVNET, new ExactSvmScheme());
await resources.initialize();
const charged = new x402HTTPResourceServer(resources, {
  [`POST ${PATH}`]: {
    accepts: {
      scheme: 'exact',
      network: DEVNET,
      payTo: treasury.address,
      price: { asset: DEVNET_USDC, amount: '100000' },
    },
    description: 'A search that finds nothing',
    mimeType: 'application/json',
  },
});

type SupportedOf = ConstructorParameters<typeof x402ResourceServer>[0] extends infer Given
  ? Extract<Given, { getSupported: unknown }>['getSupported']
  : never;

async function search(incoming: IncomingMessage, body: string): Promise<Answer> {
  const header = (name: string) => {
    const value = incoming.headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  };
  const context = {
    adapter: {
      getHeader: header,
      getMethod: () => 'POST',
      getPath: () => PATH,
      getUrl: () => `http://${incoming.headers.host}${PATH}`,
      getAcceptHeader: () => header('accept') ?? '',
      getUserAgent: () => header('user-agent') ?? '',
      getBody: (): unknown => JSON.parse(body),
    },
    path: PATH,
    method: 'POST',
  };
  const result = await charged.processHTTPRequest(context);
  if (result.type === 'payment-error') return result.response;
  if (result.type !== 'payment-verified') return { status: 500, headers: {} };
  const answer = { offers: [] };
  const settled = await charged.processSettlement(
    result.paymentPayload,
    result.paymentRequirements,
    result.declaredExtensions,
    { request: context, responseBody: Buffer.from(JSON.stringify(answer)) },
  );
  return settled.success ? { status: 200, headers: settled.headers, body: answer } : settled.response;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of incoming) body += chunk;
  if (incoming.url === PATH) {
    const { status, headers, body: document } = await search(incoming, body);
    outgoing.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(document ?? {}));
    return;
  }
  const request: HttpRequest = { method: 'POST', url: `http://peer${incoming.url}`, headers: JSON_TYPE, body };
  const { status, body: text, headers } = await cluster.fetch(request);
  outgoing.writeHead(status, headers).end(text ?? '');
}

const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    outgoing.writeHead(500).end();
  });
}).listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
