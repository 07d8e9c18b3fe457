import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { proofTest } from '../proof-only.ts';
import { MUTANTS, mutated } from './mutant.mjs';
import { runTests } from './verdict.mjs';

/** `npm run mutants` shows that each is caught, in minutes; here each only has to find its place. */

const ROOT = new URL('../../', import.meta.url);

test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s: has its place', (_name, mutant) => {
  const { file, text } = mutated(mutant);
  expect(text).not.toBe(readFileSync(new URL(file, ROOT), 'utf8'));
  expect(mutant.by.filter((one) => !existsSync(new URL(one, ROOT)))).toEqual([]);
});

test('a name that is gone, or is there twice, is an error', () => {
  const asked = (of: string) => () => mutated({ name: 'x', in: 'store', of, is: '[]', by: [] });
  expect(asked('noSuchFunction')).toThrow('fits nowhere');
  expect(asked('rows')).toThrow('is to fit once');
});

const place = mkdtempSync(join(tmpdir(), 'farelock-verdict-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const VERDICTS: readonly (readonly [string, string, boolean | null])[] = [
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
];

proofTest.each(VERDICTS)(
  'a bug is caught by a test that failed alone, not by a run that broke: %s',
  async (_what, text, counts) => {
    const folder = join(place, 'copy');
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    if (!existsSync(join(folder, 'node_modules/vitest')))
      symlinkSync(fileURLToPath(new URL('node_modules/vitest', ROOT)), join(folder, 'node_modules/vitest'));
    writeFileSync(join(folder, 'one.test.js'), `import { beforeAll, expect, test } from "vitest";\n${text}\n`);
    const found = await runTests(folder, ['one.test.js'], 60_000);
    expect(found?.counts ?? null, found?.by).toBe(counts);
  },
  60_000,
);
