import type { Instruction, Signature } from '@solana/kit';
import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { type Cluster, type Landing, loadLanding, loadPriced, type Signer } from '../solana/index.ts';
import { inTurn, regained } from '../store/base/index.ts';
import { leaseTime } from '../store/index.ts';
import type { EffectKind, EffectsTables, EffectTable, Store } from './tables.ts';

export * from './tables.ts';

/** Throws if the decision was replaced. Runs in the attempt's transaction: a new decision stops or sees the attempt. */
export type Agreed = (tx: Transaction<EffectsTables>) => Promise<void>;

interface Guards {
  /** Throws if the caller has lost its lease. Runs before an attempt is written or its bytes are sent again. */
  fence?: (() => Promise<void>) | undefined;
  /** `fence` as an SQL condition, which the statement that writes the attempt checks. */
  readonly held?: RawBuilder<SqlBool> | undefined;
  readonly agreed?: Agreed | undefined;
  /** The caller has just seen that no attempt is alive, so the log is not read first. */
  readonly isNew?: boolean | undefined;
}

export interface ChainEffect extends Guards {
  readonly kind: Exclude<EffectKind, 'airline_order' | 'airline_cancel'>;
  /** At most one attempt per kind and subject is alive. */
  readonly subject: string;
  /** Kept with the attempt: the amount of a partial capture (atomic units). */
  readonly reference?: string | undefined;
  /** Returns true if the chain shows the act as done, by anyone. Called before anything new is signed. */
  already(): Promise<boolean>;
  /** Finds the transaction on the chain if no known attempt made it: the database may have been restored. */
  trace?: (() => Promise<string | null>) | undefined;
  plan(): Promise<ChainPlan>;
  /** The chain no longer shows a finished act: its block may have been dropped, so the cluster is asked again. */
  readonly isGone?: boolean | undefined;
}

export interface ChainPlan {
  readonly feePayer: Signer;
  readonly signers?: readonly Signer[];
  readonly instructions: readonly Instruction[];
}

/** An airline order as an effect: placed under our reference, by which it can be found. */
export interface AirlineEffect<T> extends Guards {
  readonly subject: string;
  /** Default: `airline_order`. A cancellation is recognised by the order's status. */
  readonly kind?: 'airline_order' | 'airline_cancel' | undefined;
  /** The same reference never makes a second order. */
  readonly reference: string;
  create(): Promise<T>;
  /** Returns null if no order exists or is being made under the reference, `unknown` if the airline cannot say yet. */
  find(): Promise<T | null | 'unknown'>;
  idOf(order: T): string;
  /** Returns true, or the reason, if the error proves that nothing was ordered. */
  refused(error: unknown): boolean | string;
  /** Extracts the airline's own words from an error. They are kept for a person who has to ask the airline. */
  told?: ((error: unknown) => AirlineTold | null) | undefined;
  /** Returns why a purchase needs a person, if it does: its attempt stays alive as `stuck`, which bars a second one. */
  waitsForPerson?: ((order: T) => string | null) | undefined;
}

/** An airline's error code for a failed request, and the request's id, by which its support can find it. */
export interface AirlineTold {
  readonly code: string | null;
  readonly request_id: string | null;
}

interface GivenPorts {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  /** Returns true while nothing may be done to the outside world. */
  readonly isHeld?: (() => Promise<boolean>) | undefined;
}

interface EffectPorts extends GivenPorts {
  /** Ids of the attempts that this process is sending. A send may take a minute. */
  readonly sending: Set<string>;
}

/** The error of an effect that was called off. Its row keeps the live key, so no attempt can ever begin. */
const CALLED_OFF = 'called_off';
const isCalledOff = ({ state, error }: EffectTable): boolean => state === 'failed' && error === CALLED_OFF;

export const liveKey = (kind: EffectKind, subject: string): string => `${kind}:${subject}`;

const attemptAt = (kind: EffectKind, subject: string, nowMs: number) => ({
  kind,
  subject,
  live_key: liveKey(kind, subject),
  transaction: null,
  signature: null,
  last_valid_block_height: null,
  reference: null,
  result: null,
  error: null,
  detail: null,
  created_at_ms: nowMs,
  updated_at_ms: nowMs,
});

type NewAttempt = Partial<EffectTable> & Pick<EffectTable, 'state'>;

