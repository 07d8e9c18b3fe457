import type { Fulfiller } from '../../flights/providers/fulfiller.ts';
import type { Scenario } from '../../flights/providers/provider.ts';
import type { Clock } from '../../kernel/clock.ts';
import { once } from '../../kernel/once.ts';
import type { OnTrouble } from '../../store/libsql.ts';
import type { World } from '../airline/world.ts';
import { isServed } from './carriers.ts';
import type { Fulfilment } from './fulfilment.ts';

export { LOWCOST_ROUTES } from './scenarios.ts';

export interface SandboxLowcostOptions {
  /** The same seed is the same world. */
  readonly seed: string;
  readonly clock: Clock;
  readonly scenario?: Scenario | undefined;
  /** From the pay button to the confirmation, milliseconds. */
  readonly ticketingMs: number;
  /** How long quoting takes; opening a fare menu takes half of it. Milliseconds. */
  readonly quotingMs: number;
  /** Path of the sandbox airlines' own database file. Opened with the first purchase. */
  readonly orders: string;
  /** Told of trouble with that file. */
  readonly onTrouble?: OnTrouble | undefined;
}

export interface SandboxLowcost extends Fulfiller {
  close(): Promise<void>;
}

/**
 * The lowcost carriers of the sandbox: a deterministic world that every process with the same seed sees alike. Made
 * with nothing but its options; whatever it needs is loaded when somebody asks for an offer of it.
 */
export function createSandboxLowcost(options: SandboxLowcostOptions): SandboxLowcost {
  const loaded = once(async (): Promise<{ world: World; fulfilment: Fulfilment }> => {
    const [{ createWorld }, { createFulfilment }] = await Promise.all([
      import('../airline/world.ts'),
      import('./fulfilment.ts'),
    ]);
    const world = createWorld(options.seed);
    return { world, fulfilment: createFulfilment(world, options) };
  });
  const ask = async () => (await loaded()).fulfilment;
  return {
    name: 'sandbox lowcost',
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
