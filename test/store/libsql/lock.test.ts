import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lockBeside } from '../../../src/store/libsql/lock.ts';

/** A lock has one holder at a time, and does not outlive it. */

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-lock-'));
  path = join(folder, 'locked-and-busy.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Hold = ReturnType<typeof lockBeside>;

// The steps of another holder (before the late one opens the file, before it locks it, and afterwards), and the holder then.
test.each([
  ['take', 'release take', '', 'other'],
  ['take', 'release', 'take', 'other'],
  ['take', 'release', '', 'late'],
  ['', 'take release', '', 'late'],
  ['take', '', 'release', 'none'],
])('one holder at a time: %s, open, %s, lock, %s → %s', (first, before, after, holder) => {
  let other: Hold = null;
  const act = (steps: string) => {
    for (const step of steps.split(' ')) {
      if (step === 'take') other = lockBeside(path);
      if (step === 'release') other?.();
    }
  };
  act(first);
  const exec = Sqlite.prototype.exec;
  const locking = vi.spyOn(Sqlite.prototype, 'exec').mockImplementationOnce(function (this: object, sql: string) {
    act(before);
    try {
      return exec.call(this, sql);
    } finally {
      act(after);
    }
  });
  try {
    const late = lockBeside(path);
    const third = lockBeside(path);
    expect([late !== null, third !== null]).toEqual([holder === 'late', holder === 'none']);
    for (const release of [late, third, holder === 'other' ? other : null]) release?.();
    expect(existsSync(`${path}.locked`)).toBe(false);
  } finally {
    locking.mockRestore();
  }
});

test('a lock that cannot be made is a problem of storage, and not held by another', () => {
  expect(() => lockBeside('/proc/busy/locked')).toThrow(
    expect.objectContaining({ code: expect.stringContaining('storage') }),
  );
});
