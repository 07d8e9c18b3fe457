import type { Signature } from '@solana/kit';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { type Cluster, type Landing, loadLanding } from '../solana/index.ts';
import { regained } from '../store/base/index.ts';
import type { EffectKind, EffectTable, Store } from './tables.ts';

export interface AttemptPorts {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  /** The attempts that this process is sending now, which may take a minute. */
  readonly sending: Set<string>;
}

/** These may be needed again for the same subject. */
export const REPEATABLE: readonly EffectKind[] = ['sweep'];
/** Money that leaves us for good is gone only in a final block. */
const ENDS_FINALIZED: readonly EffectKind[] = ['capture', 'refund', 'payout'];
/** The program does each of these once, whatever is sent. Old pay-outs lack the marker that ensures it. */
const isExclusive = (kind: EffectKind): boolean => kind !== 'payout';
/** After so long an unknown outcome waits for a person. */
const LONG_UNKNOWN_MS = 12 * 60_000;
/** How often the cluster is asked about an attempt that waits for a person. */
const ASK_STUCK_MS = 60_000;
/** A real cluster finalizes after some 13 s. */
const FINALITY_S = 4;
/** How long an attempt is left to its own process. */
const RECOVER_AFTER_MS = 5_000;

async function end(
  { store, clock, log }: AttemptPorts,
  row: EffectTable,
  state: 'done' | 'failed',
  error: string | null,
): Promise<void> {
  const frees = state === 'failed' || REPEATABLE.includes(row.kind);
  // The cluster can be asked again whether it landed.
  await (state === 'done' ? regained(store) : store)
    .updateTable('effects')
    .set({ state, error, updated_at_ms: clock.now(), ...(frees ? { live_key: null } : {}) })
    .where('effect_id', '=', row.effect_id)
    .where('state', 'in', ['sent', 'stuck'])
    .execute();
  log(state === 'done' ? 'info' : 'warn', `effect_${state}`, {
    kind: row.kind,
    subject: row.subject,
    signature: row.signature,
    error,
  });
}

/** Asks the cluster about a signed attempt. A failure counts once final: on another fork the same bytes can succeed. */
export async function ask(ports: AttemptPorts, row: EffectTable, byPerson = false): Promise<Landing['kind'] | 'done'> {
  const { landingOf } = await loadLanding();
  const bytes = {
    wire: wireOf(row),
    lastValidBlockHeight: BigInt(row.last_valid_block_height ?? 0),
    signedAtMs: row.created_at_ms,
  };
  const landing = await landingOf(ports, bytes, { exclusive: byPerson || isExclusive(row.kind) });
  if (landing.kind === 'landed' && (landing.final || !ENDS_FINALIZED.includes(row.kind))) {
    await end(ports, row, 'done', null);
    return 'done';
  }
  if (landing.kind === 'failed' && landing.final) {
    await end(ports, row, 'failed', 'refused_on_chain');
    return 'dead';
  }
  if (landing.kind === 'dead' && (row.state !== 'stuck' || byPerson)) await end(ports, row, 'failed', 'expired');
  if (landing.kind === 'unknown') await note(ports, row, 'outcome_unknown');
  return landing.kind;
}

/** Keeps an attempt open; an outcome that stays unknown is left to a person. */
async function note({ store, clock, log }: AttemptPorts, row: EffectTable, error: string): Promise<void> {
  const isLost = error === 'outcome_unknown' && clock.now() - row.created_at_ms >= LONG_UNKNOWN_MS;
  if (isLost && row.state === 'sent') {
    log('error', 'effect_stuck', { kind: row.kind, subject: row.subject, signature: row.signature });
  }
  await store
    .updateTable('effects')
    .set({ ...(isLost ? { state: 'stuck' } : {}), error, updated_at_ms: clock.now() })
    .where('effect_id', '=', row.effect_id)
    .where('state', 'in', ['sent', 'stuck'])
    .execute();
}

/** Opens an attempt again that had landed, and is gone from the chain. */
export async function doubt({ store, clock, log }: AttemptPorts, row: EffectTable): Promise<void> {
  await store
    .updateTable('effects')
    .set({ state: 'sent', error: null, updated_at_ms: clock.now() })
    .where('effect_id', '=', row.effect_id)
    .where('state', '=', 'done')
    .execute();
  log('warn', 'effect_gone', { kind: row.kind, subject: row.subject, signature: row.signature });
}

/** Brings an attempt that was signed to its end: the same bytes again while they can land. */
export async function resolve(ports: AttemptPorts, row: EffectTable, fence?: () => Promise<void>) {
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

/** Sends the bytes of an attempt. Returns once they have landed for good. */
export async function send(ports: AttemptPorts, row: EffectTable): Promise<void> {
  try {
    ports.sending.add(row.effect_id);
    await ports.cluster.send(wireOf(row)).finally(() => ports.sending.delete(row.effect_id));
  } catch (error) {
    // A refusal does not prove that an earlier send of these bytes did not land.
    const known = await ask(ports, row);
    if (known === 'done') return;
    if (known === 'landed') throw notYet(known);
    await note(ports, row, isProblem(error) ? error.code : 'no_answer');
    throw error;
  }
  if (!ENDS_FINALIZED.includes(row.kind)) return end(ports, row, 'done', null);
  const known = await ask(ports, row);
  if (known !== 'done') throw notYet(known);
}

/** The signature of a landed attempt; null when others acted. @throws `cluster_failed` while one may still land */
export async function signatureInPast({ store, cluster, clock }: AttemptPorts, kind: EffectKind, subject: string) {
  const past = await store
    .selectFrom('effects')
    .select(['signature', 'error', 'created_at_ms'])
    .where('subject', '=', subject)
    .where('kind', '=', kind)
    .where('signature', 'is not', null)
    .orderBy('attempt', 'desc')
    .execute();
  for (const { signature } of past) {
    const status = await cluster.signatureStatus(signature as Signature);
    if (status?.err !== null) continue;
    if (status.confirmation === 'confirmed' && ENDS_FINALIZED.includes(kind)) throw notYet('landed');
    return signature;
  }
  const isLate = past.some((one) => one.error === 'expired' && clock.now() - one.created_at_ms < LONG_UNKNOWN_MS);
  if (isLate && ENDS_FINALIZED.includes(kind)) throw notYet('unknown');
  return null;
}

export async function recover(ports: AttemptPorts): Promise<number> {
  const { store, clock, log } = ports;
  const nowMs = clock.now();
  // Each in the words of the index over it.
  const notSince = (open: RawBuilder<SqlBool>, sinceMs: number) =>
    store
      .selectFrom('effects')
      .selectAll()
      .where(open)
      .where('updated_at_ms', '<=', sinceMs)
      .orderBy('updated_at_ms')
      .limit(20)
      .execute();
  const open = [
    ...(await notSince(sql`state = 'sent' and signature is not null`, nowMs - RECOVER_AFTER_MS)),
    ...(await notSince(sql`state = 'stuck' and signature is not null`, nowMs - ASK_STUCK_MS)),
  ];
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
