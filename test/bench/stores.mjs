import pg from 'pg';
import { postgresIsInstalled, startPostgres } from '../store/postgres-server.mjs';

/**
 * The databases that are measured: a file in each home, and PostgreSQL, with every commit on the disk. A server of one's
 * own is started where its programs are installed; each home gets a database of its own in it.
 */
export async function openStores(names, url) {
  const stores = [];
  const missing = [];
  let close = async () => undefined;
  for (const name of names) {
    if (name === 'libsql') stores.push({ name, serveArgs: async () => [] });
    else if (!url && !postgresIsInstalled) missing.push(name);
    else {
      const server = url ? { url, pid: null, close } : await startPostgres({ settings: SETTINGS });
      close = server.close;
      stores.push(postgresStore(server));
    }
  }
  return { stores, missing, close };
}

/** What a small server is given. Its defaults are of an age with less memory. */
export const SETTINGS = ['-c', 'shared_buffers=512MB', '-c', 'max_wal_size=4GB'];

let made = 0;

function postgresStore({ url, pid }) {
  const ask = async (at, text, values = []) => {
    const client = new pg.Client({ connectionString: at });
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    name: 'postgres',
    url,
    pid,
    ask,
    /** A new database, and its address. */
    async newDatabase() {
      const name = `bench_${process.pid}_${made++}`;
      await ask(url, `create database ${name}`);
      const address = new URL(url);
      address.pathname = `/${name}`;
      return address.href;
    },
    async serveArgs() {
      return ['--database-url', await this.newDatabase()];
    },
  };
}
