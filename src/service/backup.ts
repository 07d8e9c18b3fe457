import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { behindMark, DATABASE_BEHIND, SLACK_MS } from '../flights/base/index.ts';
import { problem } from '../kernel/problems.ts';
import { unfinishedRestore } from '../kernel/storage.ts';
import { lockBeside, openSqlite, readRows, type SqliteDatabase } from '../store/libsql/index.ts';

/** A backup is an SQLite file of chunks, so that no database has to fit in memory. */
const CREATE = `create table backup (format text not null, salt blob, made_at text not null);
  create table chunks (name text not null, seq integer not null, is_last integer not null, bytes blob not null,
    primary key (name, seq))`;
const FORMAT = 'farelock backup 1';
const CHUNK_BYTES = 1024 * 1024;
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Where {
  readonly home: string;
  /** The backup file. */
  readonly file: string;
  /** With a passphrase, the backup is encrypted and contains the keys. */
  readonly passphrase: string | null;
}

const isDatabase = (name: string): boolean => name.endsWith('.db');

/** Lists the keys and settings, which only an encrypted backup contains. */
function keyFiles(home: string): string[] {
  const keys = join(home, 'keys');
  const kept = existsSync(keys) ? readdirSync(keys, { recursive: true, withFileTypes: true }) : [];
  const inKeys = kept.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name).slice(home.length + 1));
  return ['wallet.json', 'config.json'].filter((name) => existsSync(join(home, name))).concat(inKeys);
}

/**
 * Copies the databases of a home as they are at one moment; their writers wait meanwhile.
 * @returns the names of the files in the backup. @throws Problem `usage`, of storage
 */
export function backUp({ home, file, passphrase }: Where, nowMs: number): string[] {
  if (existsSync(file)) throw problem('usage', { message: `${file} exists already.`, fix: 'Choose another name.' });
  const databases = existsSync(home) ? readdirSync(home).filter(isDatabase) : [];
  if (databases.length === 0)
    throw problem('usage', { message: `${home} has no database yet.`, fix: 'Name its home in FARELOCK_HOME.' });
  const aside = mkdtempSync(join(dirname(resolve(file)), '.farelock-backup-'));
  const held: SqliteDatabase[] = [];
  try {
    for (const name of databases) {
      const database = openSqlite(join(home, name));
      held.push(database);
      database.exec('begin immediate');
    }
    for (const name of databases) {
      const reader = openSqlite(join(home, name));
      reader.prepare('vacuum into ?').run(join(aside, name));
      reader.close();
    }
    for (const database of held.splice(0)) {
      database.exec('rollback');
      database.close();
    }
    const keys = passphrase === null ? [] : keyFiles(home);
    const part = join(aside, 'backup');
    pack(part, passphrase, nowMs, [
      ...databases.map((name) => ({ name, path: join(aside, name) })),
      ...keys.map((name) => ({ name, path: join(home, name) })),
    ]);
    renameSync(part, file);
    return [...databases, ...keys];
  } finally {
    for (const database of held) database.close();
    rmSync(aside, { recursive: true, force: true });
  }
}

function pack(
  path: string,
  passphrase: string | null,
  nowMs: number,
  files: readonly { name: string; path: string }[],
): void {
  const salt = passphrase === null ? null : randomBytes(16);
  const key = passphrase !== null && salt ? scryptSync(passphrase, salt, 32, SCRYPT) : null;
  closeSync(openSync(path, 'wx', 0o600));
  const backup = openSqlite(path);
  try {
    backup.exec(`pragma journal_mode = delete; ${CREATE}`);
    backup.prepare('insert into backup values (?, ?, ?)').run(FORMAT, salt, new Date(nowMs).toISOString());
    const insert = backup.prepare('insert into chunks values (?, ?, ?, ?)');
    for (const one of files) {
      const from = openSync(one.path, 'r');
      try {
        const bytes = Buffer.alloc(CHUNK_BYTES);
        for (let seq = 0, isLast = false; !isLast; seq++) {
          const read = readSync(from, bytes);
          isLast = read < CHUNK_BYTES;
          const chunk = bytes.subarray(0, read);
          insert.run(one.name, seq, Number(isLast), key ? seal(key, chunk, aadOf(one.name, seq, isLast)) : chunk);
        }
      } finally {
        closeSync(from);
      }
    }
  } finally {
    backup.close();
  }
}

const aadOf = (name: string, seq: number, isLast: boolean): Buffer => Buffer.from(JSON.stringify([name, seq, isLast]));

function seal(key: Buffer, bytes: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aad);
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function unseal(key: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES)).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/**
 * Puts a backup into a home that has no database and no file of the backup yet. A restore that was killed is repeated
 * by the same call; until then the folder of its files keeps commands out of the home.
 * @returns the names of the files. @throws Problem `usage`, `data_invalid`, `restore_unfinished`, of storage
 */
