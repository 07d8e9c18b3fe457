import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { isProblem, type Problem, problem } from './kernel/problems.ts';
import { openSecrets, type Secrets } from './kernel/secrets.ts';
import { createKeypairFile, readOwnKeypair, type Signer } from './solana/keypair.ts';
import {
  type Belonging,
  differences,
  IDENTITY,
  type Identity,
  type KeptIdentity,
  type LedgerFacts,
  NEWEST_SETTLED,
  RING_PURPOSE,
  readIdentity,
  readSeen,
  SEEN_LEDGER,
  whyLedgerLost,
} from './store/identity.ts';
import { markOnce, readMark } from './store/marks.ts';
import type { Store } from './store/open.ts';

/** The keys of a home: what is sealed and signed in its database's name. */
export interface HomeKeys {
  readonly secrets: Secrets;
  readonly authority: Signer;
  readonly facilitator: Signer;
  readonly treasury: Signer;
}

export async function belongingOf(store: Store): Promise<Belonging> {
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
export function openKeys(home: string, { identity }: Belonging): HomeKeys {
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
export async function claimDatabase(
  store: Store,
  home: string,
  keys: HomeKeys,
  cluster: Pick<Identity, 'network' | 'program' | 'ledger'>,
): Promise<void> {
  const mine: Identity = { ...identityOf(keys), ...cluster };
  const kept = { ...mine, madeBy: `${hostname()}:${home}` };
  compare(readIdentity(await markOnce(store, IDENTITY, JSON.stringify(kept))) ?? kept, mine);
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
    next: ['farelock doctor', `mv ${home} ${home}.lost`],
    detail: { file: join(home, 'ledger.db'), why },
  });

/** @throws Problem `ledger_lost`: the ledger is not what the database knows of it */
export function checkLedger(home: string, belonging: Belonging, ledger: LedgerFacts | null): void {
  const why = whyLedgerLost(belonging, ledger);
  if (why !== null) throw ledgerLost(home, why);
}
