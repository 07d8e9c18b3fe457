import type { KyselyPlugin } from 'kysely';
import type { Store } from '../../src/service/home.ts';
import type { Cluster } from '../../src/solana/cluster.ts';

export class Died extends Error {
  override readonly name = 'Died';
}

/** A process that dies at its n-th step: from then on nothing that it does reaches the disk or the cluster. */
export function mortal(atStep: number) {
  let steps = 0;
  const step = () => {
    steps++;
    if (steps >= atStep) throw new Died(`at step ${atStep}`);
  };
  // Before a query runs, and after it has run but before its result is known.
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      step();
      return node;
    },
    transformResult: async ({ result }) => {
      step();
      return result;
    },
  };
  const ports = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(from, name, receiver) {
        const value: unknown = Reflect.get(from, name, receiver);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          step();
          const result: unknown = await value.apply(from, given);
          step();
          return result;
        };
      },
    });
  return {
    step,
    died: () => steps >= atStep,
    store: (store: Store): Store => store.withPlugin(plugin),
    cluster: (cluster: Cluster): Cluster => ports(cluster),
    ports,
  };
}
