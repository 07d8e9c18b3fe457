import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/undeclared.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/results.json' },
    // A certificate bundle in the environment slows every Node start; colour and profiles change what is printed.
    env: {
      NO_COLOR: '1',
      NODE_EXTRA_CA_CERTS: '',
      FARELOCK_PROFILE: '',
      FARELOCK_SCENARIO: '',
      FARELOCK_SEED: '',
    },
  },
});
