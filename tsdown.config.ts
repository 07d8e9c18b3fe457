import { defineConfig } from 'tsdown';

// Everything but the native packages is bundled: a published package gets no `overrides`, and one file per
// lazily imported command loads several times faster than a tree of small modules.
export default defineConfig({
  entry: { main: 'src/cli/main.ts' },
  outDir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  dts: false,
  report: false,
  deps: {
    neverBundle: ['libsql', /^@libsql\//, /^litesvm-/, 'pg-native', 'bufferutil', 'utf-8-validate'],
    alwaysBundle: [/^(?!libsql|@libsql\/|litesvm-|node:|pg-native|bufferutil|utf-8-validate)/],
    onlyBundle: false,
  },
});
