import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What Vitest writes of a test that it ended by its time-out: the error has no message in the report. */
const TIMED_OUT = /STACK_TRACE_ERROR|timed out in \d+ms/;
/** The changed file does not even load. */
const NOT_LOADED = /^(?:SyntaxError|ReferenceError)\b|Cannot find module|Failed to (?:load|resolve)|Transform failed/;

/** Runs files of tests of a folder until the first failure. Returns null when all are green. */
export async function runTests(folder, files, mostMs, started = () => {}) {
  const report = join(folder, '..', 'report.json');
  rmSync(report, { force: true });
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`],
      // Only the file that has changed is made anew.
      '--experimental.fsModuleCache',
      ...files,
    ],
    { cwd: folder, stdio: 'ignore', env: { ...process.env, CI: '', TEST_PROOF: '' } },
  );
  started(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), mostMs);
  const code = await new Promise((done) => child.once('exit', done));
  clearTimeout(timer);
  started(null);
  if (code === 0) return null;
  try {
    return verdictOf(folder, JSON.parse(readFileSync(report, 'utf8')).testResults);
  } catch {
    return { by: `the process ended without a report (${code ?? 'stopped'})`, counts: false };
  }
}

/** Only a test that failed by itself has caught a bug: of a run that broke, nothing is known. */
function verdictOf(folder, results) {
  for (const { name, assertionResults, status, message } of results) {
    const file = relative(folder, name);
    const failed = assertionResults.find((one) => one.status === 'failed');
    if (failed) {
      const why = failed.failureMessages?.[0] ?? '';
      const test = `${file} › ${failed.fullName}`;
      if (TIMED_OUT.test(why)) return { by: `${test} (it timed out)`, counts: false };
      if (NOT_LOADED.test(why)) return { by: `${test}: ${why.split('\n')[0]}`, counts: false };
      return { by: test, counts: true };
    }
    if (status === 'failed') {
      const why = String(message ?? '').split('\n')[0] || 'a hook failed';
      return { by: `${file}: ${why}`, counts: false };
    }
  }
  return { by: 'an error outside of any test', counts: false };
}
