import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { createJsonRpc } from '../../src/solana/json-rpc/index.ts';
import { type ManualClock, manualClock } from '../clock.ts';
import { webOf } from '../web.ts';

export interface RpcEndpoint {
  readonly url: string;
  readonly cluster: EmbeddedCluster;
  readonly clock: ManualClock;
  close(): Promise<void>;
}

/** The JSON-RPC of an embedded cluster, a fresh one without a `path`, on a port of its own. */
export async function openRpcEndpoint(
  programs: Parameters<typeof openEmbeddedCluster>[0]['programs'] = [],
  options: { readonly path?: string; readonly startMs?: number } = {},
): Promise<RpcEndpoint> {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-rpc-'));
  const clock = manualClock(options.startMs);
  const path = options.path ?? join(folder, 'ledger.db');
  const cluster = await openEmbeddedCluster({ path, clock, programs });
  const rpc = webOf(createJsonRpc(cluster));
  const server = await new Promise<{ port: number; close: () => Promise<void> }>((resolve) => {
    const listening = serve({ fetch: (request) => rpc(request), port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ port, close: () => new Promise((done) => listening.close(() => done())) }),
    );
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    cluster,
    clock,
    async close() {
      await server.close();
      await cluster.close();
      rmSync(folder, { recursive: true });
    },
  };
}
