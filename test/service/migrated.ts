import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from '../../src/kernel/once.ts';
import { openStore } from '../../src/service/home.ts';

/** Databases as the service finds them at its second start: the steps are the same each time, and take long. */

export const migratedStore = async (where: string): Promise<void> => (await openStore(where)).destroy();

const bytes = once(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-migrated-'));
  const path = join(folder, 'service.db');
  await migratedStore(path);
  const made = readFileSync(path);
  rmSync(folder, { recursive: true, force: true });
  return made;
});

/** Makes the database file of a home that has none. Returns its path. */
export async function migratedFile(home: string): Promise<string> {
  const path = join(home, 'service.db');
  if (!existsSync(path)) writeFileSync(path, await bytes(), { mode: 0o600 });
  return path;
}
