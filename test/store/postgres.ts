import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';

/** A PostgreSQL server of the test's own, in a temporary folder, on a socket only; null where none is installed. */
export interface TestPostgres {
  readonly url: string;
  close(): Promise<void>;
}

function binaries(): string | null {
  const root = '/usr/lib/postgresql';
  const installed = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return (
    [...installed, ...onPath].find(
      (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
    ) ?? null
  );
}

export const postgresIsInstalled = binaries() !== null;

export async function startPostgres(): Promise<TestPostgres> {
  const bin = binaries();
  if (!bin) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'farelock-pg-'));
  const cluster = join(folder, 'data');
  // The server refuses to run as root: there it runs as the system's `postgres` user.
  const asUser =
    userInfo().uid === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  if (asUser.length > 0) execFileSync('chown', ['postgres', folder]);
  const run = (command: string[]) => [...asUser, ...command] as [string, ...string[]];
  const [init, ...initArgs] = run([
    join(bin, 'initdb'),
    '-D',
    cluster,
    '-U',
    'farelock',
    '-A',
    'trust',
    '--no-sync',
  ]);
  execFileSync(init, initArgs, { stdio: 'ignore' });
  const [serve, ...serveArgs] = run([
    join(bin, 'postgres'),
    '-D',
    cluster,
    '-k',
    folder,
    '-c',
    'listen_addresses=',
    '-F',
  ]);
  const server = spawn(serve, serveArgs, { stdio: 'ignore' });
  const url = `postgres://farelock@localhost/postgres?host=${encodeURIComponent(folder)}`;
  // Its socket is there a moment before it lets anybody in.
  for (let i = 0; i < 400 && !(await answers(url)); i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
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
