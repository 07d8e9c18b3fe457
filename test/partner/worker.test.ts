import { expect, test } from 'vitest';
import { bothRuns } from '../../src/service/partner.ts';

/** The rounds of both services' workers, together. */

const worker = (nextDueAtMs: number | null, worked = 0) => {
  const rounds = { count: 0 };
  return { rounds, runDue: async () => ({ worked, nextDueAtMs, round: ++rounds.count }) };
};
const broken = { runDue: () => Promise.reject(new Error('the cluster is away')) };

test('what is due next is the sooner of both', async () => {
  expect(await bothRuns(worker(5, 1), worker(3, 2))).toEqual({ worked: 3, nextDueAtMs: 3 });
  expect(await bothRuns(worker(null), worker(7))).toEqual({ worked: 0, nextDueAtMs: 7 });
  expect(await bothRuns(worker(null), worker(null))).toEqual({ worked: 0, nextDueAtMs: null });
});

test('a worker that fails holds up no other, and its failure is told', async () => {
  const [second, first] = [worker(null), worker(null)];
  await expect(bothRuns(broken, second)).rejects.toThrow('the cluster is away');
  await expect(bothRuns(first, broken)).rejects.toThrow('the cluster is away');
  expect([first.rounds.count, second.rounds.count]).toEqual([1, 1]);
});
