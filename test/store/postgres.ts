import { rmSync } from 'node:fs';
import pg from 'pg';
import { once } from '../../src/kernel/once.ts';
import { startPostgres } from './postgres-server.mjs';

export {
  pgbouncerIsInstalled,
  postgresIsInstalled,
  postgresKeepsTime,
  startPostgres,
  type TestPostgres,
} from './postgres-server.mjs';

/** The one server of this process's files. */
const shared = once(async () => {
  const server = await startPostgres();
  process.once('exit', () => {
    if (server.pid !== undefined) process.kill(server.pid, 'SIGQUIT');
    rmSync(server.folder, { recursive: true, force: true });
  });
  return server;
});
let made = 0;

/** A new database whenever one is asked for, a copy of what `fill` made of one: for tests that leave the server alone. */
export async function newDatabases(fill?: (url: string) => Promise<void>) {
  const server = await shared();
  const name = `world_${made++}`;
  const create = async (database: string, template: string): Promise<string> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`create database ${database} template ${template}`);
    await client.end();
    const url = new URL(server.url);
    url.pathname = `/${database}`;
    return url.href;
  };
  if (fill) await fill(await create(name, 'template1'));
  return { next: () => create(`world_${made++}`, fill ? name : 'template1') };
}

export const newDatabase = async (): Promise<string> => (await newDatabases()).next();
