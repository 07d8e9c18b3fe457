import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { ESCROW_PROGRAM_ID } from '../escrow/index.ts';
import type { FlightsDatabase } from '../flights/base/index.ts';
import { isProblem, type Problem, problem } from '../kernel/problems.ts';
import { openSecrets } from '../kernel/secrets.ts';
import { farelock, shell } from '../kernel/shell-word.ts';
import type { PartnerDatabase } from '../partner/base/index.ts';
import { NEWEST_SETTLED } from '../payments/look.ts';
import { createKeypairFile, readOwnKeypair, type Signer } from '../solana/index.ts';
import type { Migrating } from '../store/base/index.ts';
import {
  type Belonging,
  currentOf,
  differences,
  GENESIS,
  IDENTITY,
  type Identity,
  type KeptIdentity,
  type KeyDuty,
  keyFilesOf,
  keysOf,
  type LedgerFacts,
  markOnce,
  noteLedger,
  OPERATOR_KEYS,
  openFileOrServer,
  RING_PURPOSE,
  readIdentity,
  readKeys,
  readMark,
  readSeen,
  SEEN_LEDGER,
  storeTrouble,
  whyLedgerLost,
} from '../store/index.ts';
import type { OnTrouble } from '../store/libsql/index.ts';
import { type OpenedCluster, openEmbedded } from './cluster.ts';
import { keyMissing, openDuty, type SigningDuty } from './duties.ts';
import { serviceMigrations } from './migrations.ts';
import type { AirlineTables } from './providers.ts';
import type { ServiceOptions } from './types.ts';

/**
 * Every table of the services' database, portable between SQLite and PostgreSQL: integers (atomic USDC, milliseconds,
 * 0/1), UTC times as text, JSON as text, bytes for large values. `_sealed` is encrypted, `_hmac` a keyed hash.
 */
export interface ServiceTables extends FlightsDatabase, PartnerDatabase, AirlineTables {}

export type Store = Kysely<ServiceTables>;

/**
 * Opens the database: a file under FARELOCK_HOME, or PostgreSQL.
 * @throws Problem `database_unavailable`, `database_newer`, `database_not_migrated`
 */
export const openStore = (where: string, onTrouble?: OnTrouble, migrating?: Migrating): Promise<Store> =>
  openFileOrServer<ServiceTables>(where, serviceMigrations, onTrouble, migrating);

type HomeKeys = ReturnType<typeof openKeys>;

export type Home = Awaited<ReturnType<typeof openHome>>;

/**
 * Opens database, keys and cluster of a home, after checking that they belong together.
 * @throws Problem `database_of_another_home`, `ledger_lost`, `database_newer`, `database_unavailable`, of storage
 */
export async function openHome(options: ServiceOptions, onTrouble: OnTrouble, real: OpenedCluster | null) {
  const { home } = options;
  const store = await openStore(options.databaseUrl ?? join(home, 'service.db'), onTrouble, options.migrating);
  try {
    const belonging = await belongingOf(store);
    const keys = openKeys(home, belonging, store);
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
    /** Saves the embedded ledger's highest transaction. */
    const noteProgress = async (): Promise<void> => {
      const seen = ledger && { ledger: ledger.ledgerId, seq: ledger.ledger.transactionCount() };
      if (!seen || seen.seq <= (belonging.seen?.seq ?? 0)) return;
      // A failed write loses nothing: the storage watch logs it, and the next process saves the number.
      await noteLedger(store, seen).catch((error: unknown) => {
        if (!storeTrouble(error)) throw error;
      });
    };
    // New escrows use `program`.
    return { ...opened, program, store, keys, noteProgress };
  } catch (error) {
    await store.destroy();
    throw error;
  }
}

/**
 * Opens the operator's keys of a home, made on first use, without tying the database to a cluster.
 * @throws Problem `database_of_another_home`, `keypair_unreadable`, of storage
 */
export async function openOperatorKeys({
  home,
  databaseUrl,
}: Pick<ServiceOptions, 'home' | 'databaseUrl'>): Promise<HomeKeys> {
  const store = await openStore(databaseUrl ?? join(home, 'service.db'), () => undefined);
  try {
    return openKeys(home, await belongingOf(store), store);
  } finally {
    await store.destroy();
  }
}

/** The program of new escrows: from the settings, else the embedded cluster's own, else this home's deployment. */
async function programFor({ home, cluster }: ServiceOptions, opened: OpenedCluster): Promise<Address> {
  const [named] = cluster?.escrowPrograms ?? [];
  if (named !== undefined) return named;
  if (opened.ledger) return ESCROW_PROGRAM_ID;
  const { deployedProgram, deploymentsOf } = await import('./program.ts');
  return deployedProgram(opened.cluster, deploymentsOf(home, opened));
}

