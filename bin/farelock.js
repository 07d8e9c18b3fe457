#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const dist = join(__dirname, '..', 'dist');

if (existsSync(join(dist, 'main.cjs'))) {
  const { load, keep } = require('./load.js').createLoader(dist);
  load(join(dist, 'main.cjs')).main({ leaving: keep });
} else {
  process.stderr.write(
    'farelock is not built yet.\n  dist/main.cjs is missing beside bin/.\n  Run: npm run setup\n',
  );
  process.exitCode = 1;
}
