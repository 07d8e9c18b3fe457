import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { type Kysely, sql } from 'kysely';
import { ESCROW_PROGRAM_ID } from '../escrow/index.ts';
import type { FlightsDatabase } from '../flights/base/index.ts';
import { isProblem, type Problem, problem } from '../kernel/problems.ts';
import { openSecrets, type Secrets } from '../kernel/secrets.ts';
import { farelock, shell } from '../kernel/shell-word.ts';
import type { PartnerDatabase } from '../partner/base/index.ts';
import { NEWEST_SETTLED } from '../payments/look.ts';
import { createKeypairFile, readOwnKeypair, type Signer } from '../solana/index.ts';
import {
  type Belonging,
  differences,
  GENESIS,
  IDENTITY,
  type Identity,
  type KeptIdentity,
  type LedgerFacts,
  markOnce,
  noteLedger,
  openFileOrServer,
  RING_PURPOSE,
  readIdentity,
  readMark,
  readSeen,
  SEEN_LEDGER,
  type SeenLedger,
  storeTrouble,
  whyLedgerLost,
} from '../store/index.ts';
import type { OnTrouble } from '../store/libsql/index.ts';
import { type OpenedCluster, openEmbedded } from './cluster.ts';
import { serviceMigrations } from './migrations.ts';
import type { ServiceOptions } from './types.ts';

/**
 * Every table of the services' database; each room knows those that its own `tables.ts` names. Portable between SQLite
 * and PostgreSQL: integers (atomic USDC, milliseconds where a number is compared, 0/1 for flags), UTC text for instants
 * on the wire, JSON as text, bytes for what is large. Columns that end in `_sealed` hold what was encrypted by `kernel/secrets.ts`; `_hmac` holds a
 * keyed hash.
 */
export interface ServiceTables extends FlightsDatabase, PartnerDatabase {}

export type Store = Kysely<ServiceTables>;

/**
 * Opens the services' own database: a file under FARELOCK_HOME, or a `postgres://` URL.
 * @throws Problem `database_unavailable`: PostgreSQL did not let us in; of storage; `database_newer`
 */
export const openStore = (where: string, onTrouble?: OnTrouble): Promise<Store> =>
  openFileOrServer<ServiceTables>(where, serviceMigrations, onTrouble);

/** The keys of a home seal and sign for its database. */
interface HomeKeys {
  readonly secrets: Secrets;
  readonly authority: Signer;
  readonly facilitator: Signer;
  readonly treasury: Signer;
}

/** The opened database, keys and cluster of a home. */
export interface Home extends OpenedCluster {
  readonly store: Store;
  readonly keys: HomeKeys;
  /** Writes down how far the embedded ledger has come. */
  noteProgress(): Promise<void>;
  /** Where new escrows are opened. */
  readonly program: Address;
}

/**
 * The database, the keys and the cluster of a home, held against each other before anything is made or moved.
 * @throws Problem `database_of_another_home`, `ledger_lost`, `database_newer`, `database_unavailable`, of storage
 */
export async function openHome(
  options: ServiceOptions,
  onTrouble: OnTrouble,
  real: OpenedCluster | null,
): Promise<Home> {
  const { home } = options;
  const store = await openStore(options.databaseUrl ?? join(home, 'service.db'), onTrouble);
  try {
    const belonging = await belongingOf(store);
    const keys = openKeys(home, belonging);
    const opened = real ?? (await openEmbedded(options, onTrouble, () => checkLedger(home, belonging, null)));
    const { cluster, ledger } = opened;
    const facts = ledger && {
      id: ledger.ledgerId,
      transactions: ledger.ledger.transactionCount(),
      landed: (signature: string) => ledger.ledger.landed(signature) !== null,
    };
    if (facts) checkLedger(home, belonging, facts);
    const program = await programFor(options, opened);
    await claimDatabase(store, home, keys, { network: cluster.network, program, ledger: ledger?.ledgerId ?? null });
    await claimGenesis(store, belonging, opened.genesis);
    if (!ledger) return { ...opened, program, store, keys, noteProgress: async () => undefined };
    const progress = () => ({ ledger: ledger.ledgerId, seq: ledger.ledger.transactionCount() });
    return { ...opened, program, store, keys, noteProgress: progressNotes(store, belonging.seen, progress) };
  } catch (error) {
    await store.destroy();
    throw error;
  }
}

/**
 * The operator's keys of a home, made on first use as the services make them. The home's database is not claimed for a
 * cluster by it.
 * @throws Problem `database_of_another_home`, `keypair_unreadable`, of storage
 */
export async function openOperatorKeys({
  home,
  databaseUrl,
}: Pick<ServiceOptions, 'home' | 'databaseUrl'>): Promise<HomeKeys> {
  const store = await openStore(databaseUrl ?? join(home, 'service.db'), () => undefined);
  try {
    return openKeys(home, await belongingOf(store));
  } finally {
    await store.destroy();
  }
}

/**
 * The program that new escrows are opened at: of the settings, else the one that was deployed from this home. The
 * embedded cluster carries its own.
 */
async function programFor({ home, cluster }: ServiceOptions, opened: OpenedCluster): Promise<Address> {
  const [named] = cluster?.escrowPrograms ?? [];
  if (named !== undefined) return named;
  if (opened.ledger) return ESCROW_PROGRAM_ID;
  const { deployedProgram, deploymentsOf } = await import('./program.ts');
  return deployedProgram(opened.cluster, deploymentsOf(home, opened));
}

