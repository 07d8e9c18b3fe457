// NODE_OPTIONS=--require: what a run of the tool has read, as JSON lines in the file that FARELOCK_TEST_LOADS names.
const fs = require('node:fs');
const Module = require('node:module');

const loads = { chunks: [], packages: [] };
const read = fs.readFileSync;
fs.readFileSync = function readFileSync(path, ...rest) {
  const chunk = typeof path === 'string' && /[\\/]dist[\\/]([^\\/]+\.cjs)$/.exec(path);
  if (chunk) loads.chunks.push(chunk[1]);
  return read.call(this, path, ...rest);
};
const load = Module._load;
Module._load = function _load(id, ...rest) {
  if (!id.startsWith('.') && !id.startsWith('/') && !Module.isBuiltin(id)) loads.packages.push(id);
  return load.call(this, id, ...rest);
};
process.on('exit', () => {
  const builtins = process.moduleLoadList.map((one) => one.replace(/^.* /, ''));
  fs.writeFileSync(process.env.FARELOCK_TEST_LOADS, JSON.stringify({ ...loads, builtins }));
});
