import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { type QueryExecutorProvider, sql, type Transaction } from 'kysely';
import { inspectProgram } from '../escrow/deployment/index.ts';
import { BY_SERVICE, readBehind, writeAudit } from '../flights/base/index.ts';
import { type Clock, instant } from '../kernel/clock.ts';
import { randomIds } from '../kernel/ids.ts';
import { formatSol } from '../kernel/money.ts';
import { problem } from '../kernel/problems.ts';
import { addRingKey, ringIds } from '../kernel/secrets.ts';
import { farelock } from '../kernel/shell-word.ts';
import { FILLED_LAMPORTS, LEAST_LAMPORTS } from '../payments/index.ts';
import { type Cluster, createKeypairFile, type Faucet } from '../solana/index.ts';
import { inTurn, STEPS } from '../store/base/index.ts';
import { type KeptKey, type KeyDuty, keyFile, keysOf, OPERATOR_KEYS, retiredMark } from '../store/index.ts';
import { rotatedIn, type SigningDuty } from './duties.ts';
import { belongingOf, type ServiceTables, type Store } from './home.ts';
import { ROTATION_STEP } from './migrations.ts';

export type RotationStep = 'begin' | 'switch' | 'retire';
export type Rotation = Awaited<ReturnType<typeof rotate>>;

export interface RotationPorts {
  readonly store: Store;
  /** The folder `keys` of the home. */
  readonly folder: string;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly faucet: Faucet | null;
  readonly program: Address;
}

type Tx = Transaction<ServiceTables>;

/** Challenges and transactions live for two minutes: by then, all that an older key signed before a switch is over. */
const QUIET_MS = 10 * 60_000;

/**
 * Takes a step of a key's rotation, or with null only reports its state; repeating a step is harmless. A key's file is
 * written before the database names it; everything else is one transaction.
 * @throws Problem `usage`, `insufficient_funds`, `operator_key_in_use`, `database_behind`, of storage
 */
export async function rotate(ports: RotationPorts, duty: KeyDuty, step: RotationStep | null) {
  const { store, folder } = ports;
  const before = await listed(ports, store, duty);
  const old = oldOf(before);
  // The cluster is asked before the transaction, to keep that short.
  if (step === 'switch') await checkFunds(ports, duty, before);
  const onChain = old && duty !== 'service' ? await chainUses(ports, duty, old) : NO_USE;
  if (step !== null) {
    // Intents are written in the turn `creations`, so none is written under a key that is being retired.
    await inTurn(store, [OPERATOR_KEYS, 'creations'], async (tx) => {
      const keys = await listed(ports, tx, duty);
      if (step === 'begin') await begin(ports, tx, duty, keys);
      if (step === 'switch') await switchTo(ports, tx, duty, keys);
      if (step === 'retire') await retire(ports, tx, duty, keys, onChain);
    });
  }
  const keys = await listed(ports, store, duty);
  const living = oldOf(keys);
  const uses = living && duty === 'authority' ? { ...onChain, ...(await rowsUnder(store, keys, living)) } : onChain;
  return {
    duty,
    keys: keys.map((key, place) => {
      const file = keyFile(duty, key.name, place === 0);
      return { ...key, file: `keys/${file}`, isHere: existsSync(join(folder, file)) };
    }),
    /** Null if there is no older key to retire. */
    uses:
      living && duty !== 'service'
        ? { ...shownUses(uses), words: usesInWords(uses, living), mayRetire: isOver(uses, living, ports.clock) }
        : null,
  };
}

async function listed(ports: RotationPorts, on: QueryExecutorProvider, duty: KeyDuty): Promise<readonly KeptKey[]> {
  const belonging = await belongingOf(on);
  if (!belonging.identity) {
    throw problem('usage', {
      message: 'No service has run with this database: its keys have nothing to rotate.',
      fix: 'Start a service first, or make a new home.',
    });
  }
  const keys = keysOf(belonging, duty);
  if (keys.length > 0) return keys;
  const [ring = ''] = ringIds(join(ports.folder, 'service.json'));
  return [{ name: ring, state: 'current', sinceMs: 0 }];
}

const oldOf = (keys: readonly KeptKey[]): KeptKey | undefined => keys.find(({ state }) => state === 'old');
const nextOf = (keys: readonly KeptKey[]): KeptKey | undefined => keys.find(({ state }) => state === 'next');

async function write(ports: RotationPorts, tx: Tx, duty: KeyDuty, step: RotationStep, keys: readonly KeptKey[]) {
  const { clock } = ports;
  const value = JSON.stringify({ ...(await belongingOf(tx)).keys, [duty]: keys });
  await sql`insert into meta (key, value) values (${OPERATOR_KEYS}, ${value})
    on conflict (key) do update set value = ${value}`.execute(tx);
  const detail = Object.fromEntries(keys.map(({ name, state }) => [name, state]));
  await writeAudit(
    tx,
    { clock, ids: randomIds(clock.now) },
    { ...BY_SERVICE, action: `keys.${step}`, subject: duty, detail },
  );
}

