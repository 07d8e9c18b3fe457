import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/home.ts';
import { serviceMigrations } from '../../../src/service/migrations.ts';
import { openPostgres } from '../../../src/store/postgres/open.ts';
import { isDatabaseAway } from '../../../src/store/postgres/refusal.ts';
import { buildProgram } from '../../built.ts';
import { proofTest } from '../../proof-only.ts';
import { postgresIsInstalled, startPostgres } from '../postgres.ts';

/** What falls silent is waited for up to a bound, whoever holds the writers' lock at that moment. */

const closing: (() => unknown)[] = [];
let server: Awaited<ReturnType<typeof startPostgres>>;
beforeEach(async () => {
  if (!postgresIsInstalled) return;
  server = await startPostgres();
  closing.push(server.close);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(store: Promise<Store>): Promise<Store> {
  const made = await store;
  closing.push(() => made.destroy());
  return made;
}

const write = (store: Store, key: string) =>
  store.transaction().execute((tx) => tx.insertInto('meta').values({ key, value: '1' }).execute());

const away = (work: Promise<unknown>): Promise<boolean> => work.then(() => false, isDatabaseAway);

proofTest.runIf(postgresIsInstalled)(
  'a process that is stopped while it holds the writers’ lock loses it, and what it began is undone',
  async () => {
    const store = await opened(openStore(server.url));
    const program = await buildProgram('store/postgres/holder.ts');
    closing.push(program.remove);
    const holder = spawn(process.execPath, [program.path, server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    closing.push(() => holder.kill('SIGKILL'));
    const [line] = await once(holder.stdout, 'data');
    expect(String(line)).toContain('holds');
    holder.kill('SIGSTOP');
    // As many as the pool has connections, and one more: nobody may be left waiting.
    await Promise.all(Array.from({ length: 11 }, (_, number) => write(store, `w${number}`)));
    holder.kill('SIGCONT');
    await once(holder, 'exit');
    const kept = await store.selectFrom('meta').select('key').where('key', '=', 'held').execute();
    expect(kept).toEqual([]);
  },
  60_000,
);

test.runIf(postgresIsInstalled)(
  'a server that stops answering is given up, its connections too, and asked again once it is back',
  async () => {
    const wire = await silentWire(server.url);
    const waits = { connectMs: 700, answerMs: 700, silentMs: 400, lockMs: 5_000, statementMs: 5_000 };
    // First, by its own bounds: it makes the tables.
    const beside = await opened(openStore(server.url));
    const store = await opened(openPostgres(wire.url, serviceMigrations, waits));
    const half = store.transaction().execute(async (tx) => {
      await tx.insertInto('meta').values({ key: 'half', value: '1' }).execute();
      wire.silence();
      await tx.insertInto('meta').values({ key: 'whole', value: '1' }).execute();
    });
    expect(await away(half)).toBe(true);
    expect(await away(sql`select 1`.execute(store))).toBe(true);
    // The lock of the half transaction does not outlive the silence either.
    await write(beside, 'beside');
    wire.speak();
    await write(store, 'again');
    const kept = await store.selectFrom('meta').select('key').orderBy('key').execute();
    expect(kept.map(({ key }) => key)).toEqual(['again', 'beside']);
  },
  60_000,
);

test.runIf(postgresIsInstalled)(
  'a connection that waited in vain for the writers’ lock leaves no transaction behind in the pool',
  async () => {
    const waits = { connectMs: 5_000, answerMs: 5_000, silentMs: 60_000, lockMs: 100, statementMs: 5_000 };
    const store = await opened(openPostgres(server.url, serviceMigrations, waits));
    const holder = await opened(openStore(server.url));
    await holder.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      await expect(write(store, 'vain')).rejects.toThrow(/lock timeout/);
    });
    await write(store, 'after');
    const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
      where state like 'idle in transaction%'`.execute(store);
    expect(rows).toEqual([{ n: 0 }]);
  },
  60_000,
);

/** A line to the server that may fall silent: both ends stay connected, and nothing gets through. */
async function silentWire(url: string) {
  const folder = new URL(url).searchParams.get('host') ?? '';
  let isSilent = false;
  const lines = new Set<[Socket, Socket]>();
  const proxy = createServer((client) => {
    const line: [Socket, Socket] = [client, connect(join(folder, '.s.PGSQL.5432'))];
    lines.add(line);
    for (const [from, to] of [line, line.toReversed() as [Socket, Socket]]) {
      from.on('data', (chunk) => {
        if (!isSilent) to.write(chunk);
      });
      from.on('error', () => undefined);
      from.on('close', () => isSilent || to.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  closing.push(() => {
    for (const socket of [...lines].flat()) socket.destroy();
    proxy.close();
  });
  return {
    url: `postgres://farelock@127.0.0.1:${(proxy.address() as AddressInfo).port}/postgres`,
    silence: () => {
      isSilent = true;
    },
    speak: () => {
      isSilent = false;
    },
  };
}
