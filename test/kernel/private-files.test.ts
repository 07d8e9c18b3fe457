import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { writeOnce, writeWhole } from '../../src/kernel/storage.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'farelock-private-'));
const real = { fsyncSync: fs.fsyncSync, linkSync: fs.linkSync, renameSync: fs.renameSync };
afterEach(() => {
  use(real);
  fs.rmSync(home, { recursive: true, force: true });
});
const use = (calls: object) => {
  Object.assign(fs, calls);
  syncBuiltinESMExports();
};

test('a file of keys or settings has its name only once it is on the disk', () => {
  const heard: string[] = [];
  const hearing = (name: keyof typeof real) => ({
    [name]: (...given: never[]) => {
      heard.push(name);
      return (real[name] as (...given: never[]) => unknown)(...given);
    },
  });
  use({ ...hearing('fsyncSync'), ...hearing('linkSync'), ...hearing('renameSync') });
  writeOnce(join(home, 'wallet.json'), 'a key');
  writeWhole(join(home, 'config.json'), 'a setting');
  // Found out again where it is lost.
  writeWhole(join(home, 'cache.json'), 'a notice', { mayBeLost: true });
  expect(heard).toEqual(['fsyncSync', 'linkSync', 'fsyncSync', 'renameSync', 'renameSync']);
});
