// Preloaded into the tool (NODE_OPTIONS): writes down the command line and the environment of each process that it
// starts, and its own, as the kernel shows them to others.
const children = require('node:child_process');
const { appendFileSync, readFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const log = process.env.TEST_CHILDREN;
const kernelsView = (pid) => {
  const read = (name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1');
    } catch {
      // Not Linux, or it has ended already.
      return '';
    }
  };
  return { cmdline: read('cmdline'), environ: read('environ') };
};
const note = (line) => appendFileSync(log, `${JSON.stringify(line)}\n`);

if (log) {
  for (const name of ['spawn', 'fork', 'execFile', 'exec']) {
    const start = children[name];
    children[name] = (...given) => {
      const child = start(...given);
      const { env = process.env } = given.find((one) => one?.env) ?? {};
      const words = given.filter((one) => typeof one === 'string' || Array.isArray(one)).flat();
      note({ of: 'child', words, env, ...(child.pid ? kernelsView(child.pid) : {}) });
      return child;
    };
  }
  for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
    const start = children[name];
    children[name] = (...given) => {
      const { env = process.env } = given.find((one) => one?.env) ?? {};
      note({ of: 'child', words: given.filter((one) => typeof one === 'string' || Array.isArray(one)).flat(), env });
      return start(...given);
    };
  }
  syncBuiltinESMExports();
  process.on('exit', () => note({ of: 'tool', cmdline: kernelsView(process.pid).cmdline }));
}
