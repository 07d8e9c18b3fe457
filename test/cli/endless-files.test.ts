import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readJson } from '../../src/cli/session/json-file.ts';
import { readJsonFile } from '../../src/cli/settings/file.ts';
import { readPassengerFile } from '../../src/cli/travellers/passenger-file.ts';

/** A cloned repository, or a path from somebody else, may lead to a file without an end. */

const context = { streams: {} } as never;
const folder = mkdtempSync(join(tmpdir(), 'farelock-endless-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('settings are a regular file: a link to a device, and a pipe that nobody writes to, are refused', () => {
  const zero = join(folder, '.farelock.json');
  symlinkSync('/dev/zero', zero);
  const pipe = join(folder, 'pipe.json');
  execFileSync('mkfifo', [pipe]);
  for (const path of [zero, pipe, folder]) {
    expect(() => readJsonFile(path, false), path).toThrow(
      expect.objectContaining({ code: 'settings_invalid' }),
    );
  }
});

test('a file of passengers or of data is read as far as such a file may be', async () => {
  for (const read of [readJson, readPassengerFile]) {
    await expect(read(context, '/dev/zero')).rejects.toMatchObject({ code: 'file_unreadable' });
  }
});
