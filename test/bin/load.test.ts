import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

/** A copy that any user may read. */
const bin = mkdtempSync(join(tmpdir(), 'farelock-load-bin-'));
cpSync(resolve(import.meta.dirname, '../../bin'), bin, { recursive: true });
chmodSync(bin, 0o755);
afterAll(() => rmSync(bin, { recursive: true }));
const LOADER = join(bin, 'load.js');
/** A process of its own each time: V8 keeps what it compiled for as long as a process lives. */
const RUN = `
  const [dist, command, user, uptimeS] = process.argv.slice(1);
  process.uptime = () => Number(uptimeS);
  if (user) process.setuid(Number(user));
  const { load, keep } = require(${JSON.stringify(LOADER)}).createLoader(dist);
  const answer = load(dist + '/main.cjs').answer();
  keep(command || null);
  process.stdout.write(JSON.stringify(answer));
`;

let dist: string;
const write = (name: string, text: string) => writeFileSync(join(dist, name), text);
const run = (command = '', { user = '', env = {}, uptimeS = 0 } = {}): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ['-e', RUN, dist, command, user, String(uptimeS)], {
      encoding: 'utf8',
      cwd: dist,
      env: { PATH: process.env.PATH, ...env },
    }),
  );
const inodeOf = (path: string) => statSync(path).ino;
const folder = () => join(dist, 'cache', `${process.version}-${process.platform}-${process.arch}`);

const PART = `exports.value = () => [require('node:os').EOL, __filename.endsWith('part-abc.cjs')];`;
const OTHER = `exports.value = () => [require('node:os').EOL, 'of another text'];`.padEnd(PART.length);

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'farelock-load-'));
  write('main.cjs', `exports.answer = () => require('./part-abc.cjs').value();`);
  write('part-abc.cjs', PART);
});
afterEach(() => rmSync(dist, { recursive: true }));

test('a chunk is loaded once, and sees the modules of Node', () => {
  write('main.cjs', `const a = require('./n-1.cjs'); exports.answer = () => [a === require('./n-1.cjs'), a.n];`);
  write('n-1.cjs', `globalThis.loads = (globalThis.loads ?? 0) + 1; exports.n = [globalThis.loads, __dirname];`);
  expect(run()).toEqual([true, [1, dist]]);
});

test('what was held is loaded as it was, whatever lies there now', () => {
  write('main.cjs', `exports.answer = () => require('./part-abc.cjs').value();`);
  const held = `
    const [dist] = process.argv.slice(1);
    const { load, hold } = require(${JSON.stringify(LOADER)}).createLoader(dist);
    const { answer } = load(dist + '/main.cjs');
    hold();
    require('node:fs').rmSync(dist + '/part-abc.cjs');
    process.stdout.write(JSON.stringify(answer()));
  `;
  const env = { PATH: process.env.PATH };
  expect(JSON.parse(execFileSync(process.execPath, ['-e', held, dist], { encoding: 'utf8', cwd: dist, env }))).toEqual([
    '\n',
    true,
  ]);
});

test('compiled code is kept for the next process; the entry’s, whose name has no hash, is not', () => {
  expect(run()).toEqual(['\n', true]);
  expect(readdirSync(folder())).toEqual(['part-abc.cjs.bin']);
  const { ino } = statSync(join(folder(), 'part-abc.cjs.bin'));
  expect(run()).toEqual(['\n', true]);
  expect(statSync(join(folder(), 'part-abc.cjs.bin')).ino).toBe(ino);
});

test('the first run of a command that ends well keeps what it went through; the next ones keep nothing', () => {
  run();
  const file = join(folder(), 'part-abc.cjs.bin');
  const first = inodeOf(file);
  run('search');
  const second = inodeOf(file);
  expect(second).not.toBe(first);
  run('search');
  expect(inodeOf(file)).toBe(second);
  run('intent create');
  expect(inodeOf(file)).not.toBe(second);
  expect(readdirSync(folder()).sort()).toEqual(['intent-create.ran', 'part-abc.cjs.bin', 'search.ran']);
});

