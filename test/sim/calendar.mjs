// npm run calendar [-- <date>... <test filter>...]: every test, or those of the filters, with the machine's clock moved
// to each date, and a line for each date: how many passed, what failed, and why. Exit code 1 if anything did.
//   npm run calendar -- +40 2028-02-29 2027-03-28T00:58 test/cli test/pty
// A date is days ahead of today, a day (noon, UTC) or a moment (UTC); without one, those of dates.mjs. The tests are of
// the build that is there: `npm run build` first. With `faketime` installed, the whole machine's clock is moved for the
// tests, of native code and of PostgreSQL too; without it, only what Node calls the date.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { calendarDates } from './dates.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const PRELOAD = join(import.meta.dirname, '../moved-clock.cjs');
const DAY_MS = 86_400_000;
const nowMs = Date.now();

function dateOf(text) {
  const ahead = /^\+(\d+)$/.exec(text);
  if (ahead) return { name: `in ${ahead[1]} days`, ms: nowMs + Number(ahead[1]) * DAY_MS };
  const at = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)Z?)?$/.exec(text);
  return at ? { name: 'asked for', ms: Date.parse(`${at[1]}T${at[2] ?? '12:00'}:00Z`) } : null;
}

const words = process.argv.slice(2);
const asked = words.map(dateOf).filter((date) => date !== null);
const filters = words.filter((word) => dateOf(word) === null);
const dates = asked.length > 0 ? asked : calendarDates(nowMs);
const hasFaketime = spawnSync('faketime', ['--version']).status === 0;

/** The command that runs the tests by a clock that is moved by so much, and what its environment adds. */
function moved(aheadMs, args) {
  if (hasFaketime) {
    const seconds = Math.round(aheadMs / 1000);
    return {
      command: ['faketime', '-f', `${seconds < 0 ? '' : '+'}${seconds}s`, process.execPath, ...args],
      // Timeouts are measured by a clock that nobody sets.
      env: { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' },
    };
  }
  return {
    command: [process.execPath, ...args],
    env: {
      NODE_OPTIONS: `--require ${JSON.stringify(PRELOAD)}`,
      TEST_CLOCK_STARTS_MS: String(Math.round(Date.now() + aheadMs)),
      TEST_CLOCK_STARTED_NS: String(process.hrtime.bigint()),
    },
  };
}

/** What the run printed, and its report. */
function run(aheadMs, file) {
  const args = [VITEST, 'run', '--reporter=json', `--outputFile=${file}`, ...filters];
  const { command, env } = moved(aheadMs, args);
  const [program, ...rest] = command;
  return new Promise((ended, failed) => {
    const child = spawn(program, rest, { cwd: ROOT, env: { ...process.env, ...env } });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        printed += chunk;
      });
    }
    child.once('error', failed);
    child.once('close', (code, signal) => ended({ code: code ?? signal, printed }));
  });
}

process.stdout.write(
  `The clock is moved by ${hasFaketime ? 'libfaketime: the whole machine’s' : 'a preload: Node’s Date alone'}.\n`,
);
const folder = mkdtempSync(join(tmpdir(), 'farelock-calendar-'));
let failures = 0;
try {
  for (const [index, { name, ms }] of dates.entries()) {
    const file = join(folder, `${index}.json`);
    const { code, printed } = await run(ms - Date.now(), file);
    const at = `${new Date(ms).toISOString().slice(0, 16)}Z  ${name}`;
    let report = null;
    try {
      report = JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      process.stdout.write(`${at}: no report (ended with ${code})\n${printed}\n`);
    }
    if (report) {
      process.stdout.write(`${at}: ${report.numPassedTests} passed, ${report.numFailedTests} failed\n`);
      for (const { name: path, message, assertionResults } of report.testResults) {
        const failed = assertionResults.filter(({ status }) => status === 'failed');
        const titles = failed.map(
          ({ fullName, failureMessages: [why = ''] }) => `${fullName}\n    ${why.split('\n')[0]}`,
        );
        // A file that failed before its tests has none.
        if (titles.length === 0 && message) titles.push(message.split('\n')[0]);
        for (const title of titles) process.stdout.write(`  ${path.slice(ROOT.length + 1)}: ${title}\n`);
      }
    }
    if (code !== 0) failures += 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
