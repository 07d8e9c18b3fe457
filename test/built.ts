import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'tsdown';

/** Builds a program of the tests, for a process of its own. It lies in `folder`, which `remove` takes away. */
export async function buildProgram(source: string) {
  // Below the project, so that packages are found.
  const cache = resolve(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'farelock-'));
  await build({
    config: false,
    entry: { main: resolve(import.meta.dirname, source) },
    outDir: folder,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: false,
    report: false,
    logLevel: 'silent',
  });
  return { folder, path: join(folder, 'main.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export type Program = Awaited<ReturnType<typeof buildProgram>>;