/**
 * Notes how far the ledger has come, where it has come further than is known. Where that cannot be written down, what
 * was done is done all the same: the trouble is logged, and the next process notes it.
 */
function progressNotes(store: Store, known: SeenLedger | null, now: () => SeenLedger) {
  return async () => {
    const seen = now();
    if (seen.seq <= (known?.seq ?? 0)) return;
    await noteLedger(store, seen).catch((error: unknown) => {
      if (!storeTrouble(error)) throw error;
    });
  };
}

async function belongingOf(store: Store): Promise<Belonging> {
  const { rows } = await sql.raw<{ signature: string }>(NEWEST_SETTLED).execute(store);
  return {
    identity: readIdentity(await readMark(store, IDENTITY)),
    seen: readSeen(await readMark(store, SEEN_LEDGER)),
    newest: rows[0]?.signature ?? null,
  };
}

const RING = 'service.json';
const SIGNERS = ['authority.json', 'facilitator.json', 'treasury.json'] as const;

/**
 * The keys of a home, made on first use. For a database that belongs to somebody already none is made, and others than
 * its own are refused: they could not do what the database holds.
 * @throws Problem `database_of_another_home`, `keypair_unreadable`, of storage
 */
function openKeys(home: string, { identity }: Belonging): HomeKeys {
  const at = (name: string) => join(home, 'keys', name);
  const missing = [RING, ...SIGNERS].filter((name) => !existsSync(at(name)));
  if (identity && missing.length > 0) {
    throw ofAnotherHome(identity, `${missing.map((name) => `keys/${name}`).join(', ')} missing here`);
  }
  const keys: HomeKeys = {
    secrets: openSecrets(at(RING)),
    authority: operatorKey(at('authority.json')),
    facilitator: operatorKey(at('facilitator.json')),
    treasury: operatorKey(at('treasury.json')),
  };
  if (identity) compare(identity, identityOf(keys));
  return keys;
}

const identityOf = ({ secrets, authority, facilitator, treasury }: HomeKeys) => ({
  keyRing: secrets.hmac(RING_PURPOSE, ''),
  authority: authority.address,
  facilitator: facilitator.address,
  treasury: treasury.address,
});

/** @throws Problem `database_of_another_home` */
function compare(kept: KeptIdentity, mine: Partial<Identity>): void {
  const others = differences(kept, mine);
  if (others.length === 0) return;
  throw ofAnotherHome(kept, `${others.join(', ')} ${others.length === 1 ? 'differs' : 'differ'}`);
}

/** A key of the operator's own, made on first use. Of two processes that start at once, both use the first one's. */
function operatorKey(path: string): Signer {
  try {
    return readOwnKeypair(path);
  } catch (error) {
    if (!isProblem(error, 'no_wallet')) throw error;
  }
  try {
    return createKeypairFile(path);
  } catch (error) {
    if (!isProblem(error, 'keypair_exists')) throw error;
    return readOwnKeypair(path);
  }
}

/**
 * Marks a database as this home's, or holds the home against the mark.
 * @throws Problem `database_of_another_home`: nothing was changed
 */
async function claimDatabase(
  store: Store,
  home: string,
  keys: HomeKeys,
  cluster: Pick<Identity, 'network' | 'program' | 'ledger'>,
): Promise<void> {
  const mine: Identity = { ...identityOf(keys), ...cluster };
  const kept = { ...mine, madeBy: `${hostname()}:${home}` };
  compare(readIdentity(await markOnce(store, IDENTITY, JSON.stringify(kept))) ?? kept, mine);
}

/**
 * Marks a database with the first block of its cluster, or holds the cluster against the mark.
 * @throws Problem `database_of_another_home`
 */
async function claimGenesis(store: Store, { identity }: Belonging, genesis: string | null): Promise<void> {
  if (genesis === null) return;
  const kept = await markOnce(store, GENESIS, genesis);
  if (kept === genesis) return;
  const made = identity ?? readIdentity(await readMark(store, IDENTITY));
  if (made) throw ofAnotherHome(made, `it is on the cluster with the genesis ${kept}, not ${genesis}`);
}

const ofAnotherHome = (kept: KeptIdentity, why: string): Problem =>
  problem('database_of_another_home', {
    message: `The database belongs to the home ${kept.madeBy}: ${why}.`,
    fix: 'Use that home (FARELOCK_HOME), put its keys folder here, or name a database of its own for this home.',
    detail: { made_by: kept.madeBy, why },
  });

/** A ledger that is gone, or has lost what it held; nothing is made in its place unless a person says so. */
const ledgerLost = (home: string, why: string): Problem =>
  problem('ledger_lost', {
    message: `${join(home, 'ledger.db')} is not the ledger that this home has used: ${why}.`,
    fix: 'Put ledger.db, with the -wal file beside it, back from a backup. It holds play money: to start over, move the whole home away.',
    next: [farelock`doctor`, shell`mv ${home} ${home}.lost`],
    detail: { file: join(home, 'ledger.db'), why },
  });

/** @throws Problem `ledger_lost`: the ledger is not what the database knows of it */
function checkLedger(home: string, belonging: Belonging, ledger: LedgerFacts | null): void {
  const why = whyLedgerLost(belonging, ledger);
  if (why !== null) throw ledgerLost(home, why);
}
