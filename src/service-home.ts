import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isProblem, type Problem, problem } from './kernel/problems.ts';
import { openSecrets, type Secrets } from './kernel/secrets.ts';
import { createKeypairFile, readOwnKeypair, type Signer } from './solana/keypair.ts';
import {
  differences,
  IDENTITY,
  type Identity,
  type KeptIdentity,
  markOnce,
  RING_PURPOSE,
  readIdentity,
  readMark,
  readSeen,
  SEEN_LEDGER,
  type SeenLedger,
} from './store/identity.ts';
import type { Store } from './store/open.ts';

/** The keys of a home: what is sealed and signed in its database's name. */
export interface HomeKeys {
  readonly secrets: Secrets;
  readonly authority: Signer;
  readonly facilitator: Signer;
  readonly treasury: Signer;
}

/** What a database says of the home that it belongs to; null: nothing yet. */
export interface Belonging {
  readonly identity: KeptIdentity | null;
  readonly ledger: SeenLedger | null;
}

export async function belongingOf(store: Store): Promise<Belonging> {
  return {
    identity: readIdentity(await readMark(store, IDENTITY)),
    ledger: readSeen(await readMark(store, SEEN_LEDGER)),
  };
}

const RING = 'service.json';
const SIGNERS = ['authority.json', 'facilitator.json', 'treasury.json'] as const;

/**
 * The keys of a home, made on first use. For a database that belongs to somebody already none is made: it could not
 * do what the database holds.
 * @throws Problem `database_of_another_home`, `keypair_unreadable`, of storage
 */
export function openKeys(home: string, { identity }: Belonging): HomeKeys {
  const at = (name: string) => join(home, 'keys', name);
  const missing = [RING, ...SIGNERS].filter((name) => !existsSync(at(name)));
  if (identity && missing.length > 0) {
    throw ofAnotherHome(identity, `${missing.map((name) => `keys/${name}`).join(', ')} missing here`);
  }
  return {
    secrets: openSecrets(at(RING)),
    authority: operatorKey(at('authority.json')),
    facilitator: operatorKey(at('facilitator.json')),
    treasury: operatorKey(at('treasury.json')),
  };
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
 * @throws Problem `database_of_another_home`, `ledger_lost`: nothing was changed
 */
export async function claimDatabase(
  store: Store,
  home: string,
  keys: HomeKeys,
  cluster: Pick<Identity, 'network' | 'program' | 'ledger'>,
): Promise<void> {
  const mine: Identity = {
    keyRing: keys.secrets.hmac(RING_PURPOSE, ''),
    authority: keys.authority.address,
    facilitator: keys.facilitator.address,
    treasury: keys.treasury.address,
    ...cluster,
  };
  const kept = readIdentity(
    await markOnce(store, IDENTITY, JSON.stringify({ ...mine, madeBy: `${hostname()}:${home}` })),
  );
  if (!kept) return;
  const others = differences(kept, mine);
  if (others.length === 0) return;
  const isLedgerAlone = others.length === 1 && mine.ledger !== kept.ledger;
  throw isLedgerAlone && mine.ledger !== null && kept.ledger !== null
    ? ledgerLost(home, 'it is another one')
    : ofAnotherHome(kept, `${others.join(', ')} ${others.length === 1 ? 'differs' : 'differ'}`);
}

const ofAnotherHome = (kept: KeptIdentity, why: string): Problem =>
  problem('database_of_another_home', {
    message: `The database belongs to the home ${kept.madeBy}: ${why}.`,
    fix: 'Use that home (FARELOCK_HOME), put its keys folder here, or name a database of its own for this home.',
    detail: { made_by: kept.madeBy, why },
  });

/** A ledger that is gone, or has lost what it held; nothing is made in its place unless a person says so. */
export const ledgerLost = (home: string, why: string): Problem =>
  problem('ledger_lost', {
    message: `${join(home, 'ledger.db')} is not the ledger that this home has used: ${why}.`,
    fix: 'Put ledger.db, with the -wal file beside it, back from a backup. It holds play money: to start over, move the whole home away.',
    next: ['farelock doctor', `mv ${home} ${home}.lost`],
    detail: { file: join(home, 'ledger.db'), why },
  });

/**
 * Holds the embedded ledger against what the database knows to have landed there.
 * @throws Problem `ledger_lost`
 */
export async function checkLedger(
  store: Store,
  home: string,
  seen: SeenLedger | null,
  ledger: { readonly id: string; lastSeq(): number; landed(signature: string): object | null },
): Promise<void> {
  if (seen && seen.ledger === ledger.id && ledger.lastSeq() < seen.seq) {
    throw ledgerLost(home, `it ends at transaction ${ledger.lastSeq()}, and ${seen.seq} were there`);
  }
  const [newest] = await store
    .selectFrom('settlements')
    .select('signature')
    .where('state', 'in', ['settled', 'answered'])
    .where('signature', 'is not', null)
    .orderBy('updated_at_ms', 'desc')
    .limit(1)
    .execute();
  if (newest?.signature && ledger.landed(newest.signature) === null) {
    throw ledgerLost(home, 'a payment that was settled is not on it');
  }
}
