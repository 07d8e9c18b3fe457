import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isHere } from '../needs.mjs';

/** The packed tool, installed as a user installs it: the tarball alone, into an empty prefix. */

export const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What the machine's own npm settings (scripts off, another registry's proxy) say stays; this project's do not. */
const npm = async (args: readonly string[], cwd: string) =>
  (await run('npm', [...args], { cwd, encoding: 'utf8', timeout: 240_000, maxBuffer: 1 << 26 })).stdout;

/** null, or why nothing can be installed here. */
export async function registryProblem(folder: string): Promise<string | null> {
  try {
    await npm(['view', 'libsql', 'version', '--fetch-retries=1', '--fetch-timeout=30000'], folder);
    return null;
  } catch (error) {
    isHere('the package registry', false);
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n').slice(1);
    return `the package registry cannot be reached: ${first}`;
  }
}

/** Whether `npm ci` of a version of npm takes the project's lock file; what it said where it does not. */
export async function lockRefusal(version: string, folder: string): Promise<string | null> {
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    copyFileSync(join(ROOT, name), join(folder, name));
  }
  const ci = ['ci', '--workspaces=false', '--dry-run'];
  try {
    const isOwn = (await npm(['--version'], folder)).startsWith(`${version}.`);
    await npm(isOwn ? ci : ['exec', '--yes', `--package=npm@${version}`, '--', 'npm', ...ci], folder);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A folder that any user can enter, removed by `close`. */
export function emptyFolder(): { path: string; close(): void } {
  const path = mkdtempSync(join(tmpdir(), 'farelock-package-'));
  chmodSync(path, 0o755);
  return { path, close: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Packed {
  readonly file: string;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly files: readonly { path: string; mode: number }[];
}

export async function pack(folder: string): Promise<Packed> {
  const [made] = JSON.parse(await npm(['pack', '--json', '--pack-destination', folder, ROOT], folder)) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string; mode: number }[] },
  ];
  return {
    file: join(folder, made.filename),
    packedBytes: made.size,
    unpackedBytes: made.unpackedSize,
    files: made.files,
  };
}

/** @returns the folder of node_modules */
export async function install(what: string, prefix: string, more: readonly string[] = []): Promise<string> {
  const settings = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
  await npm(['install', '--prefix', prefix, ...settings, ...more, what], tmpdir());
  return join(prefix, 'node_modules');
}

/** Into `project/node_modules`, as pnpm lays packages out. */
export async function installWithPnpm(what: string, project: string): Promise<void> {
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const store = join(project, '.store');
  const pnpm = ['exec', '--yes', '--package=pnpm@9', '--', 'pnpm', 'add', '--node-linker=isolated'];
  await npm([...pnpm, `--store-dir=${store}`, what], project);
}

export interface DemoGiven {
  readonly node: string;
  readonly modules: string;
  readonly home: string;
  readonly as?: { uid: number; gid: number };
}

export const demo = (given: DemoGiven): Promise<string> => toolRun(given, ['demo']);

/** A command with nothing in the environment but a path and a home, for the tool and for its user. @throws when Node had something to warn of */
export async function toolRun({ node, modules, home, as }: DemoGiven, args: readonly string[]): Promise<string> {
  const bin = join(modules, 'farelock/bin/farelock.js');
  const env = { PATH: process.env.PATH, FARELOCK_HOME: home, HOME: home, NO_COLOR: '1' };
  const ran = await run(node, [bin, ...args], { env, cwd: home, encoding: 'utf8', timeout: 120_000, ...as });
  if (/warning/i.test(ran.stderr)) throw new Error(ran.stderr);
  return ran.stdout;
}
