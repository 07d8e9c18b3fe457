import { regained } from '../../store/base/index.ts';
import { removeOld } from '../../store/index.ts';
import type { FlightsPorts } from '../base/index.ts';

const RATE_LIMITED_AT = 'provider_rate_limited_at_ms';

export const COUNTED_SEARCHES = { table: 'search_completions', key: 'id', at: 'at_ms' } as const;

export const KEPT_SEARCHES = { table: 'searches', key: 'search_id', at: 'expires_at_ms' } as const;

/** How often a busy process removes old searches itself; the sweep removes the rest. */
const BITE_AFTER = { searches: 20, ms: 10_000 };

/** Searches completed in the last minute, and whether the provider slowed us down in the last five minutes. */
interface SearchLoad {
  readonly completed: number;
  readonly rateLimited: boolean;
}

/** `min(50, max(1, ceil(completed / 10)) × (5 if rate-limited))` (CONTRACT, section 2); the constants are options. */
export function searchMultiplier(load: SearchLoad, options: FlightsPorts['options']): number {
  const steps = Math.max(1, Math.ceil(load.completed / options.searchesPerStep));
  return Math.min(options.mostMultiplier, steps * (load.rateLimited ? options.rateLimitFactor : 1));
}

export function createPricing({ store, clock, options }: Pick<FlightsPorts, 'store' | 'clock' | 'options'>) {
  let bitten = { searches: 0, atMs: Number.NEGATIVE_INFINITY };

  async function load(): Promise<SearchLoad> {
    const nowMs = clock.now();
    const { completed, limitedAtMs } = await store
      .selectFrom('search_completions')
      .select((column) => [
        column.fn.countAll().as('completed'),
        column.selectFrom('meta').select('value').where('key', '=', RATE_LIMITED_AT).as('limitedAtMs'),
      ])
      .where('at_ms', '>', nowMs - options.searchWindowMs)
      // Leaves out rows that were written before the clock was set back.
      .where('at_ms', '<', nowMs + options.searchWindowMs)
      .executeTakeFirstOrThrow();
    return {
      completed: Number(completed),
      rateLimited: limitedAtMs !== null && Math.abs(nowMs - Number(limitedAtMs)) < options.rateLimitWindowMs,
    };
  }

  return {
    /** Atomic USDC. */
    async searchPrice(): Promise<bigint> {
      const price = options.searchPrice * BigInt(searchMultiplier(await load(), options));
      return price < options.searchPriceCap ? price : options.searchPriceCap;
    },

    /** Counts one completed search; the same id counts once. */
    async completed(id: string): Promise<void> {
      const nowMs = clock.now();
      // Need not wait for the disk: its payment is written after it, and does.
      await regained(store)
        .insertInto('search_completions')
        .values({ id, at_ms: nowMs })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      bitten.searches += 1;
      if (bitten.searches < BITE_AFTER.searches && Math.abs(nowMs - bitten.atMs) < BITE_AFTER.ms) return;
      bitten = { searches: 0, atMs: nowMs };
      await removeOld(store, COUNTED_SEARCHES, nowMs - options.searchWindowMs);
      await removeOld(store, KEPT_SEARCHES, nowMs);
    },

    async forget(id: string): Promise<void> {
      await store.deleteFrom('search_completions').where('id', '=', id).execute();
    },

    async rateLimited(): Promise<void> {
      const value = String(clock.now());
      await store
        .insertInto('meta')
        .values({ key: RATE_LIMITED_AT, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },
  };
}

export type Pricing = ReturnType<typeof createPricing>;
