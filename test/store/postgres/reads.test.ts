import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/home.ts';
import { IDENTITY, readMark } from '../../../src/store/index.ts';
import { openReads } from '../../../src/store/postgres/reads.ts';
import { worldClock } from '../../clock.ts';
import { farelockIn } from '../../e2e/farelock.ts';
import { proofTest } from '../../proof-only.ts';
import { postgresIsInstalled, postgresKeepsTime, startPostgres } from '../postgres.ts';

/** Lists and gauges from a standby, which may be behind; from the primary, where there is no standby to ask. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const noted = async (store: Store): Promise<string[]> =>
  (await store.selectFrom('meta').select('value').where('key', '=', 'test:told').execute()).map(({ value }) => value);
const note = (store: Store, value: string) =>
  store
    .insertInto('meta')
    .values({ key: 'test:told', value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();

async function standbyOf(server: Awaited<ReturnType<typeof startPostgres>>) {
  const hosts = new URL(await server.follow()).searchParams.get('host')?.split(',') ?? [];
  const url = `postgres://farelock@localhost/postgres?host=${encodeURIComponent(hosts[1] ?? '')}`;
  const own = new pg.Client({ connectionString: url });
  await own.connect();
  closing.push(() => own.end());
  return { url, says: (statement: string) => own.query(statement) };
}

async function opened() {
  const server = await startPostgres();
  closing.push(server.close);
  const primary = await openStore(server.url);
  closing.push(() => primary.destroy());
  const logged: string[] = [];
  const readsOf = async (url: string) => {
    const { reads, close } = await openReads({
      url,
      primary,
      log: (_level, event) => logged.push(event),
      ownerIn: (on) => readMark(on, IDENTITY),
    });
    closing.push(close);
    return reads;
  };
  return { server, primary, logged, readsOf };
}

test.runIf(postgresIsInstalled)('what may be seconds old is read from the standby', async () => {
  const { server, primary, logged, readsOf } = await opened();
  await note(primary, 'before');
  const { url, says } = await standbyOf(server);
  const reads = await readsOf(url);
  await expect.poll(() => reads(noted), { timeout: 10_000 }).toEqual(['before']);
  // It falls behind: what it answers is its own.
  await says('select pg_wal_replay_pause()');
  await note(primary, 'after');
  expect(await reads(noted)).toEqual(['before']);
  await says('select pg_wal_replay_resume()');
  await expect.poll(() => reads(noted), { timeout: 10_000 }).toEqual(['after']);
  expect(logged).toEqual([]);
});

proofTest.runIf(postgresIsInstalled)(
  'where no standby answers, the primary does, and once that is known, at once',
  async () => {
    const { primary, logged, readsOf } = await opened();
    await note(primary, 'there');
    const reads = await readsOf('postgres://farelock@localhost/postgres?host=/tmp/no-such-folder');
    for (let tries = 0; tries < 3; tries++) expect(await reads(noted)).toEqual(['there']);
    expect(logged).toEqual(['standby_not_read']);
  },
);

proofTest.runIf(postgresKeepsTime)('a list of the desk comes from the standby that the settings name', async () => {
  const server = await startPostgres({ nowMs: worldClock.now() });
  closing.push(server.close);
  const home = farelockIn({ FARELOCK_DATABASE_URL: server.url });
  closing.push(home.close);
  const ran = async (...args: string[]) => {
    const { exitCode, stdout, stderr, json } = await home.run([...args, '--json']);
    expect(exitCode, stdout + stderr).toBe(0);
    return json<{ entries: { action: string }[] }>();
  };
  await ran('keys', 'issue', 'before');
  const { url, says } = await standbyOf(server);
  Object.assign(home.env, { FARELOCK_READ_DATABASE_URL: url });
  const shown = async () => (await ran('audit', 'list')).entries.length;
  await expect.poll(shown, { timeout: 20_000 }).toBe(1);
  await says('select pg_wal_replay_pause()');
  await ran('keys', 'issue', 'after');
  expect(await shown()).toBe(1);
  await says('select pg_wal_replay_resume()');
  await expect.poll(shown, { timeout: 20_000 }).toBe(2);
});

proofTest.runIf(postgresIsInstalled)('a database of another owner is not taken for a standby', async () => {
  const { primary, logged, readsOf } = await opened();
  const { server: other, primary: theirs } = await opened();
  const owner = (store: Store, value: string) =>
    store.insertInto('meta').values({ key: 'home_identity', value }).execute();
  await owner(primary, '{"keyRing":"ours"}');
  await owner(theirs, '{"keyRing":"theirs"}');
  await note(primary, 'ours');
  await note(theirs, 'theirs');
  expect(await (await readsOf(other.url))(noted)).toEqual(['ours']);
  expect(logged).toEqual(['standby_not_read']);
});
