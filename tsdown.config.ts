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
  // Each file costs a start about a millisecond: what a command loads together lies together. Everything else stays
  // apart, and is loaded by the command that needs it.
  outputOptions: {
    codeSplitting: {
      groups: [
        // Not main.ts itself: it waits for the command at its top level, and a chunk that is waited for imports nothing back.
        {
          name: 'start',
          tags: ['$initial'],
          test: (id: string) => !id.endsWith('/cli/main.ts'),
          priority: 100,
        },
        { name: 'session', test: /src\/(cli\/(session|wallet)|client\/flights)\.ts$/, priority: 90 },
        { name: 'service', test: /src\/service\.ts$/, priority: 80 },
        {
          name: 'paid',
          test: /src\/(payments\/(payload|inspection|facilitator-svm)|client\/(store|payer\/\w+)|solana\/(transaction|embedded\/(executor|builtins))|flights\/(schema|search|booking)|escrow\/(account|address|observe|program|verify))\.ts$/,
          priority: 70,
        },
      ],
    },
  },
  deps: {
    neverBundle: ['libsql', /^@libsql\//, /^litesvm-/, 'pg-native', 'bufferutil', 'utf-8-validate'],
    alwaysBundle: [/^(?!libsql|@libsql\/|litesvm-|node:|pg-native|bufferutil|utf-8-validate)/],
    onlyBundle: false,
  },
});
