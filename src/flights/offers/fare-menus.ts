import { type Fulfiller, fareKey, type SoldFare } from '../../airlines/fulfiller.ts';
import { instant } from '../../kernel/clock.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { FareMenu, MenuFare } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../ports.ts';
import type { FareMenuTable } from '../tables.ts';

/** How long a menu's fares can be locked, and a failed look is remembered (spec/flight-service.md, Limits). */
export const FRESH_MS = 30 * 60_000;
/** An opening that nobody asked about for so long is begun anew. */
const OPENING_MS = 5 * 60_000;

/** A fare with the number that it keeps for good: a menu opened again shows the same fares in another order. */
interface NumberedFare extends SoldFare {
  readonly index: number;
  /** The latest look found it. */
  readonly onSale: boolean;
}

/** The latest look at an offer's fares. */
export interface Menu extends Omit<FareMenuTable, 'fares'> {
  readonly fares: readonly NumberedFare[];
}

const readMenu = (row: FareMenuTable): Menu => ({ ...row, fares: JSON.parse(row.fares) as NumberedFare[] });

export const isFresh = (menu: Menu, nowMs: number): boolean =>
  menu.status !== 'pending' && menu.expires_at_ms > nowMs;

/** @returns null when nobody has opened it yet. */
export async function latestMenu(
  { store }: Pick<FlightsPorts, 'store'>,
  offerId: string,
): Promise<Menu | null> {
  const row = await store
    .selectFrom('fare_menus')
    .selectAll()
    .where('offer_id', '=', offerId)
    .executeTakeFirst();
  return row ? readMenu(row) : null;
}

/**
 * Opens an offer's fare menu, or goes on with an opening that is under way, in whichever process it was begun. A
 * fresh menu is not opened again.
 * @returns the menu, and while it is pending when to ask again
 * @throws Problem `offer_unavailable`, `provider_failed`
 */
export async function openMenu(
  ports: Pick<FlightsPorts, 'store' | 'clock'>,
  fulfiller: Fulfiller,
  offerId: string,
): Promise<{ readonly menu: Menu; readonly pollAfterMs: number | null }> {
  const { store, clock } = ports;
  const known = await latestMenu(ports, offerId);
  const nowMs = clock.now();
  if (known && isFresh(known, nowMs)) return { menu: known, pollAfterMs: null };
  const goesOn = known?.status === 'pending' && known.expires_at_ms > nowMs;
  const opening = goesOn ? known : await begin(known);
  const outcome = await fulfiller.menu(offerId, opening.opened_at_ms);
  if (outcome.kind === 'pending') return { menu: opening, pollAfterMs: outcome.pollAfterMs };
  if (outcome.kind === 'offer_gone') throw problem('offer_unavailable');
  const checkedAtMs = clock.now();
  const seen =
    outcome.kind === 'opened'
      ? ({ status: 'ready', fares: JSON.stringify(numbered(opening.fares, outcome.fares)) } as const)
      : ({ status: 'failed' } as const);
  await store
    .updateTable('fare_menus')
    .set({ ...seen, checked_at_ms: checkedAtMs, expires_at_ms: checkedAtMs + FRESH_MS })
    .where('offer_id', '=', offerId)
    .where('status', '=', 'pending')
    .where('opened_at_ms', '=', opening.opened_at_ms)
    .execute();
  // Two processes may have looked at once: what the first one wrote counts.
  return { menu: (await latestMenu(ports, offerId)) ?? opening, pollAfterMs: null };

  async function begin(last: Menu | null): Promise<Menu> {
    const row = { status: 'pending' as const, opened_at_ms: nowMs, expires_at_ms: nowMs + OPENING_MS };
    await store
      .insertInto('fare_menus')
      .values({ offer_id: offerId, fares: '[]', checked_at_ms: null, ...row })
      .onConflict((conflict) =>
        conflict
          .column('offer_id')
          .doUpdateSet(row)
          .where('fare_menus.opened_at_ms', '=', last?.opened_at_ms ?? -1)
          .where('fare_menus.expires_at_ms', '<=', nowMs),
      )
      .execute();
    const begun = await latestMenu(ports, offerId);
    if (!begun) throw new Error('a fare menu is gone');
    return begun;
  }
}

/**
 * Numbers the fares of a look. A fare that was seen before, however the page orders it now, keeps its number; one that
 * was not gets a new one; one that is gone keeps its own, so that it can't come to mean another fare.
 */
function numbered(known: readonly NumberedFare[], found: readonly SoldFare[]): NumberedFare[] {
  const numbers = new Map(known.map((fare) => [fareKey(fare), fare.index]));
  let last = known.reduce((most, { index }) => Math.max(most, index), 0);
  const byPrice = [...found].sort(
    (a, b) =>
      Number(parseUsdc(a.totalAmountDecimal) - parseUsdc(b.totalAmountDecimal)) ||
      (fareKey(a) < fareKey(b) ? -1 : 1),
  );
  const onSale = byPrice.map((fare) => {
    const index = numbers.get(fareKey(fare)) ?? ++last;
    return { ...fare, index, onSale: true };
  });
  const gone = known.filter(({ index }) => !onSale.some((fare) => fare.index === index));
  return [...onSale, ...gone.map((fare) => ({ ...fare, onSale: false }))].sort((a, b) => a.index - b.index);
}

/** The menu as the wire shows it: of a pending or a failed one no fares, for none of them can be locked. */
export const shownMenu = (offerId: string, menu: Menu): FareMenu => ({
  status: menu.status,
  checked_at: menu.status === 'pending' || menu.checked_at_ms === null ? null : instant(menu.checked_at_ms),
  expires_at: menu.status === 'pending' ? null : instant(menu.expires_at_ms),
  fares: menu.status === 'ready' ? menu.fares.filter(({ onSale }) => onSale).map(shownFare(offerId)) : [],
});

const shownFare =
  (offerId: string) =>
  (fare: NumberedFare): MenuFare => ({
    fare_index: fare.index,
    offer_id: `${offerId}##${fare.index}`,
    fare_brand_name: fare.brand,
    checked_bags_included: fare.checkedBags,
    carry_on_bags_included: fare.carryOnBags,
    conditions: fare.conditions,
    total_amount: Number(parseUsdc(fare.totalAmountDecimal)),
    total_amount_decimal: fare.totalAmountDecimal,
    total_currency: fare.totalCurrency,
  });
