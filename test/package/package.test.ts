import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { demo, emptyFolder, install, type Packed, pack, ROOT, registryProblem } from './packed.ts';

const built = existsSync(join(ROOT, 'dist/main.cjs'));
const folder = emptyFolder();
afterAll(() => folder.close());

const inside = (name: string) => {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  return path;
};

describe.runIf(built)('the packed tool', () => {
  let packed: Packed;
  let unpacked: string;
  beforeAll(async () => {
    packed = await pack(folder.path);
    unpacked = inside('unpacked');
    execFileSync('tar', ['xzf', packed.file, '-C', unpacked]);
    unpacked = join(unpacked, 'package');
  });

  test('has the built tool, the escrow program and the pages, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const expected =
      /^(LICENSE|README\.md|CHANGELOG\.md|package\.json|bin\/(farelock\.js|load\.js|package\.json)|dist\/[\w.-]+\.cjs|program\/escrow\.so|docs\/[\w/-]+\.(md|svg)|docs\/schemas\/[\w/.-]+\.json)$/;
    expect(paths.filter((path) => !expected.test(path))).toEqual([]);
    const needed = [
      'LICENSE',
      'README.md',
      'bin/farelock.js',
      'dist/main.cjs',
      'program/escrow.so',
      'docs/errors.md',
    ];
    expect(paths).toEqual(expect.arrayContaining(needed));
    expect(packed.packedBytes).toBeLessThan(2_000_000);
    expect(packed.unpackedBytes).toBeLessThan(6_000_000);
  });

  test('names its command, its Node and its two native packages, and no other dependency', () => {
    const about = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(about.bin).toEqual({ farelock: 'bin/farelock.js' });
    expect(about.engines).toEqual({ node: '>=20.18' });
    expect(about.license).toBe('MIT');
    expect(Object.keys(about.dependencies as object)).toEqual(['libsql', 'litesvm']);
    expect(about.optionalDependencies ?? about.peerDependencies).toBeUndefined();
    expect(statSync(join(unpacked, 'bin/farelock.js')).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(unpacked, 'bin/farelock.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    // Nothing of ours runs while somebody installs it.
    const scripts = Object.keys(about.scripts as object);
    expect(scripts.filter((name) => /^(pre|post)?(install|pack|prepare)$|^prepare/.test(name))).toEqual([]);
  });

  test('holds no key, no source map and no path of the machine that built it', () => {
    const places = [ROOT, homedir()].filter((place) => place.length > 5);
    for (const { path } of packed.files) {
      const text = readFileSync(join(unpacked, path), 'latin1');
      expect(text, path).not.toMatch(
        /sourceMappingURL=|-----BEGIN [A-Z ]*PRIVATE KEY-----\n|\bflk_(live|demo)_[0-9a-zA-Z]{20}/,
      );
      for (const place of places) expect(text.includes(place), `${path} names ${place}`).toBe(false);
    }
  });
});

describe.runIf(built)('installed from the tarball alone', () => {
  let why: string | null = null;
  let modules = '';
  beforeAll(async () => {
    why = await registryProblem(folder.path);
    if (why === null) modules = await install((await pack(folder.path)).file, inside('an empty prefix'));
  }, 240_000);
  beforeEach(({ skip }) => {
    if (why !== null) skip(why);
  });

  test('brings the packages of the two natives, and none that the tool is built from', () => {
    const installed = readdirSync(modules);
    expect(installed).toEqual(expect.arrayContaining(['farelock', 'libsql', 'litesvm']));
    for (const name of [
      'zod',
      'hono',
      '@hono',
      '@x402',
      'kysely',
      'ora',
      '@inquirer',
      'pg',
      'vitest',
      'typescript',
    ]) {
      expect(installed).not.toContain(name);
    }
    expect(existsSync(join(modules, '.bin/farelock'))).toBe(true);
  });

  test('the demo runs from a path with spaces, in a package folder that belongs to another user and is read-only', async () => {
    const home = inside('home of nobody');
    const isRoot = process.getuid?.() === 0;
    const nobody = { uid: 65_534, gid: 65_534 };
    if (isRoot) chownSync(home, nobody.uid, nobody.gid);
    const package_ = join(modules, 'farelock');
    execFileSync('chmod', ['-R', 'a-w,a+rX', package_]);
    try {
      const told = await demo({ node: process.execPath, modules, home, ...(isRoot && { as: nobody }) });
      expect(told).toMatch(/State on chain {2}captured/);
      expect(told).toMatch(/✓ Booked: booking reference [A-Z0-9]{6}\n/);
      expect(existsSync(join(package_, 'dist/cache'))).toBe(false);
    } finally {
      execFileSync('chmod', ['-R', 'u+w', package_]);
    }
  });

  // The tests before ran on the Node of this process.
  test.each(['20', '22', '24'].filter((version) => !process.version.startsWith(`v${version}.`)))(
    'the demo runs on Node %s',
    async (version) => {
      // The package `node` fetches the binary of one platform by a script, which may be switched off here.
      const binaries = `node-${process.platform}-${process.arch}`;
      const node = await install(`${binaries}@${version}`, inside(`node ${version}`));
      const binary = join(node, binaries, 'bin/node');
      const home = inside(`home ${version}`);
      expect(execFileSync(binary, ['--version'], { encoding: 'utf8' })).toMatch(
        new RegExp(`^v${version}\\.`),
      );
      expect(await demo({ node: binary, modules, home })).toMatch(/✓ Booked: booking reference/);
    },
    240_000,
  );

  test('it runs where nothing is known of the machine but a path, by its own command', () => {
    const env = { PATH: `${join(modules, '.bin')}:${process.env.PATH}` };
    expect(execFileSync('farelock', ['--version'], { env, encoding: 'utf8' })).toBe('0.1.0\n');
  });
});
