const fs = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join, relative } = require('node:path');
const { Script } = require('node:vm');

/**
 * Loads the chunks of `dist` with the code that V8 compiled for them an earlier time: half of what a short command
 * costs is compiling. The compiled code lies beside the chunks, under `dist/cache`, and whoever may write there may
 * write the chunks themselves. `npm run build` makes it for the Node that it runs on; for another one the first run
 * of each chunk does, where the folder can be written. A chunk's name holds a hash of its text, so that compiled code
 * never belongs to another text, and V8 itself refuses what another version of it has made.
 *
 * Node has such a cache of its own from version 22 on, under the system's temporary folder.
 */
exports.createLoader = (dist) => {
  const folder = join(dist, 'cache', `${process.version}-${process.platform}-${process.arch}`);
  const renewed = process.env.FARELOCK_CODE_CACHE === 'renew';
  const modules = new Map();
  const compiled = [];
  const packages = createRequire(join(dist, 'main.cjs'));

  /** The exports of a chunk, by its absolute path. */
  const load = (path) => {
    const known = modules.get(path);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    const run = compile(path).runInThisContext();
    const near = dirname(path);
    const require = (id) => (id.startsWith('.') ? load(join(near, id)) : packages(id));
    require.resolve = packages.resolve;
    try {
      run.call(module.exports, module.exports, require, module, path, near);
    } catch (error) {
      // Half a chunk is no chunk: whoever asks again gets the same failure, and not what is missing of its exports.
      modules.delete(path);
      throw error;
    }
    return module.exports;
  };

  const compile = (path) => {
    const name = relative(dist, path);
    const source = `(function (exports, require, module, __filename, __dirname) {${fs.readFileSync(path, 'utf8')}\n})`;
    // The entry alone has no hash in its name; it only names the first chunk.
    if (name === 'main.cjs') return new Script(source, { filename: path });
    const cache = join(folder, `${name}.bin`);
    const cachedData = readIfThere(cache);
    const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
    if (!cachedData || script.cachedDataRejected || renewed) compiled.push({ script, cache });
    return script;
  };

  /** Keeps what had to be compiled, functions that ran included. Where nothing can be written, nothing is lost. */
  const keep = () => {
    if (compiled.length === 0) return;
    try {
      fs.mkdirSync(folder, { recursive: true });
      for (const { script, cache } of compiled) {
        const whole = `${cache}.${process.pid}`;
        const file = fs.openSync(whole, 'w');
        fs.writeSync(file, script.createCachedData());
        fs.fsyncSync(file);
        fs.closeSync(file);
        fs.renameSync(whole, cache);
      }
    } catch {
      // A package that another user installed.
    }
  };

  return { load, keep };
};

function readIfThere(path) {
  try {
    return fs.readFileSync(path);
  } catch {
    return undefined;
  }
}
