import type { Fulfiller } from '../../airlines/index.ts';
import { once } from '../../kernel/once.ts';
import { loadWorld, type World } from '../airline/index.ts';
import { isServed } from './flights.ts';
import type { Fulfilment, SandboxLowcostOptions } from './fulfilment.ts';

export { fareMenu, type Leg, type PageFare, shuffled, type Trip, tripsFor } from './flights.ts';

interface SandboxLowcost extends Fulfiller {
  close(): Promise<void>;
}

/** A deterministic world of lowcost carriers, loaded with the first offer. */
export function createSandboxLowcost(options: SandboxLowcostOptions): SandboxLowcost {
  const loaded = once(async (): Promise<{ world: World; fulfilment: Fulfilment }> => {
    const [{ createWorld }, { createFulfilment }] = await Promise.all([loadWorld(), import('./fulfilment.ts')]);
    const world = createWorld(options.seed);
    return { world, fulfilment: createFulfilment(world, options) };
  });
  const ask = async () => (await loaded()).fulfilment;
  return {
    name: 'sandbox lowcost',
    isSandbox: true,
    serves: (query) => query.cabinClass === 'economy' && isServed(query.origin, query.destination),
    quote: async (query, startedAtMs) => (await ask()).quote(query, startedAtMs),
    offer: async (offerId) => (await ask()).offer(offerId),
    menu: async (offerId, openedAtMs) => (await ask()).menu(offerId, openedAtMs),
    book: async (purchase) => (await ask()).book(purchase),
    find: async (reference) => (await ask()).find(reference),
    cancel: async (reference) => (await ask()).cancel(reference),
    async close() {
      await (await loaded.opened())?.fulfilment.close();
    },
  };
}
