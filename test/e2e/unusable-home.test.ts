import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { cases, proofTest } from '../proof-only.ts';
import { farelockIn } from './farelock.ts';

/** A home that is no folder, or where none can be made: said at once, by the name of its variable. */

const folder = mkdtempSync(join(tmpdir(), 'farelock-'));
const file = join(folder, 'file');
writeFileSync(file, '');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// In /proc the system says of the new folder itself that it is not there.
const ofLinux = process.platform === 'linux' ? ['/proc/nope', '/sys/nope'] : [];

describe.skipIf(process.platform === 'win32').each([file, join(file, 'below'), '/dev/null/home', ...ofLinux])(
  '%s',
  (home) => {
    test.each(cases(['wallet new'], ['status int_1', 'search LIS BER --depart +30d', 'config set limits.per_call 1']))(
      '%s',
      async (line) => {
        const ran = await farelockIn({}, home).run(line.split(' '));
        expect(ran.exitCode, ran.stderr).toBe(4);
        expect(ran.stderr).toContain(`✗ FARELOCK_HOME is ${home}, where no folder can be made (`);
        expect(ran.stderr).toMatch(/^ {2}\$ unset FARELOCK_HOME$/m);
      },
    );

    (home === file ? test : proofTest)('doctor still looks at everything', async () => {
      const ran = await farelockIn({}, home).run(['doctor', '--json']);
      expect(ran.exitCode).not.toBe(0);
      expect(JSON.stringify(ran.json())).toContain(home);
    });
  },
);