async function begin(ports: RotationPorts, tx: Tx, duty: KeyDuty, keys: readonly KeptKey[]): Promise<void> {
  if (nextOf(keys)) return;
  if (duty !== 'service' && oldOf(keys)) {
    throw problem('operator_key_in_use', {
      message: `The last rotation of the ${duty} has not ended: its older key is alive.`,
      fix: 'Retire it first.',
      next: [farelock`cluster rotate ${duty} retire`],
    });
  }
  const { folder } = ports;
  // Takes the key file that a killed run left behind, or that a restored database does not know.
  const [left] = rotatedIn(folder, duty).filter((file) => !keys.some(({ name }) => name === file));
  const make = (): string =>
    duty === 'service'
      ? addRingKey(join(folder, 'service.json'))
      : createKeypairFile((address) => join(folder, keyFile(duty, address, false))).address;
  await write(ports, tx, duty, 'begin', [...keys, { name: left ?? make(), state: 'next', sinceMs: ports.clock.now() }]);
}

async function switchTo(ports: RotationPorts, tx: Tx, duty: KeyDuty, keys: readonly KeptKey[]): Promise<void> {
  const next = nextOf(keys);
  if (!next && oldOf(keys)) return;
  if (!next) throw tooSoon(`There is no next key of the ${duty}.`, duty, 'begin');
  await checkWhole(tx);
  const sinceMs = ports.clock.now();
  const moved = keys.map((key) =>
    key === next
      ? { ...key, state: 'current' as const, sinceMs }
      : key.state === 'current'
        ? { ...key, state: 'old' as const, sinceMs }
        : key,
  );
  await write(ports, tx, duty, 'switch', moved);
  // Older versions know one authority, one fee payer and one ring key, and would misread rows: from now on they stop.
  await sql`update ${sql.table(STEPS)} set breaks = 1 where name = ${ROTATION_STEP}`.execute(tx);
}

async function retire(
  ports: RotationPorts,
  tx: Tx,
  duty: KeyDuty,
  keys: readonly KeptKey[],
  onChain: typeof NO_USE,
): Promise<void> {
  if (duty === 'service') {
    throw problem('usage', {
      message: 'Older keys of the ring stay: they read what they sealed.',
      fix: 'Keep every keys/service*.json.',
    });
  }
  const old = oldOf(keys);
  if (!old && keys.some(({ state }) => state === 'retired')) return;
  if (!old) throw tooSoon(`There is no older key of the ${duty}.`, duty, nextOf(keys) ? 'switch' : 'begin');
  await checkWhole(tx);
  const uses = { ...onChain, ...(duty === 'authority' && (await rowsUnder(tx, keys, old))) };
  if (!isOver(uses, old, ports.clock)) {
    throw problem('operator_key_in_use', {
      message: `${old.name} is still in use: ${usesInWords(uses, old).join(', ')}.`,
      detail: { address: old.name, ...shownUses(uses) },
    });
  }
  const sinceMs = ports.clock.now();
  if (duty === 'authority') {
    await sql`insert into meta (key, value) values (${retiredMark(old.name)}, ${String(sinceMs)})
      on conflict (key) do nothing`.execute(tx);
  }
  await write(
    ports,
    tx,
    duty,
    'retire',
    keys.map((key) => (key === old ? { ...key, state: 'retired', sinceMs } : key)),
  );
}

const tooSoon = (message: string, duty: KeyDuty, step: RotationStep) =>
  problem('usage', { message, fix: 'Take the steps in order.', next: [farelock`cluster rotate ${duty} ${step}`] });

async function checkWhole(tx: Tx): Promise<void> {
  if (await readBehind(tx)) throw problem('database_behind');
}

/** Fills the next key if there is a faucet. @throws Problem `insufficient_funds` if the key cannot pay fees */
async function checkFunds({ cluster, faucet }: RotationPorts, duty: KeyDuty, keys: readonly KeptKey[]) {
  const next = nextOf(keys);
  if (!next || duty === 'service') return;
  const [account] = await cluster.accounts([next.name as Address]);
  const lamports = account?.lamports ?? 0n;
  if (lamports >= LEAST_LAMPORTS) return;
  if (faucet) return void (await faucet.airdropSol(next.name as Address, FILLED_LAMPORTS));
  throw problem('insufficient_funds', {
    message: `The next ${duty} ${next.name} holds ${formatSol(lamports)} SOL, and needs ${formatSol(LEAST_LAMPORTS)}.`,
    fix: `Send SOL to ${next.name}, then run the command again.`,
    charged: 'nothing',
    next: [farelock`cluster keys`],
    detail: { wallet: duty, address: next.name, holds_lamports: Number(lamports) },
  });
}

