import type { Instruction } from '@solana/kit';
import type { Ids } from '../kernel/ids.ts';
import { problem } from '../kernel/problems.ts';
import { loadPriced, type Signer } from '../solana/index.ts';
import { type Agreed, type AirlineEffect, createAirlineEffects } from './airline-effects.ts';
import { type AttemptPorts, createAttempts, REPEATABLE } from './chain-attempts.ts';
import type { EffectKind, EffectTable } from './tables.ts';

/**
 * The effect log (DESIGN, section 6): money and airline orders move only through rows that are written before the
 * outside world is touched. A crash anywhere leaves a row that says what may have happened; recovery asks the world,
 * and only then acts.
 */
export interface Effects {
  /**
   * Makes a chain effect happen once and answers with its signature (null when somebody else did it and the
   * signature can't be found). Call it again after any failure: it goes on where it stopped.
   * @throws Problem `cluster_failed` (the outcome is not known yet), `not_final` (it landed, and its block can still
   *   be taken back), `transaction_failed` (refused, and it may still be retried; or it waits for a person), and what
   *   `already`, `plan` and `fence` throw.
   */
  chain(effect: ChainEffect): Promise<{ readonly signature: string | null }>;
  /** Makes an airline effect happen once; see `createAirlineEffects`. */
  airline<T>(effect: AirlineEffect<T>): Promise<T>;
  /**
   * Where an effect stands, after asking the cluster about an attempt whose outcome was not known. One that waits for
   * a person is given up only when a person asks (`byPerson`), and only if it can land no more.
   */
  standing(kind: EffectKind, subject: string, byPerson?: boolean): Promise<'none' | 'open' | 'done' | 'stuck'>;
  /**
   * Sees to it that an effect never begins any more, whoever is about to begin it.
   * @returns false where it has begun before
   */
  callOff(kind: EffectKind, subject: string): Promise<boolean>;
  /** Finds out what became of chain attempts that were left open. One small query when there are none. */
  recover(): Promise<number>;
}

export interface ChainEffect {
  readonly kind: Exclude<EffectKind, 'airline_order' | 'airline_cancel'>;
  /** What it concerns; at most one attempt per kind and subject is alive. */
  readonly subject: string;
  /** True when the chain already shows it done, by whomever: asked before anything new is signed. */
  already(): Promise<boolean>;
  /** Finds the transaction on the chain when no attempt is known to have done it: the database may have been put back. */
  trace?: (() => Promise<string | null>) | undefined;
  plan(): Promise<ChainPlan>;
  /** The chain does not show what was done once: its block may have been dropped, so what became of it is asked again. */
  readonly isGone?: boolean | undefined;
  /** Throws when whoever asks may no longer act (a lost lease). Runs right before signing and before sending. */
  fence?: (() => Promise<void>) | undefined;
  agreed?: Agreed | undefined;
}

export interface ChainPlan {
  readonly feePayer: Signer;
  readonly signers?: readonly Signer[];
  readonly instructions: readonly Instruction[];
}

interface EffectPorts extends Omit<AttemptPorts, 'sending'> {
  readonly ids: Ids;
}

/** The error of an attempt that was never made, and is kept alive so that none ever is. */
const CALLED_OFF = 'called_off';
const isCalledOff = ({ state, error }: EffectTable): boolean => state === 'failed' && error === CALLED_OFF;
const calledOff = (kind: EffectKind, subject: string) =>
  problem('transaction_failed', { message: 'It was called off before it began.', detail: { kind, subject } });

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

