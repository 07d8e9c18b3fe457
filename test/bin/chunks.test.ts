import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isHere } from '../needs.mjs';

/** What bin/load.js runs: compiled scripts, in which an `import()` that the build left as it was fails. */

const DIST = resolve(import.meta.dirname, '../../dist');

describe.runIf(isHere('the built tool', existsSync(join(DIST, 'main.cjs'))))('the built chunks', () => {
  const chunks = readdirSync(DIST).filter((name) => name.endsWith('.cjs'));
  test('are of ASCII alone: V8 reads and compiles them twice as fast', () => {
    expect(chunks.filter((name) => readFileSync(join(DIST, name)).some((byte) => byte > 0x7f))).toEqual([]);
  });

  test('keep no import(): what Node itself has is asked for with process.getBuiltinModule', () => {
    const importing = chunks.filter((name) => /(?<![\w$.#])import\(["'`]/.test(readFileSync(join(DIST, name), 'utf8')));
    expect(importing).toEqual([]);
  });
});
