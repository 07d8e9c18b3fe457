import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  readonly engines?: { readonly node?: string };
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Entry>;
};
const entries = Object.entries(lock.packages);
const MEND = 'run: node .ci/mend-lock.mjs';

test('the lock file names every platform’s builds, so that npm ci works on all of them', () => {
  const names = new Set(entries.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  const missing = entries
    .flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}))
    .filter((name) => !names.has(name));
  expect(missing, MEND).toEqual([]);
});

test('no native build is left out on Node 20.18 for the engine that it declares', () => {
  const strict = entries.filter(
    ([path, entry]) => entry.optional && entry.os && entry.engines && !path.includes('wasm'),
  );
  expect(
    strict.map(([path]) => path),
    MEND,
  ).toEqual([]);
});
