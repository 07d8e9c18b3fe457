import type { Clock } from '../../src/kernel/clock.ts';
import { type Cluster, SOLANA_NETWORKS } from '../../src/solana/cluster.ts';
import type { EmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { createJsonRpc } from '../../src/solana/json-rpc/index.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { signatureOf } from '../../src/solana/transaction.ts';
import { webOf } from '../web.ts';

export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}
export interface RpcAnswer {
  readonly jsonrpc: string;
  readonly id: unknown;
  result?: unknown;
  error?: unknown;
}
/** Answers a call as it likes; `honest` is what the cluster says, `host` the address that was asked. */
export type Lie = (
  call: RpcCall,
  honest: () => Promise<RpcAnswer>,
  host?: string,
) => RpcAnswer | Response | Promise<RpcAnswer | Response>;

/**
 * A proxy in front of the embedded cluster's JSON-RPC that tells what it is told to tell, and a real cluster over it,
 * or over several addresses of it.
 * Waiting takes no time: it moves the world's clock.
 */
export async function openLyingCluster(
  world: { readonly cluster: EmbeddedCluster; readonly clock: Pick<Clock, 'now'> },
  advance: (ms: number) => void,
  {
    urls = ['http://rpc.test/'],
    ...options
  }: Partial<Omit<Parameters<typeof openRpcCluster>[0], 'clock' | 'fetch'>> & { tell?: Lie } = {},
) {
  const handler = webOf(createJsonRpc(world.cluster));
  const liar = {
    tell: options.tell ?? (((_call, honest) => honest()) as Lie),
    asked: [] as string[],
    /** The host of each, too. */
    heard: [] as { readonly host: string; readonly call: RpcCall }[],
  };
  const fetching: typeof fetch = async (url, init) => {
    const { host } = new URL(String(url));
    const call = JSON.parse(String(init?.body)) as RpcCall;
    liar.asked.push(call.method);
    liar.heard.push({ host, call });
    const honest = async () => {
      const request = new Request('http://rpc.test/', { method: 'POST', body: String(init?.body) });
      return (await (await handler(request)).json()) as RpcAnswer;
    };
    const answer = await (async () => liar.tell(call, honest, host))().catch((error: Error) => {
      // A mistake in a lie would look like a broken network, and a test would pass for the wrong reason.
      if (error.message !== 'fetch failed') queueMicrotask(() => Promise.reject(error));
      throw error;
    });
    return answer instanceof Response ? answer : Response.json(answer);
  };
  const cluster: Cluster = await openRpcCluster({
    network: SOLANA_NETWORKS.devnet,
    ...options,
    urls,
    fetch: fetching,
    clock: { now: world.clock.now, sleep: async (ms) => advance(ms) },
  });
  return Object.assign(liar, { cluster, fetch: fetching });
}

export const sentSignature = ({ params }: RpcCall): string =>
  signatureOf(new Uint8Array(Buffer.from(String(params[0]), 'base64')));

/** An answer with a context, to be changed in place. */
export const told = <T = unknown[]>(answer: RpcAnswer) => answer.result as { context: { slot: number }; value: T };

export const said = (call: RpcCall, result: unknown): RpcAnswer => ({ jsonrpc: '2.0', id: call.id, result });
export const troubled = (call: RpcCall, code: number, message = 'trouble'): RpcAnswer => ({
  jsonrpc: '2.0',
  id: call.id,
  error: { code, message },
});

/**
 * Forgets one signature: statuses and transactions say null, sends are swallowed, heights go on. `alsoHistory` takes it
 * out of the histories of accounts, too.
 */
export function forgetting(signature: () => string | null, alsoHistory: boolean): Lie {
  return async (call, honest) => {
    const gone = signature();
    if (gone === null) return honest();
    if (call.method === 'sendTransaction') return said(call, sentSignature(call));
    if (call.method === 'getTransaction' && call.params[0] === gone) return said(call, null);
    const answer = await honest();
    if (call.method === 'getSignatureStatuses') {
      const asked = call.params[0] as string[];
      const { value } = told(answer);
      told(answer).value = asked.map((one, place) => (one === gone ? null : value[place]));
    }
    if (call.method === 'getSignaturesForAddress' && alsoHistory) {
      answer.result = (answer.result as { signature: string }[]).filter(({ signature: one }) => one !== gone);
    }
    return answer;
  };
}

/** Numbers that look random and are the same in every run. */
export function seeded(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