export async function belongingOf(store: QueryExecutorProvider): Promise<Belonging> {
  const { rows } = await sql.raw<{ signature: string }>(NEWEST_SETTLED).execute(store);
  return {
    identity: readIdentity(await readMark(store, IDENTITY)),
    keys: await keptKeys(store),
    seen: readSeen(await readMark(store, SEEN_LEDGER)),
    newest: rows[0]?.signature ?? null,
  };
}

const keptKeys = async (store: QueryExecutorProvider) => readKeys(await readMark(store, OPERATOR_KEYS));

const KEY_FILES = ['service.json', 'authority.json', 'facilitator.json', 'treasury.json'];

/**
 * Opens the keys of a home, made on first use. A database that belongs to a home accepts only that home's keys, which
 * alone can read it, and needs the keys of later rotations too.
 * @throws Problem `database_of_another_home`, `operator_key_unusable`, `keypair_unreadable`, of storage
 */
function openKeys(home: string, belonging: Belonging, store: QueryExecutorProvider) {
  const { identity } = belonging;
  const folder = join(home, 'keys');
  const at = (name: string) => join(folder, name);
  const missing = [...keyFilesOf(belonging), 'treasury.json'].filter((name) => !existsSync(at(name)));
  const first = missing.filter((name) => KEY_FILES.includes(name));
  if (identity && first.length > 0) {
    throw ofAnotherHome(identity, `${first.map((name) => `keys/${name}`).join(', ')} missing here`);
  }
  const [rotated] = missing.filter((name) => !KEY_FILES.includes(name));
  if (rotated !== undefined) throw keyMissing(rotated);
  const secrets = openSecrets(at('service.json'), currentOf(belonging, 'service')?.name);
  const treasury = operatorKey(at('treasury.json'));
  // The file of a retired key may be gone.
  const addressOf = (duty: SigningDuty): string =>
    identity && !existsSync(at(`${duty}.json`)) ? identity[duty] : operatorKey(at(`${duty}.json`)).address;
  const mine = {
    keyRing: secrets.hmac(RING_PURPOSE, ''),
    authority: addressOf('authority'),
    facilitator: addressOf('facilitator'),
    treasury: treasury.address,
  };
  if (identity) compare(identity, mine);
  const open = (duty: SigningDuty) =>
    openDuty(
      duty,
      folder,
      belonging,
      () => keptKeys(store),
      () => operatorKey(at(`${duty}.json`)),
    );
  const [authority, facilitator] = [open('authority'), open('facilitator')];
  return {
    ...{ secrets, treasury, identity: mine },
    /** Lists the keys of a duty, retired ones too; empty for a ring that never rotated. */
    listed: (duty: KeyDuty) => keysOf({ ...belonging, identity: mine }, duty),
    ...{ authority: authority.current, authorities: authority.keys },
    ...{ facilitator: facilitator.current, facilitators: facilitator.keys },
  };
}

function compare(kept: KeptIdentity, mine: Partial<Identity>): void {
  const others = differences(kept, mine);
  if (others.length === 0) return;
  const each = others.map(({ words, database, here }) => `${words} differs, ${database} there and ${here} here`);
  throw ofAnotherHome(kept, each.join('; '));
}

/** Reads one of the operator's keys, made on first use. Two processes that start at once both use the first one's. */
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

/** Marks a database as this home's, or compares the mark. @throws `database_of_another_home`, with nothing changed */
async function claimDatabase(
  store: Store,
  home: string,
  keys: HomeKeys,
  cluster: Pick<Identity, 'network' | 'program' | 'ledger'>,
): Promise<void> {
  const mine: Identity = { ...keys.identity, ...cluster };
  const kept = { ...mine, madeBy: `${hostname()}:${home}` };
  compare(readIdentity(await markOnce(store, IDENTITY, JSON.stringify(kept))) ?? kept, mine);
}

/** Marks a database with its cluster's first block, or compares the mark. @throws Problem `database_of_another_home` */
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
    fix: 'Use that home (FARELOCK_HOME), put its keys folder here, or name another database for this home.',
    detail: { made_by: kept.madeBy, why },
  });

/** Checks the ledger against the database; only a person may replace a lost ledger. @throws Problem `ledger_lost` */
function checkLedger(home: string, belonging: Belonging, ledger: LedgerFacts | null): void {
  const why = whyLedgerLost(belonging, ledger);
  if (why === null) return;
  const file = join(home, 'ledger.db');
  throw problem('ledger_lost', {
    message: `${file} is not the ledger that this home has used: ${why}.`,
    fix: 'Put ledger.db, with the -wal file beside it, back from a backup. It holds play money: to start over, move the whole home away.',
    next: [farelock`doctor`, shell`mv ${home} ${home}.lost`],
    detail: { file, why },
  });
}
