import type { Instruction, Signature } from '@solana/kit';
import { type SqlBool, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import type { Cluster } from '../solana/cluster.ts';
import type { Signer } from '../solana/signer.ts';
import type { Store } from '../store/open.ts';
import type { EffectKind, EffectTable } from '../store/schema.ts';
import { type AirlineEffect, createAirlineEffects } from './airline-effects.ts';

/**
 * The effect log (DESIGN, section 6): money and airline orders move only through rows that are written before the
 * outside world is touched. A crash anywhere leaves a row that says what may have happened; recovery asks the world,
 * and only then acts.
 */
export interface Effects {
  /**
   * Makes a chain effect happen once and answers with its signature (null when somebody else did it and the
   * signature can't be found). Call it again after any failure: it goes on where it stopped.
   * @throws Problem `cluster_failed` (the outcome is not known yet), `transaction_failed` (refused; it may still be
   *   retried), and what `already`, `plan` and `fence` throw.
   */
  chain(effect: ChainEffect): Promise<{ readonly signature: string | null }>;
  /** Makes an airline effect happen once; see `createAirlineEffects`. */
  airline<T>(effect: AirlineEffect<T>): Promise<T>;
  /** Where an effect stands, after asking the cluster about an attempt whose outcome was not known. */
  standing(kind: EffectKind, subject: string): Promise<'none' | 'open' | 'done' | 'stuck'>;
  /** Finds out what became of chain attempts that were left open. One small query when there are none. */
  recover(): Promise<number>;
}

export interface ChainEffect {
  readonly kind: Exclude<EffectKind, 'airline_order' | 'airline_cancel'>;
  /** What it concerns; at most one attempt per kind and subject is alive. */
  readonly subject: string;
  /** Whether the chain already shows it done, by whomever: asked before anything new is signed. */
  already(): Promise<boolean>;
  plan(): Promise<ChainPlan>;
  /** Throws when whoever asks may no longer act (a lost lease). Runs right before signing and before sending. */
  fence?: (() => Promise<void>) | undefined;
}

export interface ChainPlan {
  readonly feePayer: Signer;
  readonly signers?: readonly Signer[];
  readonly instructions: readonly Instruction[];
}

export interface EffectPorts {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** Blocks past the last valid one until that one is finalized: only then is an unknown signature a dead one. */
const FINALITY_MARGIN = 32n;
/** An attempt that somebody is working on right now is left to them. */
const RECOVER_AFTER_MS = 5_000;
/** Done once is not done for ever: these may be needed again for the same subject. */
const REPEATABLE: readonly EffectKind[] = ['sweep'];

export const liveKey = (kind: EffectKind, subject: string): string => `${kind}:${subject}`;

export function createEffects(ports: EffectPorts): Effects {
  const { store, cluster, clock, ids, log } = ports;

  const liveAttempt = (kind: EffectKind, subject: string) =>
    store.selectFrom('effects').selectAll().where('live_key', '=', liveKey(kind, subject)).executeTakeFirst();

  async function end(row: EffectTable, state: 'done' | 'failed', error: string | null): Promise<void> {
    const frees = state === 'failed' || REPEATABLE.includes(row.kind);
    await store
      .updateTable('effects')
      .set({ state, error, updated_at_ms: clock.now(), ...(frees ? { live_key: null } : {}) })
      .where('effect_id', '=', row.effect_id)
      .where('state', '=', 'sent')
      .execute();
    log(state === 'done' ? 'info' : 'warn', `effect_${state}`, {
      kind: row.kind,
      subject: row.subject,
      signature: row.signature,
      error,
    });
  }

  /** What the cluster says about an attempt; null while it says nothing that is certain. */
  async function verdict(row: EffectTable): Promise<'done' | 'failed' | null> {
    const status = await cluster.signatureStatus(row.signature as Signature);
    if (!status || status.confirmation === 'processed') return null;
    await end(row, status.err === null ? 'done' : 'failed', status.err === null ? null : 'refused_on_chain');
    return status.err === null ? 'done' : 'failed';
  }

  /** The verdict, or `failed` once the blockhash is dead and finalized and the signature is still unknown. */
  async function certain(row: EffectTable): Promise<'done' | 'failed' | null> {
    const known = await verdict(row);
    if (known) return known;
    const lastValid = BigInt(row.last_valid_block_height ?? 0);
    if ((await cluster.blockHeight()) <= lastValid + FINALITY_MARGIN) return null;
    const late = await verdict(row);
    if (late) return late;
    await end(row, 'failed', 'expired');
    return 'failed';
  }

  /** Brings an attempt that was signed to its end: the same bytes again while they can land. */
  async function resolve(row: EffectTable, fence?: () => Promise<void>): Promise<'done' | 'failed'> {
    if (row.state === 'stuck') {
      throw problem('transaction_failed', { message: 'This effect waits for a person.' });
    }
    const known = await certain(row);
    if (known) return known;
    await fence?.();
    return send(row);
  }

  async function send(row: EffectTable): Promise<'done' | 'failed'> {
    try {
      await cluster.send(Buffer.from(row.transaction ?? '', 'base64'));
    } catch (error) {
      // A refusal does not prove that an earlier send of these bytes did not land; the signature's status does.
      const known = await verdict(row);
      if (known) return known;
      await store
        .updateTable('effects')
        .set({
          error: isProblem(error) ? error.code : 'no_answer',
          updated_at_ms: clock.now(),
        })
        .where('effect_id', '=', row.effect_id)
        .execute();
      throw error;
    }
    await end(row, 'done', null);
    return 'done';
  }

  /** A signature of an earlier attempt that did land after all, when the chain shows the effect done. */
  async function signatureInPast(kind: EffectKind, subject: string): Promise<string | null> {
    const past = await store
      .selectFrom('effects')
      .select('signature')
      .where('subject', '=', subject)
      .where('kind', '=', kind)
      .where('signature', 'is not', null)
      .orderBy('attempt', 'desc')
      .execute();
    for (const { signature } of past) {
      const status = await cluster.signatureStatus(signature as Signature);
      if (status?.err === null) return signature;
    }
    return null;
  }

  /** Writes a row unless an attempt is alive; null when another process was first. */
  async function begin(
    kind: EffectKind,
    subject: string,
    fields: Partial<EffectTable> & Pick<EffectTable, 'state'>,
  ): Promise<EffectTable | null> {
    const nowMs = clock.now();
    const past = await store
      .selectFrom('effects')
      .select((column) => column.fn.max('attempt').as('attempt'))
      .where('subject', '=', subject)
      .where('kind', '=', kind)
      .executeTakeFirst();
    const row: EffectTable = {
      effect_id: ids.next('eff'),
      kind,
      subject,
      live_key: liveKey(kind, subject),
      attempt: Number(past?.attempt ?? 0) + 1,
      transaction: null,
      signature: null,
      last_valid_block_height: null,
      reference: null,
      result: null,
      error: null,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
      ...fields,
    };
    const written = await store
      .insertInto('effects')
      .values(row)
      .onConflict((conflict) => conflict.column('live_key').doNothing())
      .returning('effect_id')
      .executeTakeFirst();
    return written ? row : null;
  }

  async function chain(effect: ChainEffect): Promise<{ signature: string | null }> {
    const { kind, subject } = effect;
    for (let round = 0; round < 4; round++) {
      const live = await liveAttempt(kind, subject);
      if (live?.state === 'done') return { signature: live.signature };
      if (live) {
        if ((await resolve(live, effect.fence)) === 'done') return { signature: live.signature };
        continue;
      }
      if (await effect.already()) {
        const signature = await signatureInPast(kind, subject);
        const frees = REPEATABLE.includes(kind);
        if (!frees) await begin(kind, subject, { state: 'done', signature });
        return { signature };
      }
      const { buildTransaction } = await import('../solana/transaction.ts');
      const signed = buildTransaction({
        ...(await effect.plan()),
        blockhash: await cluster.latestBlockhash(),
      });
      await effect.fence?.();
      const row = await begin(kind, subject, {
        state: 'sent',
        transaction: Buffer.from(signed.wire).toString('base64'),
        signature: signed.signature,
        last_valid_block_height: Number(signed.lastValidBlockHeight),
      });
      if (row && (await send(row)) === 'done') return { signature: row.signature };
    }
    throw problem('transaction_failed', {
      message: 'The cluster keeps refusing the transaction.',
      detail: { kind, subject },
    });
  }

  return {
    chain,
    airline: createAirlineEffects({ store, clock, log, begin, liveAttempt }),
    async standing(kind, subject) {
      const live = await liveAttempt(kind, subject);
      if (!live) return 'none';
      if (live.state === 'done' || live.state === 'stuck') return live.state;
      const known = live.signature === null ? null : await certain(live);
      return known === null ? 'open' : known === 'done' ? 'done' : 'none';
    },
    async recover() {
      const open = await store
        .selectFrom('effects')
        .selectAll()
        // In the words of the index over them.
        .where(sql<SqlBool>`state = 'sent' and signature is not null`)
        .where('updated_at_ms', '<=', clock.now() - RECOVER_AFTER_MS)
        .orderBy('updated_at_ms')
        .limit(20)
        .execute();
      for (const row of open) {
        try {
          await resolve(row);
        } catch (error) {
          if (!isProblem(error, 'cluster_failed', 'transaction_failed')) throw error;
          log('warn', 'effect_unresolved', { kind: row.kind, subject: row.subject, error_code: error.code });
        }
      }
      return open.length;
    },
  };
}
