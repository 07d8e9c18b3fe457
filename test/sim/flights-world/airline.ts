import type { Provider } from '../../../src/airlines/provider.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { Process } from '../world/computer.ts';
import type { World } from '../world/world.ts';

const READ_FAULTS = { silent: 0.02, rate_limited: 0.008, slow: 0.01 };
const ORDER_FAULTS = { silent: 0.03, silent_but_done: 0.06, twice: 0.04, rate_limited: 0.015, slow: 0.02 };
const LATER = { done_later: 0.03 };
const CANCEL_FAULTS = { silent: 0.04, silent_but_done: 0.06, twice: 0.05 };

const silence = () => problem('provider_failed');

/**
 * The airline as a service reaches it: silent with and without effect, late, asked twice, and tired of being asked. An
 * order that is made later is being made until then, and the airline says so (Provider.findOrder).
 */
export function airlineOf(world: World, airline: Provider, pending: Map<string, number>, process: Process): Provider {
  const { chance } = world;
  const call = <T>(name: string, faults: Readonly<Record<string, number>>, work: () => Promise<T>): Promise<T> => {
    const place = chance.numbered(`${process.name} airline ${name}`);
    return process.boundary(
      `airline ${name}`,
      async () => {
        const fault = chance.happens('airline', place, faults);
        if (fault !== null) world.tell('airline', `${name} of ${process.name}: ${fault.replaceAll('_', ' ')}`);
        if (fault === 'silent') throw silence();
        if (fault === 'rate_limited') {
          throw problem('upstream_rate_limited', { retryAfter: 1 + Math.floor(chance.part(place) * 30) });
        }
        if (fault === 'slow') await world.sleep(1_000 + chance.part(place) * 25_000);
        if (fault === 'twice') void world.after(chance.part(place) * 8_000, () => void work().catch(() => undefined));
        const answer = await work();
        if (fault === 'silent_but_done') throw silence();
        return answer;
      },
      { mostMs: 40 },
    );
  };
  return {
    name: airline.name,
    isSandbox: airline.isSandbox,
    ...(airline.receive && { changesSchedules: true, receive: airline.receive }),
    airport: (iata) => airline.airport(iata),
    search: (query) => call('search', READ_FAULTS, () => airline.search(query)),
    offer: (offerId, moment) => call('offer', READ_FAULTS, () => airline.offer(offerId, moment)),
    createOrder: (request) =>
      call('createOrder', ORDER_FAULTS, async () => {
        const place = chance.numbered(`order ${process.name}`);
        if (!pending.has(request.reference) && chance.happens('airline', place, LATER)) {
          const inMs = 2_000 + chance.part(place) * 60_000;
          pending.set(request.reference, world.now() + inMs);
          world.tell('airline', `is silent, and makes the order in ${Math.round(inMs / 1000)} s`);
          world.after(inMs, () => {
            pending.delete(request.reference);
            void airline.createOrder(request).catch(() => undefined);
          });
          throw silence();
        }
        if (pending.has(request.reference)) throw silence();
        return airline.createOrder(request);
      }),
    findOrder: (reference, offerId) =>
      call('findOrder', READ_FAULTS, async () => {
        if (pending.has(reference)) throw silence();
        return airline.findOrder(reference, offerId);
      }),
    order: (id) => call('order', READ_FAULTS, () => airline.order(id)),
    cancel: (id) => call('cancel', CANCEL_FAULTS, () => airline.cancel(id)),
  };
}
