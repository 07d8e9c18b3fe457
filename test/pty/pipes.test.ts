import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, type Runner } from '../e2e/farelock.ts';
import { cases } from '../proof-only.ts';

/** Whoever read the result and has seen enough: nothing is said about it, and nothing failed. */

let tool: Runner;
beforeAll(() => {
  tool = farelockIn();
});
afterAll(() => tool.close());

const shell = (line: string) =>
  execa('/bin/bash', ['-o', 'pipefail', '-c', line.replaceAll('farelock', `"${process.execPath}" "${BIN}"`)], {
    env: tool.env,
    reject: false,
  });

test.each(
  cases(
    [
      ['a reader that is gone at once', 'farelock help --json | true'],
      ['standard error that is closed', 'farelock explain offer_expired 2>&- > /dev/null'],
      ['standard output that is closed', 'farelock explain offer_expired >&-'],
    ],
    [
      ['a reader that has seen enough', 'farelock help --json | head -c 1 > /dev/null'],
      ['remarks that are not read', 'farelock wallet balance 2> >(true) > /dev/null'],
      ['standard error that is closed while wallets are filled', 'farelock wallet balance 2>&- > /dev/null'],
    ],
  ),
)('%s is no failure', async (_name, line) => {
  const ran = await shell(line);
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
});