/** Writes an attempt. Returns null if another attempt is alive or the condition `held` is false. */
export async function writeAttempt(
  on: Store | Transaction<EffectsTables>,
  { clock, ids }: Pick<GivenPorts, 'clock' | 'ids'>,
  kind: EffectKind,
  subject: string,
  fields: NewAttempt,
  held: RawBuilder<SqlBool> = sql`1 = 1`,
): Promise<EffectTable | null> {
  const row = { ...attemptAt(kind, subject, clock.now()), effect_id: ids.next('eff'), ...fields };
  const next = sql`(select coalesce(max(attempt), 0) + 1 from effects where subject = ${subject} and kind = ${kind})`;
  const columns = (Object.keys(row) as (keyof typeof row)[]).filter((column) => row[column] !== undefined);
  const written = await on
    .insertInto('effects')
    .columns([...columns, 'attempt'])
    .expression(sql`select ${sql.join([...columns.map((column) => row[column]), next])} where ${held}`)
    .onConflict((conflict) => conflict.column('live_key').doNothing())
    .returning('attempt')
    .executeTakeFirst();
  return written ? { ...row, attempt: Number(written.attempt) } : null;
}

/** @throws the fence's error if the caller has lost its lease */
async function begin(ports: EffectPorts, kind: EffectKind, subject: string, fields: NewAttempt, guards: Guards = {}) {
  const { agreed, held, fence } = guards;
  if (!held) await fence?.();
  const write = (on: Store | Transaction<EffectsTables>) => writeAttempt(on, ports, kind, subject, fields, held);
  const row = agreed
    ? await inTurn(ports.store, [`intents:${subject}`], async (tx) => {
        await agreed(tx);
        return write(tx);
      })
    : await write(ports.store);
  if (!row && held) await fence?.();
  return row;
}

/** The live attempt of an effect: under way, done or called off. */
export const liveAttempt = (on: Store | Transaction<EffectsTables>, kind: EffectKind, subject: string) =>
  on.selectFrom('effects').selectAll().where('live_key', '=', liveKey(kind, subject)).executeTakeFirst();

/** The effect log (DESIGN, section 6): a row precedes each act; after a crash, recovery asks the world, then acts. */
export function createEffects(given: GivenPorts) {
  const ports = { ...given, sending: new Set<string>() };
  return {
    /**
     * Makes a chain effect happen exactly once; can be called again after any failure. The signature is null if
     * someone else did it. `reference` is that of the attempt that landed.
     * @throws Problem `cluster_failed` (outcome unknown), `not_final` (may be rolled back), `transaction_failed`
     * (refused, or waits for a person), `database_behind`
     */
    async chain(effect: ChainEffect) {
      await checkHeld(ports);
      return chain(ports, effect);
    },

    async airline<T>(effect: AirlineEffect<T>): Promise<T> {
      await checkHeld(ports);
      return airline(ports, effect);
    },

    /** State of an effect. Asks the cluster about open attempts; only `byPerson` drops a stuck one that cannot land. */
    async standing(kind: EffectKind, subject: string, byPerson = false): Promise<'none' | 'open' | 'done' | 'stuck'> {
      const live = await liveAttempt(ports.store, kind, subject);
      if (!live || isCalledOff(live)) return 'none';
      const isStuck = live.state === 'stuck';
      if (live.state === 'done') return 'done';
      if (isStuck && !byPerson) return 'stuck';
      const known = live.signature === null ? 'open' : await ask(ports, live, byPerson);
      if (known === 'done') return 'done';
      return known === 'dead' ? 'none' : isStuck ? 'stuck' : 'open';
    },

    /** Keeps an effect from ever beginning, in any process. @returns false if it has already begun */
    async callOff(kind: EffectKind, subject: string): Promise<boolean> {
      if (await begin(ports, kind, subject, { state: 'failed', error: CALLED_OFF })) return true;
      const live = await liveAttempt(ports.store, kind, subject);
      return live !== undefined && isCalledOff(live);
    },

    /** Finds the outcome of chain attempts that were left open. */
    recover: () => recover(ports),

    /** SQL value: when the oldest attempt left to `recover` was last updated (epoch ms), or null. */
    leftAtMs(): RawBuilder<number | null> {
      const [sent, stuck] = leftOpen(ports, 1);
      return sql`coalesce(${sent.select('updated_at_ms')}, ${stuck.select('updated_at_ms')})`;
    },
  };
}

export type Effects = ReturnType<typeof createEffects>;

async function checkHeld({ isHeld }: EffectPorts): Promise<void> {
  if (await isHeld?.()) throw problem('database_behind', { retryAfter: HELD_S });
}

interface Landed {
  readonly signature: string | null;
  readonly reference?: string | undefined;
}

