import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { nativeFix } from '../../kernel/native.ts';
import { quoted } from '../../kernel/shell-word.ts';
import { type Check, type Finding, failed, ok, type Patient, warning } from './checks.ts';

/** The ending of a platform's build. Which C library a Linux has is not looked at here: package managers know. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  linux: ['-gnu', '-musl', '-gnueabihf', '-musleabihf'],
  win32: ['-msvc'],
};

const LEAST_MAJOR = 20;
const LEAST_MINOR = 18;
const TIGHT_BYTES = 500 * 1024 * 1024;
const TOO_FEW_BYTES = 20 * 1024 * 1024;

/** The machine: Node, its native packages, room and permission to write. */
export const machineChecks = ({ home }: Patient): Check[] => [
  { id: 'node', run: async () => node() },
  { id: 'home', run: async () => folder(home) },
  { id: 'disk', run: async () => disk(home) },
  { id: 'native_packages', run: async () => nativePackages() },
];

function node() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const said = `Node ${process.versions.node} on ${process.platform}-${process.arch}`;
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return ok(said);
  return failed(`${said}: farelock needs ${LEAST_MAJOR}.${LEAST_MINOR} or newer`, 'Install a newer Node.');
}

function folder(home: string) {
  const stat = statSync(home, { throwIfNoEntry: false });
  if (!stat) {
    if (!isWritable(parentOf(home))) {
      return failed(`${home} cannot be created`, 'Set FARELOCK_HOME to a folder that can.');
    }
    return warning(`Not set up yet: ${home}`, 'The first command creates it.', 'farelock wallet show');
  }
  if (!stat.isDirectory()) return failed(`${home} is not a folder`, 'Set FARELOCK_HOME to a folder.');
  if (!isWritable(home))
    return failed(`${home} cannot be written`, `Run: chmod 700 ${quoted(home)}`, `chmod 700 ${quoted(home)}`);
  return ok(home);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder itself, or what is there of the way to it. */
function parentOf(path: string): string {
  let at = resolve(path);
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function disk(home: string) {
  const { bavail, bsize } = statfsSync(parentOf(home));
  const free = bavail * bsize;
  const said = `${free < 1e9 ? `${Math.floor(free / 1e6)} MB` : `${(free / 1e9).toFixed(1)} GB`} free`;
  if (free < TOO_FEW_BYTES) {
    return failed(
      `${said}: a payment could not be recorded`,
      'Free some space before paying anything.',
      `df -h ${home}`,
    );
  }
  return free < TIGHT_BYTES ? warning(said, 'Free some space soon.', `df -h ${home}`) : ok(said);
}

/** True when the builds of both native packages for this platform are installed. None is loaded. */
function nativePackages(): Finding {
  const { resolve } = createRequire(import.meta.url);
  const isThere = (name: string): boolean => {
    try {
      return resolve(name) !== '';
    } catch {
      return false;
    }
  };
  const platform = `${process.platform}-${process.arch}`;
  const builds = ['@libsql/', 'litesvm-'].map((start) => ({
    start,
    found: (ENDS[process.platform] ?? ['']).map((end) => `${start}${platform}${end}`).filter(isThere),
  }));
  const missing = builds.filter(({ found }) => found.length === 0).map(({ start }) => `${start}${platform}`);
  if (missing.length > 0) return failed(`Not installed: ${missing.join(', ')}`, nativeFix());
  return ok(builds.flatMap(({ found }) => found).join(', '));
}
