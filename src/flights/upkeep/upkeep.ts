import type { SweeperPorts } from '../base/index.ts';
import type { Escrows } from '../bookings/index.ts';

const SWEEP_EVERY_MS = 10 * 60_000;
const DUE_AT = 'sweep_due_at_ms';

/**
 * Runs the sweeper at most every ten minutes, whichever process comes first, and at the start of one that stays.
 * Between sweeps it costs nothing, in a fresh process one small read. A sweep that breaks is logged: it must fail no
 * booking.
 * @returns how many tasks were taken up
 */
export function createUpkeep(ports: SweeperPorts, escrows: Escrows): () => Promise<number> {
  const { store, clock, log } = ports;
  let dueAtMs = 0;
  /** When this process sweeps again before it is due: one that stays does, a command that ends leaves it to others. */
  let goOn: { readonly atMs: number; readonly waitMs: number } | null = null;
  /** A database that was just put back from a dump says that the next sweep is not due yet. */
  let isStart = ports.options.sweepsAtStart;

  /** Moves the next sweep ahead; false when another process did. */
  async function claim(nowMs: number): Promise<boolean> {
    const known = await store.selectFrom('meta').select('value').where('key', '=', DUE_AT).executeTakeFirst();
    const value = String(nowMs + SWEEP_EVERY_MS);
    const writtenMs = Number(known?.value ?? 0);
    // A time that lies further ahead than any sweep sets was written before the clock was set back.
    dueAtMs = Math.min(writtenMs, nowMs + SWEEP_EVERY_MS);
    if (known && writtenMs > nowMs && writtenMs <= nowMs + SWEEP_EVERY_MS) return false;
    dueAtMs = nowMs + SWEEP_EVERY_MS;
    if (!known) {
      const made = await store
        .insertInto('meta')
        .values({ key: DUE_AT, value })
        .onConflict((conflict) => conflict.column('key').doNothing())
        .executeTakeFirst();
      return (made.numInsertedOrUpdatedRows ?? 0n) > 0n;
    }
    const moved = await store
      .updateTable('meta')
      .set({ value })
      .where('key', '=', DUE_AT)
      .where('value', '=', known.value)
      .executeTakeFirst();
    return moved.numUpdatedRows > 0n;
  }

  return async () => {
    const nowMs = clock.now();
    const goesOn = goOn !== null && (nowMs >= goOn.atMs || goOn.atMs > nowMs + goOn.waitMs);
    if (!goesOn) {
      if (!isStart && nowMs < dueAtMs && dueAtMs <= nowMs + SWEEP_EVERY_MS) return 0;
      if (!(await claim(nowMs)) && !isStart) return 0;
    }
    isStart = false;
    goOn = null;
    try {
      const { createSweeper } = await import('./sweeper.ts');
      const { worked, againMs } = await createSweeper(ports, escrows).sweep();
      if (againMs !== null) goOn = { atMs: clock.now() + againMs, waitMs: againMs };
      return worked;
    } catch (error) {
      log('error', 'sweep_broken', { error_name: error instanceof Error ? error.name : 'unknown' });
      return 0;
    }
  };
}
