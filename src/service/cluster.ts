import { createHash } from 'node:crypto';
import { join } from 'node:path';
import bs58 from 'bs58';
import { EARLIER_ESCROW_ELFS, ESCROW_PROGRAM_ID, escrowElf } from '../escrow/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { HttpRequest, HttpResponse } from '../kernel/http.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import type { Meter } from '../kernel/meter.ts';
import { once } from '../kernel/once.ts';
import { type EmbeddedCluster, type GenesisProgram, openEmbeddedCluster } from '../solana/embedded/index.ts';
import type { Cluster, ClusterSettings, Faucet } from '../solana/index.ts';
import type { PubSub } from '../solana/pubsub/index.ts';
import type { OnTrouble } from '../store/libsql/index.ts';
import type { ServiceOptions } from './types.ts';

export interface OpenedCluster {
  readonly cluster: Cluster;
  readonly faucet: Faucet | null;
  /** Serves the embedded cluster to other tools; null for a real one, which has its own address. */
  readonly rpc: ((request: HttpRequest) => Promise<HttpResponse>) | null;
  /** The embedded cluster's subscriptions, loaded on first use; null for a real one. */
  readonly pubSub: (() => Promise<PubSub>) | null;
  readonly ledger: EmbeddedCluster | null;
  /** The first block's hash of a real cluster, or of an embedded one served as real; null within a service. */
  readonly genesis: string | null;
}

/** Opens a real cluster. @throws Problem `cluster_failed`, `genesis_unexpected`, `cluster_settings_invalid` */
export async function openRealCluster(
  settings: ClusterSettings,
  own: { readonly clock: Clock; readonly log: Log; readonly meter?: Meter },
): Promise<OpenedCluster> {
  const { openRpcCluster } = await import('../solana/rpc/index.ts');
  const cluster = await openRpcCluster({ ...settings, urls: settings.rpcUrls, ...own });
  return { cluster, faucet: null, rpc: null, pubSub: null, ledger: null, genesis: cluster.genesis };
}

const ESCROW: GenesisProgram = { address: ESCROW_PROGRAM_ID, elf: escrowElf, replaces: EARLIER_ESCROW_ELFS };

/** Makes the hash of the first block of a cluster without the escrow program. */
const ownGenesis = (ledgerId: string): string =>
  bs58.encode(createHash('sha256').update(`genesis ${ledgerId}`).digest());

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
  const genesis = withoutProgram ? ownGenesis(cluster.ledgerId) : null;
  const jsonRpc = once(async () =>
    (await import('../solana/json-rpc/index.ts')).createJsonRpc(cluster, { log, genesis: genesis ?? undefined }),
  );
  const rpc = async (request: HttpRequest) => (await jsonRpc())(request);
  const pubSub = once(async () => (await import('../solana/pubsub/index.ts')).createPubSub(cluster.ledger, { log }));
  return { cluster, faucet: cluster, rpc, pubSub, ledger: cluster, genesis };
}
