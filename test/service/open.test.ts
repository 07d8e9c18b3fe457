import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openService } from '../../src/service/index.ts';
import { hearStatements } from '../store/plans.ts';

const home = mkdtempSync(join(tmpdir(), 'farelock-open-'));
const statements = hearStatements();
afterEach(() => {
  statements.stop();
  rmSync(home, { recursive: true });
});

/** Every command on the embedded stack does it. */
test('to open a home, no statement looks through a table that grows', async () => {
  await (await openService({ home })).close();
  statements.listen(true);
  const service = await openService({ home });
  statements.listen(false);
  // The schema itself is the same with any number of rows.
  const slow = (await statements.slow()).filter((one) => !one.includes('sqlite_master'));
  await service.close();
  expect(statements.count()).toBeGreaterThan(3);
  expect(slow).toEqual([]);
});
