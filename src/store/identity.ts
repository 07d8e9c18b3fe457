/** Whose a services' database is: the keys that seal and sign for its rows, and the cluster that they are on. */
export interface Identity {
  /** A keyed hash under the ring's oldest key, which a rotation keeps. */
  readonly keyRing: string;
  readonly authority: string;
  readonly facilitator: string;
  readonly treasury: string;
  readonly network: string;
  /** The program of the home's first escrows. A service may move to another one: it is kept, and not compared. */
  readonly program: string;
  /** The embedded ledger, by a hash of its seed; null on a cluster of somebody else's. */
  readonly ledger: string | null;
}

/** As it is kept: with the machine and the folder that made it, for a person. */
export interface KeptIdentity extends Identity {
  readonly madeBy: string;
}

/** How far an embedded ledger was seen to have come. */
export interface SeenLedger {
  readonly ledger: string;
  /** Of its last transaction. */
  readonly seq: number;
}

/** The home that a database belongs to, as the database records it. */
export interface Belonging {
  /** null: it belongs to nobody yet. */
  readonly identity: KeptIdentity | null;
  readonly seen: SeenLedger | null;
  /** The signature of the newest payment that was settled. */
  readonly newest: string | null;
}

/** An embedded ledger, as far as it is held against what a database knows of it. */
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
/** The first block of the cluster that a database is on: of two private clusters of one name, only one is it. */
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

export const readIdentity = (value: string | null): KeptIdentity | null =>
  value === null ? null : (JSON.parse(value) as KeptIdentity);

export const readSeen = (value: string | null): SeenLedger | null =>
  value === null ? null : (JSON.parse(value) as SeenLedger);
