import { defineConfig } from 'vitest/config';

/** For Stryker alone: one project, of the files of tests that TESTS names. */
export default defineConfig({
  test: {
    include: (process.env.TESTS ?? '').split(',').filter(Boolean),
    setupFiles: ['test/setup.ts', 'test/undeclared.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: '1', NODE_EXTRA_CA_CERTS: '' },
  },
});
