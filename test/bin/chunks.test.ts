import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/** What bin/load.js runs: compiled scripts, in which an `import()` that the build left as it was fails. */

const DIST = resolve(import.meta.dirname, '../../dist');

describe.runIf(existsSync(join(DIST, 'main.cjs')))('the built chunks', () => {
  test('keep no import(): what Node itself has is asked for with process.getBuiltinModule', () => {
    const chunks = readdirSync(DIST).filter((name) => name.endsWith('.cjs'));
    const importing = chunks.filter((name) =>
      /(?<![\w$.#])import\(["'`]/.test(readFileSync(join(DIST, name), 'utf8')),
    );
    expect(importing).toEqual([]);
  });
});
