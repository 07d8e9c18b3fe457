import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInMemory } from './cli/memory.ts';

/** How many files a reader of the commonest call has to open: those in which a function runs. */
const MOST_FILES = 120;

/** A paid search of an embedded home, outside what is pretend and the shelf that everybody knows. */
async function filesEntered(home: string): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const search = ['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--json'];
  const { exitCode, stderr } = await runInMemory(search, { environment: { FARELOCK_HOME: home } });
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  expect(exitCode, stderr).toBe(0);
  return result
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => isOwn(functionName) && ranges[0]?.count))
    .flatMap(({ url }) => /\/(src\/(?!sandbox\/|kernel\/).*\.ts)$/.exec(url)?.[1] ?? []);
}

/** A function of the file itself: not the file as a whole, a getter of an export, or a loader of a face. */
const isOwn = (name: string): boolean => name !== '' && name !== 'get' && !/^load[A-Z]/.test(name);

test('a paid search enters few files', async () => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-entered-'));
  const entered = await filesEntered(home);
  rmSync(home, { recursive: true });
  expect(entered.length, entered.sort().join(' ')).toBeLessThanOrEqual(MOST_FILES);
});
