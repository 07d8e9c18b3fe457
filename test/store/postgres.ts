import pg from 'pg';
import { startPostgres } from './postgres-server.mjs';

export {
  pgbouncerIsInstalled,
  postgresIsInstalled,
  postgresKeepsTime,
  startPostgres,
  type TestPostgres,
} from './postgres-server.mjs';

/** A server of the test's own, and a new database in it whenever one is asked for: a copy of what `fill` made of one. */
export async function newDatabases(fill?: (url: string) => Promise<void>) {
  const server = await startPostgres();
  const create = async (name: string, template: string): Promise<string> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`create database ${name} template ${template}`);
    await client.end();
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  if (fill) await fill(await create('filled', 'template1'));
  let made = 0;
  return { next: () => create(`world_${made++}`, fill ? 'filled' : 'template1'), close: () => server.close() };
}
