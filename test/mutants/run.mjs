// npm run mutants [-- <filter of names or files>... --by <file of tests>]: applies each deliberate bug of table/ to a copy
// of the checkout, one at a time, and runs the tests that have to catch it (or those given). Exit code 1 where one
// survives, or can't be applied any more. The tests run once without a mutant before, unless told --at-once.
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTANTS, mutated } from './mutant.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { by: { type: 'string', multiple: true }, 'at-once': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const filters = positionals.map((one) => one.toLowerCase());
const chosen = MUTANTS.filter(
  ({ name, file }) =>
    filters.length === 0 || filters.some((part) => name.toLowerCase().includes(part) || file.includes(part)),
);
if (chosen.length === 0) throw new Error('no mutant has such a name');

/** A process that hangs is stopped after this. */
const MOST_MS = 240_000;
/** Made anew, or of no use to a test of a room. */
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'coverage', '.stryker-tmp']);

const copy = join(mkdtempSync(join(tmpdir(), 'farelock-mutants-')), 'farelock');
const root = pathToFileURL(`${copy}/`);
let running = null;
const clear = () => {
  running?.kill('SIGKILL');
  rmSync(join(copy, '..'), { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    clear();
    process.exit(130);
  });
}

/** Runs files of tests in the copy, until the first one fails. */
async function test(files, mostMs) {
  const report = join(copy, '..', 'report.json');
  rmSync(report, { force: true });
  const child = spawn(
    process.execPath,
    [
      join(copy, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`],
      // Only the file that has changed is made anew.
      '--experimental.fsModuleCache',
      ...files,
    ],
    { cwd: copy, stdio: 'ignore', env: { ...process.env, CI: '', FARELOCK_PROOF: '' } },
  );
  running = child;
  const timer = setTimeout(() => child.kill('SIGKILL'), mostMs);
  const code = await new Promise((done) => child.once('exit', done));
  clearTimeout(timer);
  running = null;
  if (code === 0) return null;
  let results = [];
  try {
    results = JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    // A test that hangs is ended by its own time-out: this says nothing of the mutant.
    return { by: `the process ended without a word (${code ?? 'stopped'})`, counts: false };
  }
  for (const { name, assertionResults, status, message } of results) {
    const file = relative(copy, name);
    const failed = assertionResults.find((one) => one.status === 'failed');
    if (failed) {
      const late = /timed out/.test(failed.failureMessages?.[0] ?? '') ? ' (it timed out)' : '';
      return { by: `${file} › ${failed.fullName}${late}`, counts: true };
    }
    // Where nothing was even collected, the bug is one of the table: it does not load.
    if (status === 'failed')
      return { by: `${file}: ${String(message).split('\n')[0]}`, counts: assertionResults.length > 0 };
  }
  return { by: 'an error outside of any test', counts: true };
}

/** One file after the other, the narrowest first. */
async function caught(files) {
  for (const file of files) {
    const found = await test([file], MOST_MS);
    if (found) return found;
  }
  return null;
}

const print = (line) => process.stdout.write(`${line}\n`);
const wrong = [];
try {
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  // A folder of its own, for what Vitest keeps there.
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((one) => !/^\.(?!bin$)/.test(one)))
    symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
  const files = values.by ?? [...new Set(chosen.flatMap(({ by }) => by))];
  const before = values['at-once'] ? null : await test(files, MOST_MS * files.length);
  if (before) throw new Error(`the tests fail without a mutant: ${before.by}`);

  for (const [index, mutant] of chosen.entries()) {
    const path = join(copy, mutant.file);
    const startedMs = Date.now();
    const whole = readFileSync(path, 'utf8');
    let line;
    try {
      writeFileSync(path, mutated(root, mutant));
      const found = await caught(values.by ?? mutant.by);
      line = found === null ? 'SURVIVED' : found.counts ? found.by : `BROKEN  ${found.by}`;
      if (!found?.counts) wrong.push(mutant.name);
    } catch (error) {
      line = `BROKEN  ${error.message}`;
      wrong.push(mutant.name);
    } finally {
      writeFileSync(path, whole);
    }
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1).padStart(6);
    print(`${String(index + 1).padStart(3)} ${seconds} s  ${mutant.name}\n                ${line}`);
  }
  print(`${chosen.length - wrong.length} of ${chosen.length} mutants were caught.`);
  for (const name of wrong) print(`not caught: ${name}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} finally {
  clear();
}
