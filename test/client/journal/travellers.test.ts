import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ClientStore, openClientStore } from '../../../src/client/journal/store.ts';
import { clientMigrations } from '../../../src/client/journal/store-schema.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { openDatabase } from '../../../src/store/open.ts';

const ANA = {
  given_name: 'Anabelisia',
  family_name: 'Moreirinha',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'anabelisia@example.com',
  phone_number: '+351912345678',
  nationality: 'PT',
  passport_number: 'CZ7654321',
  passport_expiry: '2034-05-06',
};

let home: string;
const opened: ClientStore[] = [];
const open = async (keys = 'client.json') => {
  const store = await openClientStore({
    path: join(home, 'client.db'),
    secrets: openSecrets(join(home, 'keys', keys)),
    clock: systemClock,
    ids: randomIds(Date.now),
  });
  opened.push(store);
  return store.travellers();
};
const onDisk = () =>
  readdirSync(home)
    .filter((name) => name.startsWith('client.db'))
    .map((name) => readFileSync(join(home, name), 'latin1'))
    .join('\n');
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { code?: string }) => error.code,
  );

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'farelock-travellers-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.shut();
  rmSync(home, { recursive: true, force: true });
});

test('a traveller is found by the name it was saved under, whatever its case and accents', async () => {
  const travellers = await open();
  await travellers.keep('Zoë', ANA, { replaces: false });
  expect(await travellers.find('zoe')).toMatchObject({ name: 'Zoë', fields: ANA });
  expect(await travellers.find('bo')).toBeUndefined();
  const { passport_number: _number, ...without } = ANA;
  await travellers.keep('bo', without, { replaces: false });
  expect((await travellers.all()).map(({ name }) => name)).toEqual(['bo', 'Zoë']);
  expect((await travellers.find('bo'))?.fields).toEqual(without);
});

test('nothing of a traveller is on the disk in clear, the name neither', async () => {
  const travellers = await open();
  await travellers.keep('Oktavia', ANA, { replaces: false });
  const text = onDisk();
  for (const secret of ['Oktavia', 'oktavia', ...Object.values(ANA).filter((value) => value.length > 4)]) {
    expect(text).not.toContain(secret);
  }
});

test('a traveller is not written over unless that was asked for, and then nothing of the old one is left', async () => {
  const travellers = await open();
  await travellers.keep('ana', ANA, { replaces: false });
  expect(await codeOf(travellers.keep('Ana', { ...ANA, title: 'dr' }, { replaces: false }))).toBe('traveller_exists');
  expect((await travellers.find('ana'))?.fields.title).toBe('ms');
  const sealed = await sealedColumns();
  await travellers.keep('ana', { ...ANA, title: 'dr' }, { replaces: true });
  expect((await travellers.find('ana'))?.fields.title).toBe('dr');
  for (const old of sealed) expect(onDisk()).not.toContain(old);
});

test('a removed traveller is gone from the file and its log, sealed text too', async () => {
  const travellers = await open();
  await travellers.keep('ana', ANA, { replaces: false });
  const sealed = await sealedColumns();
  expect(sealed.length).toBe(11);
  expect(sealed.every((text) => onDisk().includes(text))).toBe(true);
  expect(await travellers.remove('ANA')).toBe(true);
  expect(await travellers.remove('ana')).toBe(false);
  for (const text of sealed) expect(onDisk()).not.toContain(text);
});

test('a value that was moved to another row or column, or sealed with another key, is not read', async () => {
  const travellers = await open();
  await travellers.keep('ana', ANA, { replaces: false });
  await travellers.keep('bo', { ...ANA, email: 'bo@example.com' }, { replaces: false });
  const db = await raw();
  const [first, second] = await db.selectFrom('travellers').selectAll().execute();
  await db
    .updateTable('travellers')
    .set({ email_sealed: first?.email_sealed ?? null })
    .where('traveller_id', '=', second?.traveller_id ?? '')
    .execute();
  await db.destroy();
  expect(await codeOf(travellers.all())).toBe('traveller_unreadable');
  expect(await codeOf(open('other.json'))).toBe('database_of_another_home');
});

const raw = () =>
  openDatabase<import('../../../src/client/journal/store-schema.ts').ClientTables>(
    join(home, 'client.db'),
    clientMigrations,
  );

/** Every sealed text of every saved traveller. */
async function sealedColumns(): Promise<string[]> {
  const db = await raw();
  const rows = await db.selectFrom('travellers').selectAll().execute();
  await db.destroy();
  return rows.flatMap((row) =>
    Object.entries(row).flatMap(([column, value]) =>
      column.endsWith('_sealed') && typeof value === 'string' ? [value] : [],
    ),
  );
}