const landedAs = ({ signature, reference }: Pick<EffectTable, 'signature' | 'reference'>): Landed => ({
  signature,
  reference: reference ?? undefined,
});

async function chain(ports: EffectPorts, effect: ChainEffect): Promise<Landed> {
  const { kind, subject, fence } = effect;
  const doneBy = async (): Promise<Landed> =>
    (await landedInPast(ports, kind, subject)) ?? { signature: (await effect.trace?.()) ?? null };
  for (let round = 0; round < 4; round++) {
    const live = round === 0 && effect.isNew ? undefined : await liveAttempt(ports.store, kind, subject);
    if (live && isCalledOff(live)) {
      throw problem('transaction_failed', { message: 'It was called off before it began.', detail: { kind, subject } });
    }
    const isDoubted = live?.state === 'done' && effect.isGone === true && live.signature !== null;
    if (isDoubted) await doubt(ports, live);
    // Done without a known transaction, which may have been found since.
    else if (live?.state === 'done') return live.signature === null ? doneBy() : landedAs(live);
    if (live) {
      if ((await resolve(ports, live, fence)) === 'done') return landedAs(live);
      continue;
    }
    if (await effect.already()) {
      const landed = await doneBy();
      if (!REPEATABLE.includes(kind)) {
        const { signature, reference = null } = landed;
        await begin(ports, kind, subject, { state: 'done', signature, reference });
      }
      return landed;
    }
    const { signPriced } = await loadPriced();
    const { cluster } = ports;
    const signed = await signPriced(cluster, await effect.plan());
    const attempt = {
      state: 'sent',
      transaction: Buffer.from(signed.wire).toString('base64'),
      signature: signed.signature,
      last_valid_block_height: Number(signed.lastValidBlockHeight),
      reference: effect.reference ?? null,
    } as const;
    const row = await begin(ports, kind, subject, attempt, effect);
    if (!row) continue;
    await send(ports, row);
    return landedAs(row);
  }
  throw problem('transaction_failed', {
    message: 'The cluster keeps refusing the transaction.',
    detail: { kind, subject },
  });
}

const HELD_S = 60;
/** Longer than any lease on such work: until then, a process that lost its lease may still call the airline. */
const MAY_BE_ASKING_MS = 20_000;

const unknownOutcome = () => problem('provider_failed', { message: 'It is not known yet whether the airline did it.' });

/**
 * Orders at most once: the reference is recorded first, and after an unknown outcome the airline is asked first.
 * Throws on a refusal (the attempt is over) and on an unknown outcome (it stays alive); `standing` tells them apart.
 */
async function airline<T>(ports: EffectPorts, effect: AirlineEffect<T>): Promise<T> {
  const { subject, kind = 'airline_order' } = effect;
  /** Records an order, or a purchase that needs a person. */
  const made = (row: EffectTable, order: T): Promise<void> => {
    const why = effect.waitsForPerson?.(order) ?? null;
    return end(ports, row, why === null ? 'done' : 'stuck', { result: effect.idOf(order), error: why });
  };
  for (let isNew = effect.isNew === true; ; isNew = false) {
    const live = isNew ? undefined : await liveAttempt(ports.store, kind, subject);
    if (live) {
      const found = await effect.find();
      if (found === 'unknown') throw unknownOutcome();
      if (found) {
        if (live.state !== 'done') await made(live, found);
        return found;
      }
      if (live.state === 'done' || live.state === 'stuck') {
        throw problem('provider_failed', { message: 'The airline no longer knows an order that it made.' });
      }
      if (await mayBeAsking(ports, live)) throw unknownOutcome();
      await end(ports, live, 'failed', { error: 'never_made' });
      continue;
    }
    const row = await begin(ports, kind, subject, { state: 'planned', reference: effect.reference }, effect);
    if (!row) continue;
    try {
      const order = await effect.create();
      await made(row, order);
      return order;
    } catch (error) {
      const refused = effect.refused(error);
      const code = isProblem(error) ? error.code : typeof refused === 'string' ? refused : 'no_answer';
      const told = effect.told?.(error) ?? null;
      const failure = { error: code, ...(told && { detail: JSON.stringify(told) }) };
      if (refused) {
        await end(ports, row, 'failed', failure);
        throw error;
      }
      await end(ports, row, 'sent', failure);
      const found = await effect.find();
      if (found === 'unknown') throw isProblem(error) ? error : unknownOutcome();
      if (!found) {
        await end(ports, row, 'failed', { error: code });
        throw error;
      }
      await made(row, found);
      return found;
    }
  }
}