test('a run that took long, in which V8 may have forgotten what it compiled, replaces nothing', () => {
  run('search');
  const file = join(folder(), 'part-abc.cjs.bin');
  const first = inodeOf(file);
  run('serve', { uptimeS: 3_600 });
  expect(inodeOf(file)).toBe(first);
  expect(readdirSync(folder())).not.toContain('serve.ran');
  rmSync(file);
  run('serve', { uptimeS: 3_600 });
  expect(readdirSync(folder())).toContain('part-abc.cjs.bin');
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

describe.runIf(process.platform === 'linux')('a package that this user may not write to', () => {
  const ANYBODY = 65_534;
  const isRoot = process.getuid?.() === 0;
  /** Who runs the tool: root may write everywhere. */
  const user = isRoot ? String(ANYBODY) : '';
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'farelock-load-home-'));
    if (isRoot) chownSync(home, ANYBODY, ANYBODY);
    chmodSync(dist, 0o555);
  });
  afterEach(() => {
    chmodSync(dist, 0o755);
    rmSync(home, { recursive: true });
  });
  const farelock = () => join(home, '.cache/farelock');
  const kept = () =>
    join(farelock(), `unknown-${process.version}-${process.platform}-${process.arch}`, 'part-abc.cjs.bin');
  const ran = (env = {}) => run('search', { user, env: { HOME: home, ...env } });
  /** Leaves compiled code of another text, which V8 takes for this one's: it is as long. */
  const plant = () => {
    ran();
    write('part-abc.cjs', OTHER);
  };

  test('gets its compiled code in the user’s cache folder, which nobody else may open', () => {
    expect(ran()).toEqual(['\n', true]);
    const { ino, mode } = statSync(kept());
    expect(mode & 0o777).toBe(0o600);
    for (const path of [join(home, '.cache'), farelock(), join(kept(), '..')]) {
      expect(statSync(path).mode & 0o777, path).toBe(0o700);
    }
    expect(ran()).toEqual(['\n', true]);
    expect(inodeOf(kept())).toBe(ino);
    expect(readdirSync(dist).sort()).toEqual(['main.cjs', 'part-abc.cjs']);
  });

  test('XDG_CACHE_HOME names the folder; one that is not absolute does not', () => {
    const other = join(home, 'other');
    ran({ XDG_CACHE_HOME: other });
    expect(readdirSync(other)).toEqual(['farelock']);
    ran({ XDG_CACHE_HOME: 'relative' });
    expect(readdirSync(home).sort()).toEqual(['.cache', 'other']);
  });

  test('what versions before have left, and nobody has written to for a month, is forgotten', () => {
    ran();
    const [old, young] = [join(farelock(), '0.0.1'), join(farelock(), '0.0.2')];
    for (const path of [old, young]) mkdirSync(path);
    utimesSync(old, new Date(0), new Date(0));
    if (isRoot) for (const path of [old, young]) chownSync(path, ANYBODY, ANYBODY);
    rmSync(kept());
    ran();
    expect(readdirSync(farelock())).toHaveLength(2);
    expect(readdirSync(farelock())).toContain('0.0.2');
  });

  test('code that others could have put there is not run', () => {
    plant();
    // As it lies there, it would be.
    expect(ran()).toEqual(['\n', true]);
    chmodSync(kept(), 0o620);
    expect(ran()).toEqual(['\n', 'of another text']);
  });

  test.each<[string, (path: string) => void]>([
    ['a folder that a group may write to', () => chmodSync(join(kept(), '..'), 0o770)],
    ['a folder above it that everybody may write to', () => chmodSync(farelock(), 0o707)],
    [
      'a link',
      () => {
        const there = join(home, 'moved');
        renameSync(farelock(), there);
        symlinkSync(there, farelock());
      },
    ],
  ])('nor what lies in %s', (_name, spoil) => {
    plant();
    spoil(kept());
    expect(ran()).toEqual(['\n', 'of another text']);
  });

  test.runIf(isRoot)('nor what belongs to another user, and nothing is made in that one’s home', () => {
    plant();
    chownSync(kept(), 1, 1);
    expect(ran()).toEqual(['\n', 'of another text']);
    rmSync(join(home, '.cache'), { recursive: true });
    chownSync(home, 1, 1);
    chmodSync(home, 0o777);
    expect(ran()).toEqual(['\n', 'of another text']);
    expect(readdirSync(home)).toEqual([]);
  });
});
