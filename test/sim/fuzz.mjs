// A fuzz run of any length: npm run fuzz -- --runs 500000 [--seed 7] [--paid 2000]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    paid: { type: 'string' },
  },
});
process.stdout.write(`${values.runs} requests, seed ${values.seed}\n`);
const ran = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', 'test/sim/fuzz-flights.test.ts', 'test/sim/fuzz-partner.test.ts'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_TELL: '1',
      FUZZ_RUNS: values.runs,
      FUZZ_SEED: values.seed,
      ...(values.paid ? { FUZZ_PAID: values.paid } : {}),
    },
  },
);
process.exitCode = ran.status ?? 1;
