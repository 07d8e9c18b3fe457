import { join } from 'node:path';
import { NO_LIMITS } from '../../src/client/base/spending.ts';
import { EMBEDDED_TRUST } from '../../src/client/base/trusted-program.ts';
import { createFlightsClient } from '../../src/client/flights.ts';
import { type ClientStore, openClientStore } from '../../src/client/journal/store.ts';
import { createPayer, type PayerPorts } from '../../src/client/payer/payer.ts';
import type { World } from '../payments/world.ts';
import { fetchOver, type WebFetch } from '../web.ts';

/** A client of a fetch, with its own journal in the world's folder. */
export async function openClient(
  world: World,
  fetch: WebFetch,
  change: Partial<PayerPorts> & {
    file?: string;
    baseUrl?: string;
    timeoutMs?: number;
    wrap?: (store: ClientStore) => ClientStore;
  } = {},
) {
  const store = await openClientStore({
    path: join(world.home, change.file ?? 'client.db'),
    secrets: world.secrets,
    clock: world.clock,
    ids: world.ids,
  });
  const payer = createPayer({
    cluster: async () => world.cluster,
    trust: EMBEDDED_TRUST,
    signer: async () => world.wallet,
    journal: async () => change.wrap?.(store) ?? store,
    policy: { limits: NO_LIMITS },
    clock: world.clock,
    ...change,
  });
  const client = createFlightsClient({
    baseUrl: change.baseUrl ?? 'http://shop.test',
    fetch: fetchOver(fetch),
    payer,
    timeoutMs: change.timeoutMs ?? 10_000,
  });
  return { client, payer, store };
}
