import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { inTurn, REGAINED } from './base/index.ts';

/** Single values of any room: switches, identities, due times. */
export interface MetaTables {
  meta: { key: string; value: string };
}

export const CREATE_META = 'create table meta (key text primary key, value text not null)';

export async function readMark(database: QueryExecutorProvider, key: string): Promise<string | null> {
  const { rows } = await sql<{ value: string }>`select value from meta where key = ${key}`.execute(database);
  return rows[0]?.value ?? null;
}

/** Keeps the first value given for `key`, and returns it to every caller. */
export async function markOnce(database: QueryExecutorProvider, key: string, value: string): Promise<string> {
  const known = await readMark(database, key);
  if (known !== null) return known;
  await sql`insert into meta (key, value) values (${key}, ${value}) on conflict (key) do nothing`.execute(database);
  return (await readMark(database, key)) ?? value;
}

/** Saves the ledger's last transaction. A power cut may restore an earlier one, which is true as well. */
export async function noteLedger<T>(database: Kysely<T>, seen: SeenLedger): Promise<void> {
  await inTurn(database, [SEEN_LEDGER], async (tx) => {
    const known = readSeen(await readMark(tx, SEEN_LEDGER));
    if (known && known.ledger === seen.ledger && known.seq >= seen.seq) return;
    const value = JSON.stringify(seen);
    await sql`insert into meta (key, value) values (${SEEN_LEDGER}, ${value})
      on conflict (key) do update set value = ${value} ${sql.raw(REGAINED)}`.execute(tx);
  });
}

/** The owner of the services' database: its keys and its cluster. */
export interface Identity {
  /** A hash keyed with the ring's oldest key, so that it survives rotation. */
  readonly keyRing: string;
  readonly authority: string;
  readonly facilitator: string;
  readonly treasury: string;
  readonly network: string;
  /** The first escrow program, kept but not compared: a service may move. */
  readonly program: string;
  /** A hash of the embedded ledger's seed; null on RPC. */
  readonly ledger: string | null;
}

export interface KeptIdentity extends Identity {
  readonly madeBy: string;
}

export interface SeenLedger {
  readonly ledger: string;
  readonly seq: number;
}

export type KeyDuty = 'authority' | 'facilitator' | 'service';

/** `next`: made, and not used yet. `old`: replaced, but what began under it still ends under it. */
export interface KeptKey {
  /** An address; for the key ring, a key's id. */
  readonly name: string;
  readonly state: 'next' | 'current' | 'old' | 'retired';
  readonly sinceMs: number;
}

/** The keys of each duty that has rotated, oldest first. */
export type KeptKeys = Readonly<Partial<Record<KeyDuty, readonly KeptKey[]>>>;

export interface Owning {
  readonly identity: Pick<Identity, 'authority' | 'facilitator'> | null;
  readonly keys: KeptKeys;
}

export interface Belonging {
  readonly keys: KeptKeys;
  /** Null without an owner. */
  readonly identity: KeptIdentity | null;
  readonly seen: SeenLedger | null;
  /** The newest settled payment's signature. */
  readonly newest: string | null;
}

export interface LedgerFacts {
  readonly id: string;
  readonly transactions: number;
  landed(signature: string): boolean;
}

/** Explains why a ledger is missing, is not the database's or lost transactions; null if it is whole. */
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
export const OPERATOR_KEYS = 'operator_keys';

/** A mark that bars new escrows of an authority in every process. */
export const retiredMark = (address: string): string => `retired_key:${address}`;

/** Lists a duty's keys. Before a rotation: the identity's key, or none for the key ring. */
export function keysOf({ identity, keys }: Owning, duty: KeyDuty): readonly KeptKey[] {
  const first = duty === 'service' ? undefined : identity?.[duty];
  return keys[duty] ?? (first === undefined ? [] : [{ name: first, state: 'current', sinceMs: 0 }]);
}

export const currentOf = (belonging: Owning, duty: KeyDuty): KeptKey | undefined =>
  keysOf(belonging, duty).find(({ state }) => state === 'current');

/** The name of a key's file in `keys/`. */
export const keyFile = (duty: KeyDuty, name: string, isFirst: boolean): string =>
  isFirst ? `${duty}.json` : `${duty}-${name}.json`;

/** The files that a process of this database needs beside `treasury.json`. */
export const keyFilesOf = (belonging: Owning): readonly string[] =>
  (['service', 'authority', 'facilitator'] as const).flatMap((duty) => {
    const keys = keysOf(belonging, duty);
    const files = keys.flatMap(({ name, state }, place) =>
      state === 'retired' ? [] : [keyFile(duty, name, place === 0)],
    );
    return keys.length === 0 ? [keyFile(duty, '', true)] : files;
  });
/** The mark for the cluster's genesis hash: private clusters may share a name. */
export const GENESIS = 'cluster_genesis';

const WORDS: Readonly<Record<Exclude<keyof Identity, 'program'>, string>> = {
  keyRing: 'the key ring (keys/service.json)',
  authority: 'the authority key (keys/authority.json)',
  facilitator: 'the facilitator key (keys/facilitator.json)',
  treasury: 'the treasury key (keys/treasury.json)',
  network: 'the network',
  ledger: 'the ledger (ledger.db)',
};

/** Words the differences among the given fields for a person, showing a hash by its beginning. */
export const differences = (kept: Identity, mine: Partial<Identity>) =>
  (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((part) => mine[part] !== undefined && mine[part] !== kept[part])
    .map((part) => {
      const isHash = part === 'keyRing' || part === 'ledger';
      const shown = ({ [part]: value }: Partial<Identity>) =>
        (isHash && value ? `${value.slice(0, 8)}…` : value) ?? 'none';
      return { words: WORDS[part], database: shown(kept), here: shown(mine) };
    });

/** The purpose of the hash that identifies the key ring. */
export const RING_PURPOSE = 'database identity';

const read = <T>(value: string | null): T | null => (value === null ? null : (JSON.parse(value) as T));

export const readIdentity = read<KeptIdentity>;
export const readSeen = read<SeenLedger>;
export const readKeys = (value: string | null): KeptKeys => read<KeptKeys>(value) ?? {};
