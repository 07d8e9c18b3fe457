import { ESCROW_PROGRAM_ID } from '../escrow/index.ts';
import { type HttpRequest, json } from '../kernel/http.ts';
import { problem, problemBody } from '../kernel/problems.ts';
import { openEmbedded } from './cluster.ts';
import type { ServiceOptions } from './types.ts';

/**
 * Opens the embedded cluster alone: JSON-RPC and faucet; optionally without the escrow program, like a real cluster.
 * @throws Problem `usage` if the ledger of this home carries the program already
 */
export async function openClusterOnly(options: ServiceOptions) {
  const nothing = () => undefined;
  const { cluster, faucet, rpc, pubSub, genesis } = await openEmbedded(options, nothing, nothing);
  if (options.withoutProgram && (await cluster.accounts([ESCROW_PROGRAM_ID]))[0]) {
    await cluster.close();
    throw problem('usage', {
      message: 'The cluster of this home carries the escrow program already.',
      fix: 'Use another home with FARELOCK_HOME, or leave out --without-program.',
    });
  }
  const notFound = () => json(problemBody(problem('not_found', { message: 'Only /rpc is served here.' })), 404);
  return {
    async fetch(request: HttpRequest) {
      const { pathname } = new URL(request.url);
      if (rpc && /^\/rpc\/?$/.test(pathname)) {
        if (request.trail) request.trail.route = '/rpc';
        return rpc(request);
      }
      return pathname === '/health' ? json({ status: 'ok' }) : notFound();
    },
    cluster,
    servedGenesis: genesis,
    faucet,
    pubSub,
    worker: {
      runDue: async () => ({ worked: 0, nextDueAtMs: null }),
      onWake: () => undefined,
      wakeOthers: () => undefined,
      isWoken: () => false,
    },
    trouble: () => null,
    readings: async () => [],
    partnerReady: async () => undefined,
    operatorKeyFile: async () => {
      throw problem('no_operator_key');
    },
    close: () => cluster.close(),
  };
}
