const fs = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, isAbsolute, join, relative } = require('node:path');
const { Script } = require('node:vm');

/** V8 forgets the code of functions that have not run for long: what `serve` would keep in the evening is less than it had. */
const BRIEF_S = 30;

const NODE = `${process.version}-${process.platform}-${process.arch}`;

/**
 * Loads the chunks of `dist` with the code that V8 compiled for them an earlier time: half of what a short command
 * costs is compiling. A chunk's name holds a hash of its text, so that compiled code never belongs to another text, and
 * V8 itself refuses what another version of it has made.
 *
 * The compiled code lies under `dist/cache`, where whoever may write there may write the chunks themselves. Where this
 * user may not (`sudo npm install --global`), it lies in the user's own cache folder. `npm run build` makes it for the
 * commands of a traveller, on the Node that it runs on; else the first run of each command does (keep.js).
 *
 * Node has such a cache of its own from version 22 on, under the system's temporary folder.
 */
exports.createLoader = (dist) => {
  const folders = foldersOf(dist);
  const renewed = process.env.FARELOCK_CODE_CACHE === 'renew';
  const modules = new Map();
  const scripts = new Map();
  const compiled = new Map();
  const held = new Map();
  const packages = createRequire(join(dist, 'main.cjs'));

  /** The exports of a chunk, by its absolute path. */
  const load = (path) => {
    const known = modules.get(path);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    const near = dirname(path);
    const require = (id) => (id.startsWith('.') ? load(join(near, id)) : packages(id));
    require.resolve = packages.resolve;
    try {
      compile(path).runInThisContext().call(module.exports, module.exports, require, module, path, near);
    } catch (error) {
      // Half a chunk is no chunk: whoever asks again gets the same failure, and not what is missing of its exports.
      modules.delete(path);
      throw error;
    }
    return module.exports;
  };

  const compile = (path) => {
    const name = relative(dist, path);
    const source = `(function (exports, require, module, __filename, __dirname) {${held.get(path) ?? fs.readFileSync(path, 'utf8')}\n})`;
    // The entry alone has no hash in its name; it only names the first chunk.
    if (name === 'main.cjs') return new Script(source, { filename: path });
    const cachedData = compiledCode(folders, `${name}.bin`);
    const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
    if (!cachedData || script.cachedDataRejected) compiled.set(name, script);
    scripts.set(name, script);
    return script;
  };

  /**
   * Keeps what had to be compiled, functions that ran included; of the first run of each command that ends well everything,
   * for it goes through functions that no other command went through. Without the name of one it is only the former.
   */
  const keep = (command) => {
    const mark = command && `${command.replace(/\W+/g, '-')}.ran`;
    const isKnown = () => folders.some((folder) => fs.existsSync(join(folder, mark)));
    const isFirst = renewed || (mark && process.uptime() < BRIEF_S && !isKnown());
    if (!isFirst && compiled.size === 0) return;
    const due = isFirst ? scripts : compiled;
    require('./keep.js').keep({ folder: folders[0], ofUser: folders.length > 1, due, mark: isFirst ? mark : null });
  };

  /** Reads what was not asked for yet: a process that runs for long stays of one version, whatever is installed meanwhile. */
  const hold = () => {
    try {
      const paths = fs.readdirSync(dist).map((name) => join(dist, name));
      const left = paths.filter((path) => path.endsWith('.cjs') && !modules.has(path));
      for (const path of left) held.set(path, fs.readFileSync(path, 'utf8'));
    } catch {
      // As without it: whoever asks for a chunk that is gone is told so.
    }
  };

  return { load, keep, hold };
};

/** Where compiled code is looked for; it is written to the first of them. */
function foldersOf(dist) {
  const beside = join(dist, 'cache', NODE);
  const own = isWritable(beside) ? null : usersCache(process.env);
  return own ? [join(own, 'farelock', `${versionOf(dist)}-${NODE}`), beside] : [beside];
}

/** Checks that this user may write to a folder, or may make it. */
function isWritable(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch (error) {
    return error.code === 'ENOENT' && isWritable(dirname(folder));
  }
}

/** Where this user keeps what can be made again; null where that is not known. */
function usersCache(environment) {
  const under = (path, ...names) => (path && isAbsolute(path) ? join(path, ...names) : null);
  if (process.platform === 'win32') return under(environment.LOCALAPPDATA);
  if (process.platform === 'darwin') return under(environment.HOME, 'Library', 'Caches');
  return under(environment.XDG_CACHE_HOME) ?? under(environment.HOME, '.cache');
}

function versionOf(dist) {
  try {
    return JSON.parse(fs.readFileSync(join(dist, '..', 'package.json'), 'utf8')).version;
  } catch {
    return 'unknown';
  }
}

function compiledCode([first, beside], name) {
  if (beside === undefined) return readIfThere(join(first, name));
  return readOurs(first, name) ?? readIfThere(join(beside, name));
}

function readIfThere(path) {
  try {
    return fs.readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Compiled code is run as it is: what another user has put into this user's folder, or could have, is never read. */
function readOurs(folder, name) {
  let file;
  try {
    if (![dirname(folder), folder].every((path) => isOurs(fs.lstatSync(path)))) return undefined;
    file = fs.openSync(join(folder, name), fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
    const stat = fs.fstatSync(file);
    return stat.isFile() && isOurs(stat) ? fs.readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** Checks that a file or folder, no link, is this user's and that nobody else may write to it. */
const isOurs = (stat) =>
  !stat.isSymbolicLink() &&
  (process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o022) === 0));