export function restore({ home, file, passphrase }: Where, nowMs: number): string[] {
  if (!existsSync(file)) throw problem('usage', { message: `There is no file ${file}.` });
  const key = keyOf(file, passphrase);
  const names = readRows(file, 'select distinct name from chunks order by name').map(({ name }) => String(name));
  const [odd] = names.filter((name) => !/^(\w[\w.-]*\/)*\w[\w.-]*$/.test(name));
  if (odd !== undefined) throw invalid(file, 'it names a file outside the home');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const unlock = lockBeside(unfinishedRestore(home));
  if (!unlock)
    throw problem('usage', { message: `Another restore into ${home} is under way.`, fix: 'Wait until it has ended.' });
  try {
    moveIn({ home, file }, names, key, nowMs);
    return names;
  } finally {
    unlock();
  }
}

/** Unpacks all files beside the home's, then moves them in. */
function moveIn(
  { home, file }: Pick<Where, 'home' | 'file'>,
  names: string[],
  key: Buffer | null,
  nowMs: number,
): void {
  const aside = unfinishedRestore(home);
  const part = join(aside, 'part');
  // The name of `part` once it has all files, which then move into the home one by one.
  const whole = join(aside, `${madeAtMs(file)}-${statSync(file).size}`);
  const [left] = existsSync(aside) ? readdirSync(aside).filter((name) => name !== basename(part)) : [];
  if (left === undefined) rmSync(aside, { recursive: true, force: true });
  else if (left !== basename(whole))
    throw problem('restore_unfinished', { message: `${home} has a part of another backup.` });
  const toMove = left === undefined ? names : names.filter((name) => existsSync(join(whole, name)));
  const databases = left === undefined ? readdirSync(home).filter(isDatabase) : [];
  const there = new Set([...databases, ...toMove.filter((name) => existsSync(join(home, name)))]);
  if (there.size > 0) {
    throw problem('usage', {
      message: `${home} has ${[...there].join(', ')} already.`,
      fix: 'Restore into another home: set FARELOCK_HOME.',
    });
  }
  if (left === undefined) {
    try {
      for (const name of names) unpack(file, name, join(part, name), key);
      if (names.includes(SERVICES)) markRestored(join(part, SERVICES), madeAtMs(file), nowMs);
      renameSync(part, whole);
    } catch (error) {
      rmSync(aside, { recursive: true, force: true });
      throw error;
    }
  }
  for (const name of toMove) {
    mkdirSync(dirname(join(home, name)), { recursive: true, mode: 0o700 });
    renameSync(join(whole, name), join(home, name));
  }
  rmSync(aside, { recursive: true });
}

const SERVICES = 'service.db';
const TABLES = `select name from sqlite_master where type = 'table'`;

/** Marks the services' database before it is in the home, so that no process uses it unmarked. */
function markRestored(path: string, madeAtMs: number, nowMs: number): void {
  if (!readRows(path, TABLES).some(({ name }) => name === 'meta')) return;
  const database = openSqlite(path);
  try {
    database.exec('pragma journal_mode = delete');
    const mark = behindMark({ why: 'restored', at_ms: nowMs, since_ms: madeAtMs - SLACK_MS });
    const insert = 'insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value';
    database.prepare(insert).run(DATABASE_BEHIND, mark);
  } finally {
    database.close();
  }
}

const madeAtMs = (file: string): number => Date.parse(String(readRows(file, 'select made_at from backup')[0]?.made_at));

/** Null if the backup is not encrypted. @throws Problem `data_invalid`, `usage` */
function keyOf(file: string, passphrase: string | null): Buffer | null {
  let head: Record<string, unknown> | undefined;
  try {
    [head] = readRows(file, 'select format, salt from backup');
  } catch {
    throw invalid(file, 'it is no backup');
  }
  if (head?.format !== FORMAT) throw invalid(file, 'it is no backup that this version reads');
  if (head.salt === null) return null;
  if (passphrase === null) {
    throw problem('usage', { message: `${file} is encrypted.`, fix: 'Give --passphrase-file.' });
  }
  return scryptSync(passphrase, bytesOf(head.salt), 32, SCRYPT);
}

/** libsql returns a blob as an ArrayBuffer. */
const bytesOf = (blob: unknown): Buffer => Buffer.from(blob as ArrayBuffer);

function unpack(file: string, name: string, path: string, key: Buffer | null): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const to = openSync(path, 'wx', 0o600);
  try {
    for (let seq = 0, isLast = false; !isLast; seq++) {
      const [row] = readRows(file, `select is_last, bytes from chunks where name = '${name}' and seq = ${seq}`);
      if (!row) throw invalid(file, `${name} is cut off`);
      isLast = Number(row.is_last) === 1;
      writeFileSync(to, key ? opened(file, key, bytesOf(row.bytes), aadOf(name, seq, isLast)) : bytesOf(row.bytes));
    }
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
  chmodSync(path, 0o600);
}

function opened(file: string, key: Buffer, bytes: Buffer, aad: Buffer): Buffer {
  try {
    return unseal(key, bytes, aad);
  } catch {
    throw invalid(file, 'the passphrase is wrong, or it was changed');
  }
}

const invalid = (file: string, why: string) =>
  problem('data_invalid', { message: `${file} cannot be restored: ${why}.`, fix: 'Use another backup.' });
