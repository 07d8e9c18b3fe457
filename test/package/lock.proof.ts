import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

test.each(['10', '11'])(
  'npm ci of npm %s takes the lock file',
  async (version) => {
    expect(await lockRefusal(version, folder.path)).toBeNull();
  },
  120_000,
);
