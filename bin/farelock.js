#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';

const main = new URL('../dist/main.mjs', import.meta.url);

if (existsSync(main)) {
  // Node 22 keeps compiled code between runs; older ones have no such function.
  module.enableCompileCache?.();
  await import(main.href);
} else {
  process.stderr.write(
    'farelock is not built yet.\n  dist/main.mjs is missing beside bin/.\n  Run: npm run setup\n',
  );
  process.exitCode = 1;
}
