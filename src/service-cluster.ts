import { join } from 'node:path';
import { EARLIER_ESCROW_ELFS, escrowElf } from './escrow/elf.ts';
import { ESCROW_PROGRAM_ID } from './escrow/program.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import type { HttpRequest, HttpResponse } from './kernel/http.ts';
import { type Log, silentLog } from './kernel/log.ts';
import { once } from './kernel/once.ts';
import { problem } from './kernel/problems.ts';
import type { ServiceOptions } from './service-types.ts';
import { type Cluster, type Faucet, SOLANA_NETWORKS } from './solana/cluster.ts';
import { type EmbeddedCluster, type GenesisProgram, openEmbeddedCluster } from './solana/embedded/open.ts';
import type { OnTrouble } from './store/libsql/file.ts';

export interface OpenedCluster {
  readonly cluster: Cluster;
  readonly faucet: Faucet | null;
  /** Serves the embedded cluster to other tools; a real one has its own address. */
  readonly rpc: ((request: HttpRequest) => Promise<HttpResponse>) | null;
  /** The embedded cluster's file; null for a real one. */
  readonly ledger: EmbeddedCluster | null;
}

interface ForeignCluster {
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log?: Log | undefined;
  readonly priorityFeeCap?: bigint | undefined;
}

/**
 * A cluster of somebody else's, held to the network that it is on when it is opened.
 * @throws Problem `cluster_failed`
 */
export async function openForeignCluster(given: ForeignCluster): Promise<Cluster> {
  const [{ openRpcCluster }, { heldToItsNetwork }] = await Promise.all([
    import('./solana/rpc/open.ts'),
    import('./solana/same-cluster.ts'),
  ]);
  return heldToItsNetwork(await openRpcCluster(given), {
    now: given.clock.now,
    networkNow: async () => (await openRpcCluster(given)).network,
  });
}

/**
 * The cluster that a service takes money on. Mainnet is refused before a key is made: nothing here sells a flight that
 * exists, so nothing here takes money that does.
 * @throws Problem `sandbox_on_mainnet`, `cluster_failed`
 */
export async function openRealCluster(given: ForeignCluster): Promise<OpenedCluster> {
  const cluster = await openForeignCluster(given);
  if (cluster.network === SOLANA_NETWORKS.mainnet)
    throw problem('sandbox_on_mainnet', { next: ['farelock serve'] });
  return { cluster, faucet: null, rpc: null, ledger: null };
}

const ESCROW: GenesisProgram = {
  address: ESCROW_PROGRAM_ID,
  elf: escrowElf,
  replaces: EARLIER_ESCROW_ELFS,
};

export async function openEmbedded(
  { home, clock = systemClock, log = silentLog, withoutProgram }: ServiceOptions,
  onTrouble: OnTrouble,
  ifMissing: () => void,
): Promise<OpenedCluster & { readonly ledger: EmbeddedCluster }> {
  const cluster = await openEmbeddedCluster({
    path: join(home, 'ledger.db'),
    clock,
    programs: withoutProgram ? [] : [ESCROW],
    onTrouble,
    ifMissing,
  });
  const jsonRpc = once(async () =>
    (await import('./solana/json-rpc/index.ts')).createJsonRpc(cluster, { log }),
  );
  const rpc = async (request: HttpRequest) => (await jsonRpc())(request);
  return { cluster, faucet: cluster, rpc, ledger: cluster };
}
