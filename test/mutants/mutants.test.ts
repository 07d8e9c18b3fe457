import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { editsOf, MUTANTS, mutated } from './mutant.mjs';
import { runTests } from './verdict.mjs';

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

const place = mkdtempSync(join(tmpdir(), 'farelock-verdict-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

test.each([
  ['a test that is green', 'test("t", () => {});', null],
  ['an assertion that failed', 'test("t", () => expect(1).toBe(2));', true],
  ['an error that a test did not expect', 'test("t", () => { throw new Error("refused"); });', true],
  ['a test that was ended by a time-out', 'test("t", () => new Promise(() => {}), 10);', false],
  ['a hook that failed', 'beforeAll(() => { throw new Error("no world"); }); test("t", () => {});', false],
  ['a file that does not compile', 'test("t", () => {', false],
  ['a file whose import is missing', 'import "./missing.js"; test("t", () => {});', false],
  [
    'an error outside of any test',
    'test("t", async () => { Promise.reject(new Error("lost")); await new Promise((done) => setTimeout(done, 5)); });',
    false,
  ],
])(
  'a bug is caught by a test that failed alone, not by a run that broke: %s',
  async (_what, text, counts) => {
    const folder = join(place, 'copy');
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    if (!existsSync(join(folder, 'node_modules/vitest')))
      symlinkSync(fileURLToPath(new URL('node_modules/vitest', ROOT)), join(folder, 'node_modules/vitest'));
    writeFileSync(
      join(folder, 'one.test.js'),
      `import { beforeAll, expect, test } from "vitest";\n${text}\n`,
    );
    const found = await runTests(folder, ['one.test.js'], 60_000);
    expect(found?.counts ?? null, found?.by).toBe(counts);
  },
  60_000,
);
