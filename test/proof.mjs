// npm run proof [-- <file filter>... --times 20 --seed 7]: the files of tests that repeat (test/rounds.ts), in their long
// form or in that many times of it, those that are of the proof alone (*.proof.ts, test/proof-only.ts), and how long each
// took. The gate runs the short form.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  options: { times: { type: 'string', default: '1' }, seed: { type: 'string', default: '' } },
  allowPositionals: true,
});
if (!(Number(values.times) > 0)) throw new Error('--times is a number above 0');

/** The files that use it themselves, or by the clock that runs faster in the gate. */
const REPEATS = /from '[./]+\/(?:rounds|racing|proof-only)\.ts'|\bfastClockEnv\b/;
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:test|proof)\.ts$/.test(name))
  .map((name) => join('test', name).split(sep).join('/'))
  .filter((name) => name.endsWith('.proof.ts') || REPEATS.test(readFileSync(join(ROOT, name), 'utf8')))
  .filter((name) => positionals.length === 0 || positionals.some((part) => name.includes(part)))
  .sort();
if (files.length === 0) throw new Error('no file of tests that repeats has such a name');

const played = (command, ...args) => {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
};
// Packages of these clients are nearly half of all that would be installed: the gate does without.
if (files.some((name) => name.startsWith('test/interop/stock/'))) {
  played('npm', 'install', '--no-save', '--loglevel', 'error', '--no-audit', '--no-fund');
  played(process.execPath, 'node_modules/typescript-native/bin/tsc', '-p', 'test/interop/stock');
}

const folder = mkdtempSync(join(tmpdir(), 'farelock-proof-'));
try {
  const report = join(folder, 'report.json');
  const { status } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      // The short form's patience is not the long one's.
      '--testTimeout=1800000',
      ...files,
    ],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, TEST_PROOF: `${values.times}:${values.seed}` } },
  );
  const took = JSON.parse(readFileSync(report, 'utf8')).testResults.map(({ name, startTime, endTime }) => ({
    name: relative(ROOT, name),
    seconds: (endTime - startTime) / 1000,
  }));
  for (const { name, seconds } of took.sort((a, b) => b.seconds - a.seconds))
    process.stdout.write(`${seconds.toFixed(1).padStart(7)} s  ${name}\n`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