/** The row, unless another attempt is alive. */
async function writeAttempt(
  on: EffectPorts['store'],
  { clock, ids }: Pick<EffectPorts, 'clock' | 'ids'>,
  kind: EffectKind,
  subject: string,
  fields: Partial<EffectTable> & Pick<EffectTable, 'state'>,
): Promise<EffectTable | null> {
  const past = await on
    .selectFrom('effects')
    .select((column) => column.fn.max('attempt').as('attempt'))
    .where('subject', '=', subject)
    .where('kind', '=', kind)
    .executeTakeFirst();
  const row: EffectTable = {
    ...attemptAt(kind, subject, clock.now()),
    effect_id: ids.next('eff'),
    attempt: Number(past?.attempt ?? 0) + 1,
    ...fields,
  };
  const written = await on
    .insertInto('effects')
    .values(row)
    .onConflict((conflict) => conflict.column('live_key').doNothing())
    .returning('effect_id')
    .executeTakeFirst();
  return written ? row : null;
}

export function createEffects(ports: EffectPorts): Effects {
  const { store, cluster, clock, log } = ports;
  const attempts = createAttempts(ports);

  const liveAttempt = (kind: EffectKind, subject: string) =>
    store.selectFrom('effects').selectAll().where('live_key', '=', liveKey(kind, subject)).executeTakeFirst();

  /** Writes a row unless an attempt is alive; null when another process was first. */
  async function begin(
    kind: EffectKind,
    subject: string,
    fields: Partial<EffectTable> & Pick<EffectTable, 'state'>,
    agreed?: Agreed,
  ): Promise<EffectTable | null> {
    if (!agreed) return writeAttempt(store, ports, kind, subject, fields);
    return store.transaction().execute(async (tx) => {
      await agreed(tx);
      return writeAttempt(tx, ports, kind, subject, fields);
    });
  }

  const doneBy = async ({ kind, subject, trace }: ChainEffect) =>
    (await attempts.signatureInPast(kind, subject)) ?? (await trace?.()) ?? null;

  async function chain(effect: ChainEffect): Promise<{ signature: string | null }> {
    const { kind, subject } = effect;
    for (let round = 0; round < 4; round++) {
      const live = await liveAttempt(kind, subject);
      if (live && isCalledOff(live)) throw calledOff(kind, subject);
      const isDoubted = live?.state === 'done' && effect.isGone === true && live.signature !== null;
      if (isDoubted) await attempts.doubt(live);
      // Ended when nobody could tell which transaction it was; that may have come to light since.
      else if (live?.state === 'done') return { signature: live.signature ?? (await doneBy(effect)) };
      if (live) {
        if ((await attempts.resolve(live, effect.fence)) === 'done') return { signature: live.signature };
        continue;
      }
      if (await effect.already()) {
        const signature = await doneBy(effect);
        const frees = REPEATABLE.includes(kind);
        if (!frees) await begin(kind, subject, { state: 'done', signature });
        return { signature };
      }
      const { signPriced } = await loadPriced();
      const signed = await signPriced(cluster, await effect.plan());
      await effect.fence?.();
      const attempt = {
        state: 'sent',
        transaction: Buffer.from(signed.wire).toString('base64'),
        signature: signed.signature,
        last_valid_block_height: Number(signed.lastValidBlockHeight),
      } as const;
      const row = await begin(kind, subject, attempt, effect.agreed);
      if (!row) continue;
      await attempts.send(row);
      return { signature: row.signature };
    }
    throw problem('transaction_failed', {
      message: 'The cluster keeps refusing the transaction.',
      detail: { kind, subject },
    });
  }

  return {
    chain,
    airline: createAirlineEffects({ store, clock, log, begin, liveAttempt }),
    async standing(kind, subject, byPerson = false) {
      const live = await liveAttempt(kind, subject);
      if (!live || isCalledOff(live)) return 'none';
      const isStuck = live.state === 'stuck';
      if (live.state === 'done') return 'done';
      if (isStuck && !byPerson) return 'stuck';
      const known = live.signature === null ? 'open' : await attempts.ask(live, byPerson);
      if (known === 'done') return 'done';
      return known === 'dead' ? 'none' : isStuck ? 'stuck' : 'open';
    },
    async callOff(kind, subject) {
      if (await begin(kind, subject, { state: 'failed', error: CALLED_OFF })) return true;
      const live = await liveAttempt(kind, subject);
      return live !== undefined && isCalledOff(live);
    },
    recover: attempts.recover,
  };
}
