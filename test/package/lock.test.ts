import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isProof } from '../rounds.ts';
import { emptyFolder, lockRefusal, registryProblem } from './packed.ts';

/**
 * The lock file is written by one npm and read by those that Node brings: 10 with Node 20 and 22, 11 with 24. `npm test`
 * begins with `npm ci` of the machine's own.
 */

const folder = emptyFolder();
afterAll(() => folder.close());
let why: string | null = null;
beforeAll(async () => {
  why = await registryProblem(folder.path);
});
beforeEach(({ skip }) => {
  if (why !== null) skip(why);
});

/** In the gate the other one alone. */
const own = isProof ? '' : execFileSync('npm', ['--version'], { encoding: 'utf8' }).split('.')[0];

test.each(['10', '11'].filter((version) => version !== own))(
  'npm ci of npm %s takes the lock file',
  async (version) => {
    expect(await lockRefusal(version, folder.path)).toBeNull();
  },
  120_000,
);
