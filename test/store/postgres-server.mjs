import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import pg from 'pg';
import { isHere } from '../needs.mjs';

/** A PostgreSQL server of one's own, for tests and the benchmark. */

function binaries() {
  const root = '/usr/lib/postgresql';
  const installed = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return (
    [...installed, ...onPath].find(
      (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
    ) ?? null
  );
}

export const postgresIsInstalled = isHere('PostgreSQL', binaries() !== null);

const compiler =
  process.platform === 'linux' && ['cc', 'clang-19'].find((name) => spawnSync(name, ['--version']).status === 0);

/** Whether a server can run by another clock than the machine's: processes of a test's clock refuse any other. */
export const postgresKeepsTime = postgresIsInstalled && isHere('a C compiler', Boolean(compiler));

const pgbouncer = ['pgbouncer', '/usr/sbin/pgbouncer'].find((name) => spawnSync(name, ['--version']).status === 0);

export const pgbouncerIsInstalled = isHere('PgBouncer', Boolean(pgbouncer));

/** The machine's own pause, also while a test has put another clock in its place. */
const later = globalThis.setTimeout;

// Without fsync (`-F`): a test has nothing to lose.
export async function startPostgres({ settings: given = ['-F'], log = null, nowMs = null } = {}) {
  const bin = binaries();
  if (!bin) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'farelock-pg-'));
  const cluster = join(folder, 'data');
  const settings = typeof given === 'function' ? given(folder) : given;
  // The server refuses to run as root: there it runs as the system's `postgres` user, and dies with this process.
  const rights = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=QUIT'];
  const asUser = userInfo().uid === 0 ? rights : [];
  const env = { ...process.env, ...(nowMs !== null && clockEnv(folder, nowMs)) };
  if (asUser.length > 0) execFileSync('chown', ['postgres', folder]);
  makeCluster(cluster, [
    ...asUser,
    join(bin, 'initdb'),
    ...['-D', cluster, '-U', 'farelock', '-A', 'trust', '--no-sync'],
  ]);
  const begin = (data = cluster, socket = folder) => {
    const [serve, ...args] = [
      ...asUser,
      join(bin, 'postgres'),
      ...['-D', data, '-k', socket, '-c', 'listen_addresses=', ...settings],
    ];
    return spawn(serve, args, { env, stdio: ['ignore', 'ignore', log === null ? 'ignore' : openSync(log, 'a')] });
  };
  const urlOf = (...sockets) =>
    `postgres://farelock@localhost/postgres?host=${sockets.map(encodeURIComponent).join(',')}`;
  const url = urlOf(folder);
  let standby = null;
  let pooler = null;
  const end = async (signal) => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  let server = begin();
  await untilAnswers(url);
  return {
    url,
    folder,
    data: cluster,
    /** A command line of bash as the server's user, with the server's programs, and this server for its clients. */
    sh(line) {
      const [run, ...args] = [...asUser, 'bash', '-c', line];
      const PATH = `${bin}${delimiter}${process.env.PATH}`;
      execFileSync(run, args, { env: { ...process.env, PATH, PGHOST: folder, PGUSER: 'farelock' }, cwd: folder });
    },
    stop: () => end('SIGINT'),
    async begin() {
      server = begin();
      await untilAnswers(url);
    },
    get pid() {
      return server.pid;
    },
    async restart() {
      await end('SIGQUIT');
      server = begin();
      await untilAnswers(url);
    },
    /** A second server that follows this one, and has each commit before it is acknowledged. @returns both addresses */
    async follow() {
      const socket = mkdtempSync(join(tmpdir(), 'farelock-pg-'));
      const data = join(socket, 'data');
      if (asUser.length > 0) execFileSync('chown', ['postgres', socket]);
      const [copy, ...args] = [...asUser, join(bin, 'pg_basebackup'), '-D', data, '-h', folder, '-U', 'farelock', '-R'];
      execFileSync(copy, [...args, '-c', 'fast', '--no-sync'], { stdio: 'ignore' });
      standby = { socket, data, server: begin(data, socket) };
      await untilAnswers(urlOf(socket));
      await asked(url, "alter system set synchronous_standby_names = '*'");
      await asked(url, 'select pg_reload_conf()');
      return urlOf(folder, socket);
    },
    /** PgBouncer in transaction mode before this server, with as few settings as it starts with. @returns its address */
    async pool() {
      const settings = join(folder, 'pgbouncer.ini');
      const own = ['pool_mode = transaction', 'auth_type = any', `unix_socket_dir = ${folder}`, 'listen_port = 6432'];
      const database = `[databases]\n* = host=${folder} user=farelock\n`;
      writeFileSync(settings, `${database}[pgbouncer]\n${own.join('\n')}\n`, { mode: 0o644 });
      const [run, ...args] = [...asUser, pgbouncer, '--quiet', settings];
      pooler = spawn(run, args, { stdio: 'ignore' });
      const pooled = url.replace('@localhost', '@localhost:6432');
      await untilAnswers(pooled);
      return pooled;
    },
    /** The first server dies, and the second one takes its place. */
    async failOver() {
      await end('SIGQUIT');
      const [promote, ...args] = [...asUser, join(bin, 'pg_ctl'), 'promote', '-D', standby.data];
      execFileSync(promote, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    },
    async close() {
      pooler?.kill('SIGINT');
      if (standby) {
        const ended = new Promise((resolve) => standby.server.once('exit', resolve));
        standby.server.kill('SIGQUIT');
        await ended;
        rmSync(standby.socket, { recursive: true, force: true });
      }
      if (server.exitCode === null && server.signalCode === null) await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What gives a server another clock. Its user may read no other folder than its own. */
function clockEnv(folder, nowMs) {
  // Before the compiler takes its time.
  const ahead = BigInt(Math.round(nowMs - Date.now())) * 1_000_000n;
  const library = join(folder, 'clock.so');
  execFileSync(compiler, ['-shared', '-fPIC', '-o', library, resolve(import.meta.dirname, 'clock.c')]);
  chmodSync(library, 0o755);
  return { LD_PRELOAD: library, TEST_CLOCK_AHEAD_NS: String(ahead) };
}

/** The first one of a run is copied for all others (vitest.config.ts): initdb takes ten times as long. */
function makeCluster(cluster, [initdb, ...given]) {
  const templates = process.env.TEST_TEMPLATES;
  const template = templates && join(templates, 'postgres');
  if (template && existsSync(template)) return void execFileSync('cp', ['-a', template, cluster]);
  execFileSync(initdb, given, { stdio: 'ignore' });
  if (!template) return;
  const copy = `${template}-${process.pid}`;
  execFileSync('cp', ['-a', cluster, copy]);
  try {
    renameSync(copy, template);
  } catch {
    // Another process was first.
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Its socket is there a moment before it lets anybody in. */
async function untilAnswers(url) {
  for (let i = 0; i < 1_000 && !(await answers(url)); i++) {
    await new Promise((resolve) => later(resolve, 20));
  }
}

async function asked(url, statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function answers(url) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
