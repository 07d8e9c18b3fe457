// node .ci/mend-lock.mjs: after every `npm install`. npm writes a lock file for this machine alone where the registry
// lacks a package's builds for others, and `npm ci` then fails; and it skips a native build whose declared engine is
// newer than ours, though it runs. This adds the missing entries, with the hashes that the registry has of them, and takes
// the engines off the native builds.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const { packages } = lock;

const isThere = (from, name) => {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${base ? `${base}/` : ''}node_modules/${name}`]) return true;
    if (!base) return false;
  }
};

for (const [from, entry] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isThere(from, name)) continue;
    const [os, cpu, libc] = name
      .split('/')
      .at(-1)
      .replace(/^(cli|litesvm|binding)-/, '')
      .split('-');
    packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(entry.dev && { dev: true }),
      optional: true,
      os: [os],
      ...(os === 'linux' && { libc: [libc?.startsWith('musl') ? 'musl' : 'glibc'] }),
    };
  }
}
/** `npm ci` compares what it is sent with this; without it anything of that name and version is taken. */
function integrityOf(path, { version }) {
  const name = path.split('node_modules/').at(-1);
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' });
  return /^sha512-\S+$/.exec(stdout.trim())?.[0];
}

for (const [name, entry] of Object.entries(packages)) {
  if (name === '' || entry.integrity || entry.link) continue;
  const integrity = integrityOf(name, entry);
  if (integrity) entry.integrity = integrity;
  else process.stderr.write(`The registry has no hash of ${name}@${entry.version}.\n`);
}
for (const [name, entry] of Object.entries(packages)) {
  if (entry.optional && entry.os && !name.includes('wasm')) delete entry.engines;
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
