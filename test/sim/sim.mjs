// npm run sim [-- --seeds 2000 --from 1 | --seed 7 [--only key,key] | --break name]: worlds in simulated time, one for each
// seed (test/sim/world/world.ts). One bundle, in a process of its own: the simulator puts its own time and chance in the
// place of the machine's, which must happen to nobody else, and imports that wait for a disk have no place in it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const inPlaceOf = join(ROOT, 'src/store/libsql/target.ts');
const NATIVE = /^(@libsql\/|litesvm-|pg-native$|bufferutil$|utf-8-validate$)/;
/** Of one seed the stacks are those of the sources: for many that takes a third of the time. */
const isReplay = process.argv.includes('--seed');
/** A batch of many seeds plays the bundle of the run that it is part of. */
const made = process.env.TEST_SIM_BUNDLE;
const folder = made ?? mkdtempSync(join(tmpdir(), 'farelock-sim-'));
try {
  if (made === undefined) await bundle();
  process.env.TEST_SIM_BUNDLE = folder;
  if (isReplay) process.setSourceMapsEnabled?.(true);
  const { Module } = createRequire(import.meta.url)('node:module');
  // Native packages are found from here, wherever the bundle lies.
  process.env.NODE_PATH = join(ROOT, 'node_modules');
  Module._initPaths();
  doAtOnce();
  const { main } = createRequire(import.meta.url)(join(folder, 'main.cjs'));
  process.exitCode = await main(process.argv.slice(2));
} finally {
  if (made === undefined) rmSync(folder, { recursive: true, force: true });
}
// What a dead process of a world waited for is never let go, and would keep this one.
process.exit();

async function bundle() {
  const { build } = await import('tsdown');
  await build({
    config: false,
    entry: { main: join(ROOT, 'test/sim/flights-world/main.ts') },
    outDir: folder,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    dts: false,
    report: false,
    ...(isReplay && { sourcemap: 'inline' }),
    logLevel: 'warn',
    inputOptions: { checks: { ineffectiveDynamicImport: false } },
    outputOptions: { codeSplitting: false },
    // In one file, a JSON module behind a lazy import would be read before it is there.
    plugins: [
      {
        name: 'json-as-code',
        transform: (code, id) => (id.endsWith('.json') ? { code: asModule(JSON.parse(code)), moduleType: 'js' } : null),
      },
    ],
    // Where `import.meta.url` leads to what lies beside the sources.
    define: { 'import.meta.url': JSON.stringify(`file://${join(ROOT, 'dist/main.js')}`) },
    alias: { '@neon-rs/load': inPlaceOf, 'detect-libc': inPlaceOf },
    deps: {
      neverBundle: [NATIVE],
      alwaysBundle: [/^(?!@libsql\/|litesvm-|node:|pg-native|bufferutil|utf-8-validate)/],
      onlyBundle: false,
    },
  });
}

/**
 * What Node does on threads of its own would come back in an order of its own: here it is done before anything else. No
 * power fails in a world, so nobody waits for a disk.
 */
function doAtOnce() {
  const load = createRequire(import.meta.url);
  const zlib = load('node:zlib');
  zlib.brotliCompress = (data, options, done) => process.nextTick(done, null, zlib.brotliCompressSync(data, options));
  load('node:fs').fdatasync = (_file, done) => process.nextTick(done, null);
}

/** @returns the code of a JSON module: its value, and those of its keys that are names */
function asModule(value) {
  const names = Object.keys(value).filter((key) => /^[a-z]+$/.test(key) && !['default', 'private'].includes(key));
  const named = names.map((name) => `const own_${name} = all.${name};\nexport { own_${name} as ${name} };`);
  return [`const all = ${JSON.stringify(value)};`, 'export default all;', ...named].join('\n');
}
