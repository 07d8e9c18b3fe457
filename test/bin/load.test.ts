import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const LOADER = resolve(import.meta.dirname, '../../bin/load.js');
/** A process of its own each time: V8 keeps what it compiled for as long as a process lives. */
const RUN = `
  const [dist] = process.argv.slice(1);
  const { load, keep } = require(${JSON.stringify(LOADER)}).createLoader(dist);
  const answer = load(dist + '/main.cjs').answer();
  keep();
  process.stdout.write(JSON.stringify(answer));
`;

let dist: string;
const write = (name: string, text: string) => writeFileSync(join(dist, name), text);
const run = (): unknown =>
  JSON.parse(execFileSync(process.execPath, ['-e', RUN, dist], { encoding: 'utf8', cwd: dist }));
const folder = () => join(dist, 'cache', `${process.version}-${process.platform}-${process.arch}`);

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'farelock-load-'));
  write('main.cjs', `exports.answer = () => require('./part-abc.cjs').value();`);
  write(
    'part-abc.cjs',
    `exports.value = () => [require('node:os').EOL, __filename.endsWith('part-abc.cjs')];`,
  );
});
afterEach(() => rmSync(dist, { recursive: true }));

test('a chunk is loaded once, and sees the modules of Node', () => {
  write(
    'main.cjs',
    `const a = require('./n-1.cjs'); exports.answer = () => [a === require('./n-1.cjs'), a.n];`,
  );
  write(
    'n-1.cjs',
    `globalThis.loads = (globalThis.loads ?? 0) + 1; exports.n = [globalThis.loads, __dirname];`,
  );
  expect(run()).toEqual([true, [1, dist]]);
});

test('compiled code is kept for the next process; the entry’s, whose name has no hash, is not', () => {
  expect(run()).toEqual(['\n', true]);
  expect(readdirSync(folder())).toEqual(['part-abc.cjs.bin']);
  const { ino } = statSync(join(folder(), 'part-abc.cjs.bin'));
  expect(run()).toEqual(['\n', true]);
  expect(statSync(join(folder(), 'part-abc.cjs.bin')).ino).toBe(ino);
});

test('what another V8 has compiled, or nobody, is compiled anew', () => {
  run();
  const file = join(folder(), 'part-abc.cjs.bin');
  writeFileSync(file, 'not compiled code');
  expect(run()).toEqual(['\n', true]);
  expect(readFileSync(file, 'latin1')).not.toContain('not compiled');
});

test('a folder that cannot be written costs nothing but the time', () => {
  mkdirSync(join(dist, 'cache'));
  writeFileSync(folder(), 'a file where the folder would be');
  expect(run()).toEqual(['\n', true]);
  expect(readFileSync(folder(), 'utf8')).toContain('would be');
});

test('a chunk that fails as it loads fails again for whoever asks again', () => {
  write(
    'main.cjs',
    `const told = () => { try { return Object.keys(require('./half.cjs')); } catch (error) { return error.message; } };
     exports.answer = () => [told(), told()];`,
  );
  write('half.cjs', `exports.first = 1; throw new Error('no native package');`);
  expect(run()).toEqual(['no native package', 'no native package']);
});
