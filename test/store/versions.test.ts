import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/service/home.ts';
import { openService } from '../../src/service/index.ts';
import { serviceMigrations } from '../../src/service/migrations.ts';
import { webOf } from '../web.ts';

/** A database says which versions may use it: when it is opened, and while a process runs. */

let home: string;
let path: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'farelock-versions-'));
  path = join(home, 'service.db');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function inFile<T>(work: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

test('a database of the first release is taken over, and refuses the first release from then on', async () => {
  await (await openStore(path)).destroy();
  // As that release has left it.
  inFile((database) => {
    database.exec('create table schema_migrations (name text primary key)');
    database.exec('insert into schema_migrations select name from schema_steps');
    database.exec('drop table schema_steps');
  });
  await (await openStore(path)).destroy();
  inFile((database) => {
    const steps = database.prepare('select name, breaks from schema_steps').all();
    expect(steps).toEqual(expect.arrayContaining(serviceMigrations.map(({ name }) => ({ name, breaks: 1 }))));
    // It counts the rows of its list. Without the list it takes its first step again, all of it or nothing.
    expect(() => database.prepare('select count(*) from schema_migrations').all()).toThrow(/no such table/);
    const [first] = serviceMigrations;
    expect(() => database.exec(first?.statements[0] ?? '')).toThrow(/already exists/);
  });
});

test('a newer step keeps this version out, unless it says that older versions may go on beside it', async () => {
  await (await openStore(path)).destroy();
  inFile((database) => database.exec("insert into schema_steps values ('999_rolls', 0)"));
  await (await openStore(path)).destroy();
  inFile((database) => database.exec("insert into schema_steps values ('999_breaks', 1)"));
  await expect(openStore(path)).rejects.toMatchObject({ code: 'database_newer' });
});

test('a process whose database was moved on by a newer version answers 503 and does nothing more', async () => {
  const logged: string[] = [];
  let nowMs = Date.UTC(2026, 10, 21, 9);
  const clock = { now: () => nowMs, sleep: async () => undefined };
  const service = await openService({ home, clock, log: (_level, event) => logged.push(event) });
  const ask = async () => (await webOf(service.fetch)(new Request('http://x/air/intents/int_none'))).status;
  expect(await ask()).toBe(404);
  inFile((database) => database.exec("insert into schema_steps values ('999_breaks', 1)"));
  nowMs += 1_000;
  expect(await ask()).toBe(503);
  expect(await service.worker.runDue()).toEqual({ worked: 0, nextDueAtMs: null });
  expect(logged).toContain('database_newer');
  await service.close();
});
