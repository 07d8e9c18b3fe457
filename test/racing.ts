import fc from 'fast-check';
import { rounds, seedOr } from './rounds.ts';

/**
 * Races inside one module: fast-check chooses which of the promises that were handed to its scheduler comes next, and
 * shrinks an order that breaks the rule. It prints the seed, the order and the data; `npm run proof -- <file> --seed 7`
 * begins with another seed.
 */
export const racing = <T>(
  data: fc.Arbitrary<T>,
  rule: (s: fc.Scheduler, given: T) => Promise<void>,
  { short = 60, long = 3_000 } = {},
): Promise<void> =>
  fc.assert(fc.asyncProperty(fc.scheduler(), data, rule), {
    numRuns: rounds(short, long),
    seed: seedOr(14),
    endOnFailure: false,
  }) as Promise<void>;