/** True for a recent, unfinished attempt (by the leases' clock): its order may not have reached the airline yet. */
async function mayBeAsking({ store, clock }: EffectPorts, { state, created_at_ms }: EffectTable): Promise<boolean> {
  if (state !== 'planned') return false;
  const { rows } = await sql<{ now: number }>`select ${leaseTime(store, clock)()} as now`.execute(store);
  return Math.abs(Number(rows[0]?.now) - created_at_ms) < MAY_BE_ASKING_MS;
}

/** Kinds that the same subject may need more than once. */
const REPEATABLE: readonly EffectKind[] = ['sweep'];
/** Kinds that pay money out for good: they are done only in a final block. */
const ENDS_FINALIZED: readonly EffectKind[] = ['capture', 'refund', 'payout'];
/** True if the program itself does this kind only once. Old pay-outs lack the marker that ensures it. */
const isExclusive = (kind: EffectKind): boolean => kind !== 'payout';
/** An outcome that is unknown for this long waits for a person. */
const LONG_UNKNOWN_MS = 12 * 60_000;
/** How often the cluster is asked about an attempt that waits for a person. */
const ASK_STUCK_MS = 60_000;
/** Retry-After while a block is not final. A real cluster finalizes after about 13 s. */
const FINALITY_S = 4;
/** How long an attempt is left to the process that began it. */
const RECOVER_AFTER_MS = 5_000;

/** Writes an attempt's outcome. A failure, or the success of a repeatable kind, clears its live key. */
async function end(ports: EffectPorts, row: EffectTable, state: EffectTable['state'], fields: Partial<EffectTable>) {
  const { kind, subject, signature } = row;
  const frees = state === 'failed' || (state === 'done' && REPEATABLE.includes(kind));
  await change(ports, row, { state, ...fields, ...(frees ? { live_key: null } : {}) });
  const level = signature !== null && state === 'failed' ? 'warn' : 'info';
  const sent = signature === null ? {} : { signature };
  ports.log(level, `effect_${state}`, { kind, subject, ...sent, error: fields.error ?? null });
}

const OPEN: readonly EffectTable['state'][] = ['planned', 'sent', 'stuck'];

/** Updates an attempt if it is in one of the states `from`. A power cut may lose `done`: we can ask for it again. */
const change = ({ store, clock }: EffectPorts, row: EffectTable, fields: Partial<EffectTable>, from = OPEN) =>
  (fields.state === 'done' ? regained(store) : store)
    .updateTable('effects')
    .set({ ...fields, updated_at_ms: clock.now() })
    .where('effect_id', '=', row.effect_id)
    .where('state', 'in', from)
    .execute();

/** Asks the cluster about a signed attempt. Only a final failure counts: on another fork the bytes can succeed. */
async function ask(ports: EffectPorts, row: EffectTable, byPerson = false): Promise<Landing['kind'] | 'done'> {
  const { landingOf } = await loadLanding();
  const bytes = {
    wire: wireOf(row),
    lastValidBlockHeight: BigInt(row.last_valid_block_height ?? 0),
    signedAtMs: row.created_at_ms,
  };
  const landing = await landingOf(ports, bytes, { exclusive: byPerson || isExclusive(row.kind) });
  if (landing.kind === 'landed' && (landing.final || !ENDS_FINALIZED.includes(row.kind))) {
    await end(ports, row, 'done', { error: null });
    return 'done';
  }
  if (landing.kind === 'failed' && landing.final) {
    await end(ports, row, 'failed', { error: 'refused_on_chain' });
    return 'dead';
  }
  if (landing.kind === 'dead' && (row.state !== 'stuck' || byPerson))
    await end(ports, row, 'failed', { error: 'expired' });
  if (landing.kind === 'unknown') await note(ports, row, 'outcome_unknown');
  return landing.kind;
}

/** Keeps an attempt open; an outcome that stays unknown is left to a person. */
async function note(ports: EffectPorts, row: EffectTable, error: string): Promise<void> {
  const { clock, log } = ports;
  const isLost = error === 'outcome_unknown' && clock.now() - row.created_at_ms >= LONG_UNKNOWN_MS;
  if (isLost && row.state === 'sent') {
    log('error', 'effect_stuck', { kind: row.kind, subject: row.subject, signature: row.signature });
  }
  await change(ports, row, { ...(isLost ? { state: 'stuck' } : {}), error });
}

