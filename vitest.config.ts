import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** `*.proof.ts` are tests of the long form alone: `npm run proof` plays them, the gate does not know them. */
const TESTS = ['test/**/*.test.ts', ...(process.env.TEST_PROOF ? ['test/**/*.proof.ts'] : [])];

/** In a process of its own each. */
const APART = [
  // Runs other files of tests once more: what those have loaded must not be there already.
  'test/store/plans-on-postgres.proof.ts',
  // Move this process's clock.
  'test/interop/json-rpc-heavy.proof.ts',
];

/** What takes long begins first, so that no worker waits at the end for another's last file. */
const LONGEST = [
  ...APART,
  'test/flights/postgres',
  'test/airlines/browser/journey',
  'test/package/',
  'test/e2e/',
  'test/releases/',
  'test/pty/',
  'test/docs',
  'test/sandbox/carrier-site/',
  'test/interop/mcp',
  'test/sim/',
  'test/cli/',
  'test/flights/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((part) => moduleId.includes(part));
      return found < 0 ? LONGEST.length : found;
    };
    return [...files].sort((a, b) => place(a) - place(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

const GIB = 1024 ** 3;

/**
 * Homes of tests lie in memory where the machine has room for them: a wait for the disk takes a fifth of a test's time. The
 * waits themselves are counted as ever, and tests of faults have a disk of their own (test/e2e/fault.c).
 */
function roomInMemory(): { TMPDIR?: string } {
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    const mounted = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === '/dev/shm');
    return bavail * bsize > 8 * GIB && mounted && !/\bnoexec\b/.test(mounted) ? { TMPDIR: '/dev/shm' } : {};
  } catch {
    return {};
  }
}

const memory = roomInMemory();

/** What is made once in a run: compiled modules, a cluster of PostgreSQL (test/store/postgres-server.mjs). */
const madeOnce = mkdtempSync(join(memory.TMPDIR ?? tmpdir(), 'farelock-templates-'));
process.once('exit', () => rmSync(madeOnce, { recursive: true, force: true }));

const shared = {
  // Patience with a busy machine: what hangs is ended, and no test asserts how long anything takes.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // What is polled for is often a process: the next one does not begin in the same breath.
  expect: { poll: { interval: 200 } },
  maxWorkers: 3,
  setupFiles: ['test/setup.ts', 'test/undeclared.ts'],
  // A certificate bundle in the environment slows every Node start; colour and profiles change what is printed.
  env: {
    NO_COLOR: '1',
    NODE_EXTRA_CA_CERTS: '',
    FARELOCK_PROFILE: '',
    FARELOCK_SCENARIO: '',
    FARELOCK_SEED: '',
    ...memory,
    TEST_TEMPLATES: madeOnce,
  },
};

export default defineConfig({
  test: {
    reporters: process.env.CI ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/results.json' },
    sequence: { sequencer: LongestFirst },
    // Both projects load the same modules: the second one finds them compiled.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(madeOnce, 'modules') },
    projects: [
      {
        // Nothing of ours keeps state in a module: files share a process, and load the modules once.
        test: { ...shared, name: 'tests', isolate: false, include: TESTS, exclude: APART },
      },
      ...(process.env.TEST_PROOF ? [{ test: { ...shared, name: 'apart', include: APART } }] : []),
    ],
  },
});
