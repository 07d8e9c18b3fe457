import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import type { Clock } from '../src/kernel/clock.ts';
import { rounds, seedOr } from './rounds.ts';

/**
 * Races inside one module: fast-check chooses which of the promises that were handed to its scheduler comes next, and
 * shrinks an order that breaks the rule. A failure prints the seed, the order and the data; `npm run proof -- <file>
 * --seed 7` begins with another seed.
 */
export const racing = <T>(
  data: fc.Arbitrary<T>,
  rule: (s: fc.Scheduler, given: T) => Promise<void>,
  { short = 60, long = 3_000 } = {},
): Promise<void> =>
  fc.assert(fc.asyncProperty(fc.scheduler(), data, rule), { numRuns: rounds(short, long), seed: seedOr(14) });

/** Comes back when the scheduler says so. */
export const turn = (s: fc.Scheduler, label: string): Promise<void> => s.schedule(Promise.resolve(), label);

/** For `withPlugin`: what a statement answered is heard when the scheduler says so. */
export const heardInTurn = (s: fc.Scheduler, who: string): KyselyPlugin => ({
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    await turn(s, `${who} hears the database`);
    return result;
  },
});

/** The methods of a port are called, and answer, when the scheduler says so. */
export const inTurn = <T extends object>(s: fc.Scheduler, who: string, port: T): T =>
  new Proxy(port, {
    get(from, name, receiver) {
      const value: unknown = Reflect.get(from, name, receiver);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        await turn(s, `${who} calls ${String(name)}`);
        const result: unknown = await value.apply(from, given);
        await turn(s, `${who} hears of ${String(name)}`);
        return result;
      };
    },
  });

/** Time that passes when the scheduler wakes a sleeper: never earlier than it asked for, and as much later as it likes. */
export function clockInTurn(s: fc.Scheduler, time: { nowMs: number }): Clock {
  return {
    now: () => time.nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const untilMs = time.nowMs + ms;
        signal?.addEventListener('abort', () => resolve(), { once: true });
        void turn(s, `${ms} ms`).then(() => {
          if (!signal?.aborted) time.nowMs = Math.max(time.nowMs, untilMs);
          resolve();
        });
      }),
  };
}