/** Reopens a landed attempt that is gone from the chain. */
async function doubt(ports: EffectPorts, row: EffectTable): Promise<void> {
  await change(ports, row, { state: 'sent', error: null }, ['done']);
  ports.log('warn', 'effect_gone', { kind: row.kind, subject: row.subject, signature: row.signature });
}

/** Finishes a signed attempt: sends the same bytes again while they can land. */
async function resolve(ports: EffectPorts, row: EffectTable, fence?: () => Promise<void>) {
  const known = await ask(ports, row);
  if (known === 'done') return known;
  if (row.state === 'stuck') {
    throw problem('transaction_failed', { message: 'This effect waits for a person.' });
  }
  if (known === 'dead') return known;
  if (known !== 'open') throw notYet(known);
  await fence?.();
  await send(ports, row);
  return 'done';
}

/** Sends an attempt's bytes. Returns once they have landed (in a final block, if they pay money out). */
async function send(ports: EffectPorts, row: EffectTable): Promise<void> {
  try {
    ports.sending.add(row.effect_id);
    await ports.cluster.send(wireOf(row)).finally(() => ports.sending.delete(row.effect_id));
  } catch (error) {
    // A refusal does not prove that an earlier send of these bytes did not land.
    const known = await ask(ports, row);
    if (known === 'done') return;
    if (known === 'landed') throw notYet(known);
    await note(ports, row, isProblem(error) ? error.code : 'no_answer');
    // The bytes have expired, which is no refusal of the act: it is signed again once they can no longer land.
    throw isProblem(error, 'transaction_failed') && error.detail?.error === 'BlockhashNotFound'
      ? notYet('unknown')
      : error;
  }
  if (!ENDS_FINALIZED.includes(row.kind)) return end(ports, row, 'done', { error: null });
  const known = await ask(ports, row);
  if (known !== 'done') throw notYet(known);
}

/** Returns the past attempt that landed, or null. @throws `not_final`; `cluster_failed` while one may still land */
async function landedInPast({ store, cluster, clock }: EffectPorts, kind: EffectKind, subject: string) {
  const past = await store
    .selectFrom('effects')
    .select(['signature', 'reference', 'error', 'created_at_ms'])
    .where('subject', '=', subject)
    .where('kind', '=', kind)
    .where('signature', 'is not', null)
    .orderBy('attempt', 'desc')
    .execute();
  for (const { signature, reference } of past) {
    const status = await cluster.signatureStatus(signature as Signature);
    if (status?.err !== null) continue;
    if (status.confirmation === 'confirmed' && ENDS_FINALIZED.includes(kind)) throw notYet('landed');
    return landedAs({ signature, reference });
  }
  const isLate = past.some((one) => one.error === 'expired' && clock.now() - one.created_at_ms < LONG_UNKNOWN_MS);
  if (isLate && ENDS_FINALIZED.includes(kind)) throw notYet('unknown');
  return null;
}

/** Signed attempts that were not checked lately: those sent, and those that wait for a person. */
function leftOpen({ store, clock }: EffectPorts, most: number) {
  const nowMs = clock.now();
  const notSince = (open: RawBuilder<SqlBool>, sinceMs: number) =>
    store.selectFrom('effects').where(open).where('updated_at_ms', '<=', sinceMs).orderBy('updated_at_ms').limit(most);
  // Each condition repeats that of its partial index.
  return [
    notSince(sql`state = 'sent' and signature is not null`, nowMs - RECOVER_AFTER_MS),
    notSince(sql`state = 'stuck' and signature is not null`, nowMs - ASK_STUCK_MS),
  ] as const;
}

const MOST_RECOVERED = 20;

async function recover(ports: EffectPorts): Promise<number> {
  const { log } = ports;
  const open: EffectTable[] = [];
  for (const left of leftOpen(ports, MOST_RECOVERED)) open.push(...(await left.selectAll().execute()));
  for (const row of open) {
    if (ports.sending.has(row.effect_id)) continue;
    try {
      await resolve(ports, row);
    } catch (error) {
      if (!isProblem(error, 'cluster_failed', 'transaction_failed', 'not_final')) throw error;
      log('warn', 'effect_unresolved', { kind: row.kind, subject: row.subject, error_code: error.code });
    }
  }
  return open.length;
}

const wireOf = (row: EffectTable): Uint8Array => new Uint8Array(Buffer.from(row.transaction ?? '', 'base64'));

const notYet = (known: Landing['kind']) =>
  known === 'landed' || known === 'failed'
    ? problem('not_final', { retryAfter: FINALITY_S })
    : problem('cluster_failed', { message: 'The cluster does not say for certain what happened to a transaction.' });
