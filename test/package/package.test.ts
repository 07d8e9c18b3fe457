import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isHere } from '../needs.mjs';
import { proofDescribe } from '../proof-only.ts';
import {
  demo,
  emptyFolder,
  install,
  installWithPnpm,
  type Packed,
  pack,
  ROOT,
  registryProblem,
  toolRun,
} from './packed.ts';

const built = isHere('the built tool', existsSync(join(ROOT, 'dist/main.cjs')));
const folder = emptyFolder();
afterAll(() => folder.close());

const inside = (name: string) => {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  return path;
};

let packing: Promise<Packed> | undefined;
/** Packed once. */
const thePacked = () => {
  packing ??= pack(folder.path);
  return packing;
};

describe.runIf(built)('the packed tool', () => {
  let packed: Packed;
  let unpacked: string;
  beforeAll(async () => {
    packed = await thePacked();
    unpacked = inside('unpacked');
    execFileSync('tar', ['xzf', packed.file, '-C', unpacked]);
    unpacked = join(unpacked, 'package');
  });

  test('has the built tool, the escrow program and the pages, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const expected =
      /^(LICENSE|README\.md|CHANGELOG\.md|(package|server)\.json|bin\/(farelock\.js|load\.js|keep\.js|package\.json)|dist\/[\w.-]+\.(cjs|css|js|mjs|mts)|dist\/licences\.txt|deploy\/[\w.-]+|program\/escrow\.so|man\/[\w-]+\.1|docs\/[\w/-]+\.(md|svg)|docs\/(schemas|recipes|vectors)\/[\w/.-]+\.json|docs\/operations\/\w+\.(yml|json))$/;
    expect(paths.filter((path) => !expected.test(path))).toEqual([]);
    const needed = [
      'LICENSE',
      'README.md',
      'bin/farelock.js',
      'dist/main.cjs',
      'program/escrow.so',
      'dist/licences.txt',
      'docs/errors.md',
      'man/farelock.1',
      'man/farelock-search.1',
    ];
    expect(paths).toEqual(expect.arrayContaining(needed));
    expect(packed.packedBytes).toBeLessThan(2_000_000);
    expect(packed.unpackedBytes).toBeLessThan(7_000_000);
  });

  test('names its command, its Node and the native builds of every platform, and no other dependency', () => {
    const about = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(about.bin).toEqual({ farelock: 'bin/farelock.js' });
    expect(about.engines).toEqual({ node: '>=20.18' });
    expect(about.license).toBe('MIT');
    expect(about.dependencies).toBeUndefined();
    // For those who let a browser buy: nobody else gets them.
    const optional = { optional: true };
    const wanted = { mailauth: optional, 'playwright-core': optional, 'postal-mime': optional };
    expect(about.peerDependenciesMeta).toEqual(wanted);
    expect(Object.keys(about.peerDependencies as object)).toEqual(Object.keys(wanted));
    const natives = ['libsql', 'litesvm'].map((name) => {
      const own = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as {
        optionalDependencies: object;
      };
      return own.optionalDependencies;
    });
    expect(about.optionalDependencies).toEqual(Object.assign({}, ...natives));
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

proofDescribe.runIf(built)('installed from the tarball alone', () => {
  let why: string | null = null;
  let modules = '';
  let tarball = '';
  beforeAll(async () => {
    why = await registryProblem(folder.path);
    if (why !== null) return;
    tarball = (await thePacked()).file;
    modules = await install(tarball, inside('an empty prefix'), ['--engine-strict']);
  }, 240_000);
  beforeEach(({ skip }) => {
    if (why !== null) skip(why);
  });

  test('brings the native packages of this platform, and nothing else', () => {
    const installed = readdirSync(modules, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^(@[^/]+\/)?[^/@.][^/]*$/.test(path))
      .filter((path) => existsSync(join(modules, path, 'package.json')));
    expect(installed.filter((name) => !/^(farelock|@libsql\/|litesvm-)/.test(name))).toEqual([]);
    expect(installed.filter((name) => name.startsWith('litesvm-'))).toHaveLength(1);
    expect(installed.length).toBeLessThanOrEqual(4);
    expect(existsSync(join(modules, '.bin/farelock'))).toBe(true);
  });

  test('nothing in it wants another Node: the install was strict about engines', () => {
    expect(existsSync(join(modules, 'farelock/package.json'))).toBe(true);
  });

  // Side by side: most of it is waiting for the registry and the disk.
  test.concurrent('a package manager that lets each package see only its own dependencies can run it', async () => {
    const project = inside('strict');
    await installWithPnpm(tarball, project);
    const home = inside('home strict');
    const isolated = join(project, 'node_modules');
    expect(readdirSync(isolated).filter((name) => !name.startsWith('.'))).toEqual(['farelock']);
    expect(await demo({ node: process.execPath, modules: isolated, home })).toMatch(/✓ Booked/);
  });

  test.concurrent('without its optional packages it says which one is missing, and how to get it', async () => {
    const bare = await install(tarball, inside('bare'), ['--omit=optional']);
    const env = { PATH: process.env.PATH, FARELOCK_HOME: inside('bare home'), NO_COLOR: '1' };
    const said = (...args: string[]) =>
      spawnSync(process.execPath, [join(bare, 'farelock/bin/farelock.js'), ...args], { env, encoding: 'utf8' });
    const search = said('search', 'LIS', 'BER', '--depart', '+30d');
    expect(search.status).toBe(1);
    expect(search.stderr).toMatch(/^✗ @libsql\/\S+, a native package that this machine needs, is not installed\./m);
    expect(search.stderr).toContain('--include=optional');
    const looked = said('doctor');
    expect(looked.stdout).toMatch(/failed\tnative_packages\tNot installed: @libsql\/\S+, litesvm-/);
    expect(looked.stdout).not.toContain('is not a function');
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
      // Compiled code of the one command, for this user alone.
      const [kept = ''] = readdirSync(join(home, '.cache/farelock'));
      expect(readdirSync(join(home, '.cache/farelock', kept))).toContain('demo.ran');
    } finally {
      execFileSync('chmod', ['-R', 'u+w', package_]);
    }
  });

  // The oldest that it is for, and those after it. The tests before ran on the Node of this process.
  test.concurrent.each(
    [
      ['the demo', '20.18.0'],
      ['a paid search', '20'],
      ['a paid search', '22'],
      ['the demo', '24'],
    ].filter(([, version]) => !`${process.version}.`.startsWith(`v${version}.`)),
  )(
    '%s runs on Node %s',
    async (wanted = '', version = '') => {
      // The package `node` fetches the binary of one platform by a script, which may be switched off here.
      const binaries = `node-${process.platform}-${process.arch}`;
      const node = await install(`${binaries}@${version}`, inside(`node ${version}`));
      const binary = join(node, binaries, 'bin/node');
      const home = inside(`home ${version}`);
      expect(execFileSync(binary, ['--version'], { encoding: 'utf8' })).toMatch(new RegExp(`^v${version}[.\\n]`));
      const given = { node: binary, modules, home };
      if (wanted === 'the demo') expect(await demo(given)).toMatch(/✓ Booked: booking reference/);
      else expect(await toolRun(given, ['search', 'LIS', 'BER', '--depart', '+30d'])).toMatch(/^off_\S+\t/m);
    },
    240_000,
  );

  test('it runs where nothing is known of the machine but a path, by its own command', () => {
    const env = { PATH: `${join(modules, '.bin')}:${process.env.PATH}` };
    expect(execFileSync('farelock', ['--version'], { env, encoding: 'utf8' })).toBe('0.1.0\n');
  });
});
