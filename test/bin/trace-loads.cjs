// --require: what a run of the tool has read, waited for and opened, as JSON in the file that TEST_LOADS names.
const fs = require('node:fs');
const Module = require('node:module');

const loads = { chunks: [], packages: [], syncs: [], machines: 0 };
// A command that lasts, on a busy machine too, reads all of its own code to be safe from a new build: that is no load.
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = (run, ...rest) => wait(run.name === 'hold' ? () => undefined : run, ...rest);
const read = fs.readFileSync;
fs.readFileSync = function readFileSync(path, ...rest) {
  const chunk = typeof path === 'string' && /[\\/]dist[\\/]([^\\/]+\.cjs)$/.exec(path);
  if (chunk) loads.chunks.push(chunk[1]);
  return read.call(this, path, ...rest);
};
// What is committed is waited for at the journals of databases, beside the thread (store/libsql/journal-disk.ts).
const journals = new Map();
const open = fs.openSync;
fs.openSync = function openSync(path, ...rest) {
  const file = open.call(this, path, ...rest);
  const [, database] = /([^\\/]+)-wal$/.exec(path) ?? [];
  journals.set(file, database ? `${database}: commit` : 'file');
  return file;
};
for (const name of ['fsync', 'fsyncSync', 'fdatasync', 'fdatasyncSync']) {
  const sync = fs[name];
  fs[name] = function waitForDisk(file, ...rest) {
    loads.syncs.push(journals.get(file) ?? 'file');
    return sync.call(this, file, ...rest);
  };
}

/** Notes each commit that SQLite waits for: one that changed something, unless the connection is told not to wait. */
function watchLibsql(native) {
  const opened = new Map();
  const { databaseOpen, databaseExecSync, databasePrepareSync, databaseInTransaction, statementGet } = native;
  const changesOf = (database) =>
    statementGet.call(databasePrepareSync.call(database, 'select total_changes() as n'), []).n;
  const look = (database, sql) => {
    const about = opened.get(database);
    if (/pragma synchronous/.test(sql)) about.waits = /synchronous = full/.test(sql);
    if (databaseInTransaction(database)) return;
    const changes = changesOf(database);
    if (changes !== about.changes && about.waits) loads.syncs.push(`${about.name}: ${sql}`);
    about.changes = changes;
  };
  native.databaseOpen = function (path, ...rest) {
    const database = databaseOpen.call(this, path, ...rest);
    opened.set(database, { name: path.replace(/^.*[\\/]/, ''), changes: 0, waits: true });
    return database;
  };
  native.databaseExecSync = function (sql, ...rest) {
    const answer = databaseExecSync.call(this, sql, ...rest);
    look(this, sql);
    return answer;
  };
  const statements = new WeakMap();
  native.databasePrepareSync = function (sql, ...rest) {
    const statement = databasePrepareSync.call(this, sql, ...rest);
    statements.set(statement, { database: this, sql });
    return statement;
  };
  for (const name of ['statementGet', 'statementRun', 'statementRowsSync']) {
    const run = native[name];
    native[name] = function (...given) {
      const answer = run.apply(this, given);
      const { database, sql } = statements.get(this);
      if (/^\s*(insert|update|delete|pragma synchronous)/.test(sql)) look(database, sql);
      return answer;
    };
  }
}

/** Counts the virtual machines that are made. */
function watchLiteSvm(native) {
  const Machine = native.LiteSvm;
  const counted = (make) => {
    loads.machines += 1;
    return make();
  };
  native.LiteSvm = Object.assign(
    function LiteSvm(...given) {
      return counted(() => new Machine(...given));
    },
    { default: () => counted(() => Machine.default()) },
  );
}

const load = Module._load;
Module._load = function _load(id, ...rest) {
  const isPackage = !id.startsWith('.') && !id.startsWith('/') && !Module.isBuiltin(id);
  if (isPackage) loads.packages.push(id);
  const exported = load.call(this, id, ...rest);
  if (!isPackage || exported.isWatched) return exported;
  if (id.startsWith('@libsql/')) watchLibsql(exported);
  if (exported.LiteSvm) watchLiteSvm(exported);
  if (id.startsWith('@libsql/') || exported.LiteSvm) exported.isWatched = true;
  return exported;
};
process.on('exit', () => {
  const builtins = process.moduleLoadList.map((one) => one.replace(/^.* /, ''));
  fs.writeFileSync(process.env.TEST_LOADS, JSON.stringify({ ...loads, builtins }));
});
