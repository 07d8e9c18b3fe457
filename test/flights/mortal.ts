import type { Ports } from './world.ts';

export class Died extends Error {}

/** Ports that stop for good at the given moment. Each call has two: before it, and after it. */
export function mortal(diesAt: number) {
  let moments = 0;
  const pass = () => {
    if (++moments >= diesAt) throw new Died('the process is dead');
  };
  const dying = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || name === 'airport' || name === 'serves') return value;
        return async (...given: unknown[]) => {
          pass();
          const answer: unknown = await value.apply(target, given);
          pass();
          return answer;
        };
      },
    });
  const wrap = (ports: Ports): Ports => ({
    ...ports,
    store: ports.store.withPlugin({
      transformQuery: ({ node }) => {
        pass();
        return node;
      },
      transformResult: async ({ result }) => {
        pass();
        return result;
      },
    }),
    cluster: dying(ports.cluster),
    provider: ports.provider && dying(ports.provider),
    lowcost: ports.lowcost && dying(ports.lowcost),
    clock: ports.clock,
  });
  return { wrap, died: () => moments >= diesAt, moments: () => moments };
}
