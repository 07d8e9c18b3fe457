import { STATUS_CODES } from 'node:http';
import { type Fetch, type HttpHeaders, lowerCase } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import type { Profile } from '../settings/index.ts';

/** The cluster of a session as web3.js needs it. */
export interface ClusterDoor {
  rpc(): Promise<{ readonly url: string; readonly fetch: Fetch }>;
  readonly profile: Pick<Profile, 'commitment' | 'webSocketUrl'>;
}

export type WalletConnection = Awaited<ReturnType<typeof connectWallet>>;

/**
 * Connects web3.js to a cluster over any fetch, so that the same code asks the embedded cluster and an RPC provider.
 * Only this function loads web3.js.
 */
export async function connectWallet(session: ClusterDoor) {
  const { url, fetch } = await session.rpc();
  const web3 = await import('@solana/web3.js');
  const connection = new web3.Connection(url, {
    commitment: session.profile.commitment,
    ...(session.profile.webSocketUrl !== null && { wsEndpoint: session.profile.webSocketUrl }),
    disableRetryOnRateLimit: true,
    fetch: platformFetch(fetch),
  });
  return {
    connection,
    key: (address: string) => new web3.PublicKey(address),
    /** Sends one JSON-RPC call that web3.js does not know. */
    call: (method: string, parameters: readonly unknown[]) => rpcCall(url, fetch, method, parameters),
  };
}

/**
 * Imitates the platform's fetch as far as web3.js uses it: it posts text with plain headers, and reads the status and
 * text of the answer. The platform's own classes would load an HTTP client.
 */
const platformFetch =
  (fetch: Fetch) =>
  async (url: Parameters<typeof globalThis.fetch>[0], init: RequestInit = {}): Promise<Response> => {
    const headers = lowerCase(init.headers as HttpHeaders);
    const sent = { method: 'POST', url: String(url), headers, body: String(init.body) };
    const { status, body } = await fetch(sent);
    const ok = status >= 200 && status < 300;
    return { status, ok, statusText: STATUS_CODES[status] ?? '', text: async () => body ?? '' } as Response;
  };

async function rpcCall(url: string, fetch: Fetch, method: string, params: readonly unknown[]): Promise<unknown> {
  const { body } = await fetch({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = JSON.parse(body ?? '') as { result?: unknown; error?: { code?: number; message?: string } };
  if (answer.error) {
    if (answer.error.code === -32601) {
      throw problem('cluster_failed', {
        message: 'This cluster has no faucet for USDC.',
        fix: 'Only the embedded cluster has play money; elsewhere, send USDC to the wallet.',
      });
    }
    throw problem('cluster_failed', { message: `The cluster refused ${method}: ${answer.error.message ?? ''}` });
  }
  return answer.result;
}

/** Awaits a call of web3.js; its error becomes a problem with the first line of the message. */
export async function asked<T>(ask: Promise<T>): Promise<T> {
  try {
    return await ask;
  } catch (error) {
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    if (/fetch failed|ECONNREFUSED|ENOTFOUND|ETIMEDOUT/.test(said)) {
      throw problem('network_unreachable', {
        message: "Can't reach the Solana cluster.",
        fix: 'Check your connection or --rpc-url.',
        cause: error,
      });
    }
    throw problem('cluster_failed', { message: `The cluster refused: ${said}`, cause: error });
  }
}
