import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { REGAINED } from './base/index.ts';

/** Single values that every room may keep: switches, identities, when something is due. */
export interface MetaTables {
  meta: { key: string; value: string };
}

export const CREATE_META = 'create table meta (key text primary key, value text not null)';

/** A row of `meta`; null where there is none. */
export async function readMark(database: QueryExecutorProvider, key: string): Promise<string | null> {
  const { rows } = await sql<{ value: string }>`select value from meta where key = ${key}`.execute(database);
  return rows[0]?.value ?? null;
}

/** Marks a database for good: the first value given for `key` stays, and every caller gets it. */
export async function markOnce(database: QueryExecutorProvider, key: string, value: string): Promise<string> {
  const known = await readMark(database, key);
  if (known !== null) return known;
  await sql`insert into meta (key, value) values (${key}, ${value}) on conflict (key) do nothing`.execute(database);
  return (await readMark(database, key)) ?? value;
}

/** Saves the ledger's last transaction, never an earlier one. A power cut may lose it: what was known before is as true. */
export async function noteLedger<T>(database: Kysely<T>, seen: SeenLedger): Promise<void> {
  await database.transaction().execute(async (tx) => {
    const known = readSeen(await readMark(tx, SEEN_LEDGER));
    if (known && known.ledger === seen.ledger && known.seq >= seen.seq) return;
    const value = JSON.stringify(seen);
    await sql`insert into meta (key, value) values (${SEEN_LEDGER}, ${value})
      on conflict (key) do update set value = ${value} ${sql.raw(REGAINED)}`.execute(tx);
  });
}

/** The owner of a services' database: the keys that seal and sign for its rows, and the cluster that they are on. */
export interface Identity {
  /** A keyed hash under the ring's oldest key, which a rotation keeps. */
  readonly keyRing: string;
  readonly authority: string;
  readonly facilitator: string;
  readonly treasury: string;
  readonly network: string;
  /** The program of the home's first escrows. A service may move to another one: it is kept, and not compared. */
  readonly program: string;
  /** The embedded ledger, by a hash of its seed; null on an RPC cluster. */
  readonly ledger: string | null;
}

/** The identity as saved: with the machine and the folder that made it, for a person. */
export interface KeptIdentity extends Identity {
  readonly madeBy: string;
}

/** The last transaction that was seen on an embedded ledger. */
export interface SeenLedger {
  readonly ledger: string;
  readonly seq: number;
}

/** The home that a database belongs to, as the database records it. */
export interface Belonging {
  /** null: it has no owner yet. */
  readonly identity: KeptIdentity | null;
  readonly seen: SeenLedger | null;
  /** The signature of the newest payment that was settled. */
  readonly newest: string | null;
}

/** The facts of an embedded ledger that are compared with what a database knows of it. */
export interface LedgerFacts {
  readonly id: string;
  readonly transactions: number;
  landed(signature: string): boolean;
}

/**
 * Why a ledger is not the one that a database knows, or has lost what was on it; null where it holds all that is known.
 * @param ledger null: there is none
 */
export function whyLedgerLost({ identity, seen, newest }: Belonging, ledger: LedgerFacts | null): string | null {
  if (!ledger) return identity?.ledger ? 'it is gone, or empty' : null;
  if (identity?.ledger && identity.ledger !== ledger.id) return 'it is another one';
  if (seen?.ledger === ledger.id && ledger.transactions < seen.seq) {
    return `it ends at transaction ${ledger.transactions}, and ${seen.seq} were there`;
  }
  return newest !== null && !ledger.landed(newest) ? 'a payment that was settled is not on it' : null;
}

export const IDENTITY = 'home_identity';
export const SEEN_LEDGER = 'seen_ledger';
/** The first block of the cluster that a database is on: two private clusters may have one name. */
export const GENESIS = 'cluster_genesis';

const WORDS: Readonly<Record<Exclude<keyof Identity, 'program'>, string>> = {
  keyRing: 'the key ring (keys/service.json)',
  authority: 'the authority key (keys/authority.json)',
  facilitator: 'the facilitator key (keys/facilitator.json)',
  treasury: 'the treasury key (keys/treasury.json)',
  network: 'the network',
  ledger: 'the ledger (ledger.db)',
};

/** Names the differences for a person. Fields that are not given are not compared. */
export const differences = (kept: Identity, mine: Partial<Identity>): string[] =>
  (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((part) => mine[part] !== undefined && mine[part] !== kept[part])
    .map((part) => WORDS[part]);

/** The purpose of the keyed hash that identifies a key ring. */
export const RING_PURPOSE = 'database identity';

const read = <T>(value: string | null): T | null => (value === null ? null : (JSON.parse(value) as T));

export const readIdentity = read<KeptIdentity>;
export const readSeen = read<SeenLedger>;
