import { sql, type Transaction } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { regained } from '../store/base/index.ts';
import { leaseTime } from '../store/index.ts';
import type { EffectKind, EffectsTables, EffectTable, Store } from './tables.ts';

/** An order at an airline, seen as an effect: made under a reference of ours, and findable by it. */
export interface AirlineEffect<T> {
  readonly subject: string;
  /** An order unless said otherwise. A cancellation is found by the order's own status. */
  readonly kind?: 'airline_order' | 'airline_cancel' | undefined;
  /** The same reference never makes a second order. */
  readonly reference: string;
  create(): Promise<T>;
  /** null: no order was made under the reference, and none is being made. `unknown`: nobody can say that yet. */
  find(): Promise<T | null | 'unknown'>;
  /** The airline's own id of the order. */
  idOf(order: T): string;
  /** True, or the reason, where the error says for certain that nothing was ordered. */
  refused(error: unknown): boolean | string;
  /** The airline's own words about an error: kept with the attempt, for a person who has to ask about it. */
  told?: ((error: unknown) => AirlineTold | null) | undefined;
  /**
   * Why nobody can tell whether this was bought. Such an attempt is `stuck`: it stays alive, so that there is never a
   * second one, and a person decides; it is still asked about.
   */
  waitsForPerson?: ((order: T) => string | null) | undefined;
  fence?: (() => Promise<void>) | undefined;
  agreed?: Agreed | undefined;
}

/**
 * Throws when the decision behind an effect was replaced. Runs in the transaction that writes the attempt, so a new
 * decision either prevents the attempt or finds it.
 */
export type Agreed = (tx: Transaction<EffectsTables>) => Promise<void>;

/** The airline's own words about a request that went wrong: its code, and the id that its support finds it by. */
export interface AirlineTold {
  readonly code: string | null;
  readonly request_id: string | null;
}

interface Journal {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  begin(
    kind: EffectKind,
    subject: string,
    fields: Partial<EffectTable> & Pick<EffectTable, 'state'>,
    agreed?: Agreed,
  ): Promise<EffectTable | null>;
  liveAttempt(kind: EffectKind, subject: string): Promise<EffectTable | undefined>;
}

/**
 * A process that was overtaken between its record and the airline, by a stopped machine or a cut line, may still ask.
 * It is longer than any lease of such work.
 */
const MAY_BE_ASKING_MS = 20_000;

const unknownOutcome = () => problem('provider_failed', { message: 'Nobody can say yet what the airline made of it.' });

/**
 * Orders at an airline at most once. Our reference is on record before the airline is asked; whatever leaves the
 * outcome open (no answer, a crash) is followed by a question, never by a second order.
 * The effect throws what refused it (nothing was ordered, the attempt is over), or what left it unknown (the attempt
 * stays alive and the next call asks again): `standing` tells which.
 */
export function createAirlineEffects({ store, clock, log, begin, liveAttempt }: Journal) {
  async function end(row: EffectTable, state: 'done' | 'failed' | 'sent' | 'stuck', fields: Partial<EffectTable>) {
    // The airline is asked again for what was ordered under our reference.
    await (state === 'done' ? regained(store) : store)
      .updateTable('effects')
      .set({ state, updated_at_ms: clock.now(), ...fields, ...(state === 'failed' ? { live_key: null } : {}) })
      .where('effect_id', '=', row.effect_id)
      .where('state', 'in', ['planned', 'sent', 'stuck'])
      .execute();
    log('info', `effect_${state}`, { kind: row.kind, subject: row.subject, error: fields.error ?? null });
  }

  /** An attempt without an end, begun lately by the clock of leases: "no order" of now says nothing about it. */
  async function mayBeAsking({ state, created_at_ms }: EffectTable): Promise<boolean> {
    if (state !== 'planned') return false;
    const { rows } = await sql<{ now: number }>`select ${leaseTime(store, clock)()} as now`.execute(store);
    return Math.abs(Number(rows[0]?.now) - created_at_ms) < MAY_BE_ASKING_MS;
  }

  /** Writes down that there is an order, or something that may be one. */
  function made<T>(row: EffectTable, effect: AirlineEffect<T>, order: T): Promise<void> {
    const why = effect.waitsForPerson?.(order) ?? null;
    return end(row, why === null ? 'done' : 'stuck', { result: effect.idOf(order), error: why });
  }

  return async function airline<T>(effect: AirlineEffect<T>): Promise<T> {
    const kind = effect.kind ?? 'airline_order';
    for (;;) {
      const live = await liveAttempt(kind, effect.subject);
      if (live) {
        const found = await effect.find();
        if (found === 'unknown') throw unknownOutcome();
        if (found) {
          if (live.state !== 'done') await made(live, effect, found);
          return found;
        }
        if (live.state === 'done' || live.state === 'stuck') {
          throw problem('provider_failed', { message: 'The airline no longer knows an order that it made.' });
        }
        if (await mayBeAsking(live)) throw unknownOutcome();
        await end(live, 'failed', { error: 'never_made' });
        continue;
      }
      await effect.fence?.();
      const row = await begin(kind, effect.subject, { state: 'planned', reference: effect.reference }, effect.agreed);
      if (!row) continue;
      try {
        const order = await effect.create();
        await made(row, effect, order);
        return order;
      } catch (error) {
        const refused = effect.refused(error);
        const code = isProblem(error) ? error.code : typeof refused === 'string' ? refused : 'no_answer';
        const told = effect.told?.(error) ?? null;
        const said = { error: code, ...(told && { detail: JSON.stringify(told) }) };
        if (refused) {
          await end(row, 'failed', said);
          throw error;
        }
        await end(row, 'sent', said);
        const found = await effect.find();
        if (found === 'unknown') throw isProblem(error) ? error : unknownOutcome();
        if (!found) {
          await end(row, 'failed', { error: code });
          throw error;
        }
        await made(row, effect, found);
        return found;
      }
    }
  };
}
