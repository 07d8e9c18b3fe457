import pg from 'pg';
import { startPostgres } from './postgres-server.mjs';

export { postgresIsInstalled, startPostgres, type TestPostgres } from './postgres-server.mjs';

/** A server of the test's own, and a new database in it whenever one is asked for. */
export async function newDatabases() {
  const server = await startPostgres();
  let made = 0;
  return {
    async next(): Promise<string> {
      const name = `world_${made++}`;
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    close: () => server.close(),
  };
}
