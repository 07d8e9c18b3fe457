import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { editsOf, MUTANTS, mutated } from './mutant.mjs';

/** Whether they are caught is what `npm run mutants` shows: minutes. Here only that they can still be applied. */

const ROOT = new URL('../../', import.meta.url);

test('each mutant changes a text that is in its file exactly once', () => {
  const wrong = MUTANTS.flatMap((mutant) => {
    try {
      mutated(ROOT, mutant);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  expect(wrong).toEqual([]);
});

test('each has a name of its own, changes something, and names tests that are there', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  expect(MUTANTS.filter((one) => editsOf(one).some(([from, to]) => from === to))).toEqual([]);
  const tests = MUTANTS.flatMap(({ by }) => by);
  expect(tests.filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([]);
  expect(MUTANTS.filter(({ by }) => by.length === 0)).toEqual([]);
});