/** The uses that keep an older key alive. */
interface Uses {
  /** `open`: escrows that still hold money; `unclosed`: ended escrows, which return their rent when they close. */
  readonly open: number;
  readonly unclosed: number;
  readonly payouts: number;
  /** The program that the key may replace. */
  readonly program: Address | null;
  /** Time of the last transaction that the key paid for (epoch ms); null if that was long ago. */
  readonly paidAtMs: number | null;
  readonly lamports: bigint;
}

const NO_USE: Uses = { open: 0, unclosed: 0, payouts: 0, program: null, paidAtMs: null, lamports: 0n };

const isOver = ({ open, unclosed, payouts, program, paidAtMs }: Uses, { sinceMs }: KeptKey, clock: Clock): boolean =>
  open + unclosed + payouts === 0 && program === null && paidAtMs === null && clock.now() - sinceMs >= QUIET_MS;

const usesInWords = ({ open, unclosed, payouts, program, paidAtMs }: Uses, { sinceMs }: Pick<KeptKey, 'sinceMs'>) => {
  const many = (count: number, one: string) => (count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`]);
  const uses = [
    ...many(open, 'open escrow'),
    ...many(unclosed, 'ended escrow').map((text) => `${text} to close, about 30 days after the end`),
    ...many(payouts, 'pay-out').map((text) => `${text} under way`),
    ...(program === null ? [] : [`it can replace the program ${program}`]),
    ...(paidAtMs === null
      ? []
      : [`it paid for a transaction at ${instant(paidAtMs)}: restart the process that uses it`]),
  ];
  return uses.length > 0 ? uses : [`the switch was at ${instant(sinceMs)}, and it rests for 10 minutes`];
};

const shownUses = ({ open, unclosed, payouts, program, paidAtMs, lamports }: Uses) => ({
  ...{ open_escrows: open, unclosed_escrows: unclosed, open_payouts: payouts },
  ...{ can_replace: program, paid_at: paidAtMs === null ? null : instant(paidAtMs), sol: formatSol(lamports) },
});

const NEWEST = 20;

async function chainUses({ cluster, clock, program }: RotationPorts, duty: SigningDuty, old: KeptKey): Promise<Uses> {
  const address = old.name as Address;
  const [account] = await cluster.accounts([address]);
  const found = duty === 'authority' ? await inspectProgram(cluster, program) : null;
  const sinceMs = Math.max(old.sinceMs, clock.now() - QUIET_MS);
  let paidAtMs: number | null = null;
  // Anyone may name its address: only the transactions that it paid for count.
  for (const { signature, blockTime } of await cluster.history(address, { limit: NEWEST })) {
    const atMs = (blockTime ?? 0) * 1000;
    if (paidAtMs !== null || atMs <= sinceMs) break;
    const transaction = await cluster.transaction(signature);
    if (transaction && payerOf(transaction.transaction) === address) paidAtMs = atMs;
  }
  const replaces = found?.kind === 'present' && found.upgradeAuthority === address;
  return { ...NO_USE, program: replaces ? program : null, paidAtMs, lamports: account?.lamports ?? 0n };
}

function payerOf(wire: Uint8Array): Address | undefined {
  const { messageBytes } = getTransactionDecoder().decode(wire);
  return getCompiledTransactionMessageDecoder().decode(messageBytes).staticAccounts[0];
}

async function rowsUnder(on: QueryExecutorProvider, [first]: readonly KeptKey[], { name }: KeptKey) {
  const isUnder = sql`coalesce(intents.authority, ${first?.name}) = ${name}`;
  const of = (table: string) => sql`from ${sql.table(table)} join intents
    on intents.intent_id = ${sql.ref(`${table}.intent_id`)} where ${isUnder}`;
  const { rows } = await sql<Record<'live' | 'booked' | 'unclosed' | 'payouts', number | string>>`select
    (select count(*) from intents where active_key is not null and ${isUnder} and not exists
      (select 1 from bookings where bookings.intent_id = intents.intent_id)) as live,
    (select count(*) ${of('bookings')} and bookings.state not in ('booked', 'refunded')) as booked,
    (select count(*) ${of('upkeep')} and upkeep.task = 'close_escrow') as unclosed,
    (select count(*) from effects where state in ('planned', 'sent', 'stuck') and kind = 'payout') as payouts`.execute(
    on,
  );
  const [found] = rows;
  const count = (value: number | string | undefined) => Number(value ?? 0);
  return {
    open: count(found?.live) + count(found?.booked),
    unclosed: count(found?.unclosed),
    payouts: count(found?.payouts),
  };
}
