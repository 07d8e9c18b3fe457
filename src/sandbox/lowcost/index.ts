import type { Fulfiller } from '../../airlines/index.ts';
import { once } from '../../kernel/once.ts';
import { isServed } from './flights.ts';
import type { Fulfilment, SandboxLowcostOptions } from './fulfilment.ts';

export { fareMenu, type Leg, type PageFare, shuffled, type Trip, tripsFor } from './flights.ts';

/** A deterministic world of lowcost carriers, loaded on first use. */
export function createSandboxLowcost(options: SandboxLowcostOptions): Fulfiller & { close(): Promise<void> } {
  const ask = once(async (): Promise<Fulfilment> => (await import('./fulfilment.ts')).createFulfilment(options));
  return {
    name: 'sandbox lowcost',
    isSandbox: true,
    serves: (query) => query.cabinClass === 'economy' && isServed(query.origin, query.destination),
    quote: async (query, startedAtMs) => (await ask()).quote(query, startedAtMs),
    bagsOf: async (offers) => (await ask()).bagsOf?.(offers) ?? new Map(),
    offer: async (offerId) => (await ask()).offer(offerId),
    menu: async (offerId, openedAtMs) => (await ask()).menu(offerId, openedAtMs),
    book: async (purchase) => (await ask()).book(purchase),
    find: async (reference) => (await ask()).find(reference),
    cancel: async (reference) => (await ask()).cancel(reference),
    async close() {
      await (await ask.opened())?.close();
    },
  };
}
