import type { Payer } from '../client/payer/payer.ts';
import type { ClientStore } from '../client/store.ts';
import type { SpendingPolicy } from '../client/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Cluster } from '../solana/cluster.ts';
import type { Signer } from '../solana/keypair.ts';
import { usdcMintOf } from './usdc.ts';

/** A payer that is loaded, with its wallet, cluster and journal, by the first paid call: reads pay for nothing. */
export function openPayer(ports: {
  readonly wallet: () => Promise<Signer>;
  readonly cluster: () => Promise<Cluster>;
  readonly store: () => Promise<ClientStore>;
  readonly policy: SpendingPolicy;
  readonly clock: Clock;
}): Payer {
  return {
    async send(exchange, patience, options) {
      const { createPayer } = await import('../client/payer/payer.ts');
      const { network } = await ports.cluster();
      const payer = createPayer({
        cluster: ports.cluster,
        signer: ports.wallet,
        journal: ports.store,
        policy: ports.policy,
        network,
        usdcMint: usdcMintOf(network),
        clock: ports.clock,
      });
      return payer.send(exchange, patience, options);
    },
  };
}
