// npm run mutants [-- <filter of names or rooms>... --by <file of tests>]: applies each deliberate bug of table.mjs to a
// copy of the checkout, one at a time, and runs the tests that have to catch it (or those given). Exit code 1 where one
// survives, or breaks the run (it does not load, or a time-out ends it). --at-once skips the run without a mutant before.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTANTS, mutated } from './mutant.mjs';
import { runTests } from './verdict.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { by: { type: 'string', multiple: true }, 'at-once': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const filters = positionals.map((one) => one.toLowerCase());
const chosen = MUTANTS.filter(
  ({ name, in: room }) =>
    filters.length === 0 || filters.some((part) => name.toLowerCase().includes(part) || room.includes(part)),
);
if (chosen.length === 0) throw new Error('no mutant has such a name');

/** A process that hangs is stopped after this. */
const MOST_MS = 240_000;
/** Made anew, or of no use to a test of a room. */
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'coverage', '.stryker-tmp']);

const copy = join(mkdtempSync(join(tmpdir(), 'farelock-mutants-')), 'farelock');
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

const test = (files, mostMs) =>
  runTests(copy, files, mostMs, (child) => {
    running = child;
  });

/** One file after the other, the narrowest first. A file whose run broke leaves the verdict to the others. */
async function caught(files) {
  let broken = null;
  for (const file of files) {
    const found = await test([file], MOST_MS);
    if (found?.counts) return found;
    broken ??= found;
  }
  return broken;
}

const print = (line) => process.stdout.write(`${line}\n`);
const survived = [];
const broken = [];
try {
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  // A folder of its own, for Vitest's cache.
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((one) => !/^\.(?!bin$)/.test(one)))
    symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
  const files = values.by ?? [...new Set(chosen.flatMap(({ by }) => by))];
  const before = values['at-once'] ? null : await test(files, MOST_MS * files.length);
  if (before) throw new Error(`the tests fail without a mutant: ${before.by}`);

  for (const [index, mutant] of chosen.entries()) {
    const startedMs = Date.now();
    const { file, text } = mutated(mutant);
    let line;
    try {
      writeFileSync(join(copy, file), text);
      const found = await caught(values.by ?? mutant.by);
      line = found === null ? 'SURVIVED' : found.counts ? found.by : `BROKEN  ${found.by}`;
      if (!found?.counts) (found ? broken : survived).push(mutant.name);
    } catch (error) {
      line = `BROKEN  ${error.message}`;
      broken.push(mutant.name);
    } finally {
      cpSync(join(ROOT, file), join(copy, file));
    }
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1).padStart(6);
    print(`${String(index + 1).padStart(3)} ${seconds} s  ${mutant.name}\n                ${line}`);
  }
  const caughtCount = chosen.length - survived.length - broken.length;
  print(`${caughtCount} of ${chosen.length} mutants were caught, ${broken.length} broke the run.`);
  for (const name of survived) print(`not caught: ${name}`);
  for (const name of broken) print(`broken: ${name}`);
  process.exitCode = survived.length + broken.length > 0 ? 1 : 0;
} finally {
  clear();
}
