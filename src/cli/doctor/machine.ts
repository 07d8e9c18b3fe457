import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { quoted } from '../../kernel/shell-word.ts';
import { type Check, failed, ok, type Patient, warning } from './checks.ts';
import { nativePackages } from './natives.ts';

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
