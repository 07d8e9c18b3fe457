#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');

// Node 20.18 calls a signature algorithm experimental that later versions take for granted. Nobody can do anything about
// it, and standard error is for what somebody can.
const { emitWarning } = process;
process.emitWarning = (warning, ...about) => {
  if (!String(warning).includes('Ed25519 Web Crypto')) emitWarning.call(process, warning, ...about);
};

/** A command that runs for longer is a server, or waits for something. */
const LONG_MS = 2_000;

const dist = join(__dirname, '..', 'dist');

if (existsSync(join(dist, 'main.cjs'))) {
  const { load, keep, hold } = require('./load.js').createLoader(dist);
  setTimeout(hold, LONG_MS).unref();
  load(join(dist, 'main.cjs')).main({ leaving: keep });
} else {
  process.stderr.write('farelock is not built yet.\n  dist/main.cjs is missing beside bin/.\n  Run: npm run setup\n');
  process.exitCode = 1;
}
