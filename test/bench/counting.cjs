// Loaded before a server that is measured (NODE_OPTIONS=--require): counts the statements that each of its threads runs
// on libsql, and how long its event loop stands still. SIGUSR2 writes both to BENCH_COUNTS, and begins anew.
const { writeFileSync, renameSync } = require('node:fs');
const Module = require('node:module');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { BroadcastChannel, isMainThread } = require('node:worker_threads');

const counts = {};
const RUNS = ['statementRun', 'statementGet', 'statementRowsSync', 'databaseExecSync'];

const load = Module._load;
let counted = null;
Module._load = function (name, ...rest) {
  const exported = load.call(this, name, ...rest);
  if (!/^@libsql\//.test(name)) return exported;
  counted ??= {
    ...exported,
    ...Object.fromEntries(
      RUNS.map((one) => [
        one,
        function (...given) {
          counts[one] = (counts[one] ?? 0) + 1;
          return exported[one].apply(this, given);
        },
      ]),
    ),
  };
  return counted;
};

const sum = (all) => Object.values(all).reduce((total, count) => total + count, 0);
const channel = new BroadcastChannel('bench');
channel.unref();
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 2 });
  delay.enable();
  process.on('SIGUSR2', () => {
    let others = 0;
    channel.onmessage = ({ data }) => {
      if (typeof data === 'number') others += data;
    };
    channel.postMessage('count');
    setTimeout(() => {
      const text = JSON.stringify({ statements: sum(counts) + others, longestPauseMs: delay.max / 1e6 });
      delay.reset();
      writeFileSync(`${process.env.BENCH_COUNTS}.new`, text);
      renameSync(`${process.env.BENCH_COUNTS}.new`, process.env.BENCH_COUNTS);
    }, 100);
  });
} else {
  channel.onmessage = ({ data }) => {
    if (data === 'count') channel.postMessage(sum(counts));
  };
}
