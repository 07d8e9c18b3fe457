import { problem } from '../kernel/problems.ts';
import type { Cluster, SolanaNetwork } from './cluster.ts';

/** An answer about the network is good for so long: a minute of a node's calls for one question more. */
const ASKED_AGAIN_MS = 60_000;

/**
 * Holds a real cluster to the network that it was opened as. An address can come to mean another cluster while the
 * service runs: a balancer with a wrong node behind it, a name that was moved. Whatever is signed needs a blockhash
 * and whatever was signed is sent, so the genesis is asked for again before either, at most once a minute.
 * Problems: `cluster_failed` when the network is another one.
 */
export function heldToItsNetwork(
  cluster: Cluster,
  ports: { readonly now: () => number; readonly networkNow: () => Promise<SolanaNetwork> },
): Cluster {
  let askedAtMs = ports.now();
  let asking: Promise<void> | null = null;
  async function ask(): Promise<void> {
    const network = await ports.networkNow();
    if (network !== cluster.network) {
      throw problem('cluster_failed', {
        message: 'The RPC address leads to another Solana cluster than when this service was started.',
        fix: 'Nothing was signed or sent. Check what the address leads to, then start the service again.',
        detail: { opened_as: cluster.network, answers_as: network },
      });
    }
    askedAtMs = ports.now();
  }
  async function same(): Promise<void> {
    if (Math.abs(ports.now() - askedAtMs) < ASKED_AGAIN_MS) return;
    asking ??= ask().finally(() => {
      asking = null;
    });
    await asking;
  }
  return {
    ...cluster,
    async latestBlockhash() {
      await same();
      return cluster.latestBlockhash();
    },
    async send(wire) {
      await same();
      return cluster.send(wire);
    },
  };
}
