import { accessSync, constants, existsSync, lstatSync, readdirSync, type Stats, statfsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { loadClientInspect } from '../../../client/index.ts';
import { smallText } from '../../../kernel/bounded-file.ts';
import { nativeFix } from '../../../kernel/native.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { loadKeypair } from '../../../solana/index.ts';
import { readKeyFile } from '../../session/index.ts';
import { type Check, type Finding, failed, findingOf, named, ok, type Patient, warning } from './checks.ts';

/** Endings of the package names of a platform's builds. Package managers choose the C library on Linux. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  linux: ['-gnu', '-musl', '-gnueabihf', '-musleabihf'],
  win32: ['-msvc'],
};

const LEAST_MAJOR = 20;
const LEAST_MINOR = 18;
const TIGHT_BYTES = 500 * 1024 * 1024;
const TOO_FEW_BYTES = 20 * 1024 * 1024;

/** Checks the machine: Node, its native packages, room and permission to write. */
export const machineChecks = ({ home }: Patient): Check[] => [
  { id: 'node', run: node },
  { id: 'home', run: () => folder(home) },
  { id: 'disk', run: () => disk(home) },
  { id: 'native_packages', run: nativePackages },
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

/** The folder itself, or its nearest existing parent. */
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

/** Looks for the builds of both native packages for this platform, and loads none. */
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

const MOST_FILES = 10_000;

/** Checks that folders are 0700 and files 0600 (docs/house.md), and that the keys can be read. */
export const privateFileChecks = ({ home, profile }: Patient): Check[] => [
  { id: 'modes', run: () => modes(home) },
  { id: 'keys', run: () => keys(home) },
  ...Object.entries({
    api_key_file: profile.apiKeyFile,
    customer_token_file: profile.customerTokenFile,
    operator_key_file: profile.operatorKeyFile,
  }).flatMap(([id, path]): Check[] => (path === null ? [] : [{ id, run: () => keyFile(path) }])),
];

function keyFile(path: string): Finding {
  readKeyFile(path);
  return ok(path);
}

interface Entry {
  readonly path: string;
  readonly stat: Stats;
}

function entriesUnder(path: string, found: Entry[] = []): Entry[] {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink() || found.length >= MOST_FILES) return found;
  found.push({ path, stat });
  if (!stat.isDirectory()) return found;
  for (const name of readdirSync(path)) {
    try {
      entriesUnder(join(path, name), found);
    } catch (error) {
      // Another command has just closed its journal.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return found;
}

function modes(home: string): Finding {
  if (process.platform === 'win32') return ok('Windows keeps the folder to its user');
  if (!existsSync(home)) return ok('Nothing to check yet');
  const entries = entriesUnder(home);
  const me = process.getuid?.();
  const foreign = entries.filter(({ stat }) => me !== undefined && me !== 0 && stat.uid !== me);
  if (foreign.length > 0) {
    return failed(
      `${named(foreign.map(({ path }) => path))} ${foreign.length === 1 ? 'belongs' : 'belong'} to another user`,
      'Take ownership of it.',
      `sudo chown -R "$USER" ${home}`,
    );
  }
  const open = entries.filter(({ stat }) => (stat.mode & 0o077) !== 0);
  if (open.length === 0) return ok(`${entries.length} files and folders, for you alone`);
  const said = `Others can open ${named(open.map(({ path }) => path))}`;
  const next = `chmod -R go-rwx ${quoted(home)}`;
  return open.some(({ stat }) => !stat.isDirectory())
    ? failed(said, 'Make them private.', next)
    : warning(said, 'The files in them are private. Make the folders private as well.', next);
}

/** Key rings, and the databases whose sealed fields are lost without them. */
const RINGS = { 'client.json': 'client.db', 'service.json': 'service.db' } as const;

const SIGNERS = ['authority.json', 'facilitator.json', 'treasury.json'];

async function keys(home: string): Promise<Finding> {
  const at = (name: string) => join(home, 'keys', name);
  for (const [ring, database] of Object.entries(RINGS)) {
    if (!existsSync(at(ring))) {
      if (!existsSync(join(home, database))) continue;
      return failed(
        `${at(ring)} is missing: what ${database} has sealed cannot be read`,
        'Restore it from a backup before the next command creates a new one.',
      );
    }
    if (!isRing(smallText(at(ring)) ?? '')) {
      return failed(`${at(ring)} is not a key ring`, 'Restore it from a backup.');
    }
  }
  const { readKeypair } = await loadKeypair();
  const hasServices = existsSync(join(home, 'service.db'));
  const looks = hasServices ? await loadClientInspect() : null;
  const belonging = looks?.belongingIn(join(home, 'service.db'));
  const wanted = looks && belonging?.identity ? [...looks.keyFilesOf(belonging), 'treasury.json'] : SIGNERS;
  const missing = wanted.filter((name) => !existsSync(at(name)));
  for (const name of wanted.filter((one) => !one.startsWith('service'))) {
    try {
      if (!missing.includes(name)) readKeypair(at(name));
    } catch (error) {
      if (isProblem(error)) return findingOf(error);
      throw error;
    }
  }
  if (hasServices && missing.length > 0) {
    return failed(
      `${missing.map(at).join(', ')} missing: open escrows cannot be captured`,
      'Restore it from a backup before the next command creates a new one.',
    );
  }
  if (hasServices && missing.length === 0) {
    const others = await othersKeys(home, at);
    if (others !== null) return others;
  }
  const count = existsSync(join(home, 'keys')) ? readdirSync(join(home, 'keys')).length : 0;
  const rotating = Object.entries(belonging?.keys ?? {}).flatMap(([duty, all]) =>
    all.flatMap(({ name, state }) => (state === 'current' ? [] : [`${duty} ${name} is ${state}`])),
  );
  return ok([count === 0 ? 'None yet' : `${count} key files, readable`, ...rotating].join('; '));
}

/** Finds keys that differ from the keys that the services' database was made with. */
async function othersKeys(home: string, at: (name: string) => string): Promise<Finding | null> {
  const [{ belongingIn, differences, RING_PURPOSE }, { openSecrets }, { readOwnKeypair }] = await Promise.all([
    loadClientInspect(),
    import('../../../kernel/secrets.ts'),
    loadKeypair(),
  ]);
  const kept = belongingIn(join(home, 'service.db'))?.identity;
  if (!kept) return null;
  // The file of a retired key may be gone.
  const addressIn = (duty: string) =>
    existsSync(at(`${duty}.json`)) ? { [duty]: readOwnKeypair(at(`${duty}.json`)).address } : {};
  const others = differences(kept, {
    keyRing: openSecrets(at('service.json')).hmac(RING_PURPOSE, ''),
    ...addressIn('authority'),
    ...addressIn('facilitator'),
    treasury: readOwnKeypair(at('treasury.json')).address,
  });
  if (others.length === 0) return null;
  return failed(
    `service.db belongs to the home ${kept.madeBy}: ${others.map(({ words }) => words).join(', ')} differ`,
    'Restore the keys it was created with, or use that home.',
  );
}

function isRing(text: string): boolean {
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly { readonly secret: unknown }[] };
    return keys.length > 0 && keys.every(({ secret }) => Buffer.from(String(secret), 'base64').length === 32);
  } catch {
    return false;
  }
}
