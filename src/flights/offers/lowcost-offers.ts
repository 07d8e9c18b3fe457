import { type FareContent, type Fulfiller, fareKey, type LiveOffer, type SoldFare } from '../../airlines/index.ts';
import { instant } from '../../kernel/clock.ts';
import { wantsBags } from '../../kernel/domain/bags.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import type { FareMenu, MenuFare, Offer, OfferDetailsRequest, OfferDetailsResponse } from '../../wire/flights/index.ts';
import type { Asked, FareMenuTable, FlightsPorts, IntentRow, Tiers } from '../base/index.ts';
import { checkOpen, instantOrNull, lockedBags, toTreasury } from '../base/index.ts';
import { contentOf, fareOf, flightOf } from './lowcost.ts';

type Ports = Pick<FlightsPorts, 'store' | 'clock' | 'options'> & Pick<Tiers, 'lowcost'>;

/** @throws Problem `offer_not_found` if there is no lowcost tier */
function tierOf<F>({ lowcost }: { readonly lowcost?: F | null | undefined }): F {
  if (!lowcost) throw problem('offer_not_found');
  return lowcost;
}

/** Finds a quoted offer and its latest fare menu, if any. @throws Problem `offer_not_found` */
async function known(ports: Ports, offerId: string): Promise<{ live: LiveOffer; menu: Menu | null }> {
  const live = await tierOf(ports).offer(offerId);
  if (!live) throw problem('offer_not_found');
  return { live, menu: await latestMenu(ports, offerId) };
}

const isUndisclosed = (fare: FareContent): boolean => Object.values(fare).every((one) => one === null);
const hasExpired = ({ offer }: LiveOffer, nowMs: number): boolean => Date.parse(offer.expires_at) <= nowMs;

/** @throws Problem `lowcost_booking_unavailable` */
function checkPayable({ isUnpayable }: LiveOffer): void {
  if (isUnpayable) {
    throw problem('lowcost_booking_unavailable', {
      message: 'This service cannot pay that carrier; its offers are for information only.',
    });
  }
}

/** @throws Problem `fare_check_failed` for half an hour after a failed fare check */
function checkNotFailed(menu: Menu | null, nowMs: number): void {
  if (menu?.status !== 'failed' || !isFresh(menu, nowMs)) return;
  throw problem('fare_check_failed', { detail: { retry_at: instant(menu.expires_at_ms) } });
}

/** Opens a lowcost offer's fare menu. Pending (202) and failed menus are free; a failed one is then refused (409). */
export function lowcostDetails(
  ports: FlightsPorts,
  { body: request, url, client }: Asked<OfferDetailsRequest>,
): PaidCall {
  const offerId = flightOf(request.offer_id);
  return {
    resource: 'POST /air/offer-details',
    url,
    request,
    settle: 'after',
    async check({ payer }) {
      if (request.seats) throw problem('seats_unavailable');
      const menu = await latestMenu(ports, offerId);
      checkNotFailed(menu, ports.clock.now());
      const found = await ports.checks.look({ client, payer }, (tiers) => known({ ...ports, ...tiers }, offerId));
      const nowMs = ports.clock.now();
      const isOpen = menu !== null && isFresh(menu, nowMs);
      if (found && hasExpired(found.live, nowMs) && !isOpen) throw problem('offer_not_found');
      return toTreasury(ports, ports.options.lowcostDetailsPrice, 'Fare menu of one lowcost offer');
    },
    async perform() {
      const { live } = await known(ports, offerId);
      const { menu, pollAfterMs } = await openMenu(ports, tierOf(ports), offerId);
      const body: OfferDetailsResponse = {
        ...(await shown(live, menu, request.bags)),
        available_services: [...live.availableServices],
        ...(pollAfterMs === null ? {} : { poll_after_ms: Math.min(pollAfterMs, ports.options.pollAfterMs) }),
      };
      if (pollAfterMs !== null) return { status: 202, body, charged: 'not_yet' };
      return { status: 200, body, ...(menu.status === 'failed' && { charged: 'never' as const }) };
    },
  };
}

/** The offer and its menu, priced with the wanted bags. */
async function shown(live: LiveOffer, menu: Menu, wanted: OfferDetailsRequest['bags']) {
  const fareMenu = shownMenu(live.offer.offer_id, menu);
  if (!wantsBags(wanted)) return { offer: live.offer, fare_menu: fareMenu };
  const { carried, carriedMenu } = await import('./bags.ts');
  return { offer: carried(live, wanted), fare_menu: { ...fareMenu, fares: carriedMenu(live, fareMenu.fares, wanted) } };
}

/** The offer to lock: fare n of a fresh menu for `##<n>`, else the quoted offer (spec, Rules for lowcost offers). */
export async function lowcostToLock(ports: Ports, lockedId: string): Promise<LiveOffer> {
  const offerId = flightOf(lockedId);
  const { live, menu } = await known(ports, offerId);
  await checkOpen(ports, 'lowcost');
  checkPayable(live);
  const nowMs = ports.clock.now();
  checkNotFailed(menu, nowMs);
  if (lockedId === offerId) {
    if (hasExpired(live, nowMs)) throw problem('offer_not_found');
    // A fare with nothing but a price could not be recognised at the carrier's checkout.
    if (isUndisclosed(fareOf(live.offer))) throw problem('fare_menu_expired');
    return live;
  }
  if (!menu && hasExpired(live, nowMs)) throw problem('offer_not_found');
  if (menu?.status !== 'ready' || !isFresh(menu, nowMs)) throw problem('fare_menu_expired');
  const fare = menu.fares.find(({ index, onSale }) => onSale && lockedId === `${offerId}##${index}`);
  if (!fare) throw problem('invalid_fare_index');
  const locked = await ofFare(live, fare);
  const expires_at = instant(Math.min(menu.expires_at_ms, nowMs + FRESH_MS));
  return { ...locked, offer: { ...locked.offer, offer_id: lockedId, expires_at } };
}

/** Puts a fare of its menu into a quoted offer. */
async function ofFare(live: LiveOffer, fare: SoldFare): Promise<LiveOffer> {
  const total = parseUsdc(fare.totalAmountDecimal);
  const offer: Offer = {
    ...live.offer,
    slices: live.offer.slices.map((slice) => ({ ...slice, fare_brand_name: fare.brand })),
    fare_brand_name: fare.brand,
    checked_bags_included: fare.checkedBags,
    carry_on_bags_included: fare.carryOnBags,
    conditions: fare.conditions,
    total_amount: Number(total),
    total_amount_decimal: formatUsdc(total),
    total_currency: fare.totalCurrency,
    base_amount_decimal: null,
    tax_amount_decimal: null,
  };
  const bags = live.bags && (await import('./bags.ts')).bagsWithFare(live, offer);
  return { ...live, offer, ...(bags && { bags }) };
}

/** Checks before payment that a fresh menu, if any, has the locked fare at its price. @throws `offer_repriced`, … */
export async function checkLowcostHolds(ports: Ports, intent: IntentRow): Promise<void> {
  await checkOpen(ports, 'lowcost');
  const offerId = flightOf(intent.offer_id);
  const live = await tierOf(ports).offer(offerId);
  if (!live) throw problem('offer_unavailable');
  checkPayable(live);
  const menu = await latestMenu(ports, offerId);
  if (menu?.status !== 'ready' || !isFresh(menu, ports.clock.now())) return;
  const fare = menu.fares.find((one) => one.onSale && fareKey(one) === fareKey(contentOf(intent)));
  if (!fare) throw problem('offer_unavailable');
  const bags = lockedBags(intent);
  const now = bags
    ? (await import('./bags.ts')).withLockedBags(await ofFare(live, fare), bags).offer.total_amount_decimal
    : fare.totalAmountDecimal;
  const [expected, current] = [BigInt(intent.amount), parseUsdc(now)];
  if (current === expected) return;
  throw problem('offer_repriced', {
    detail: { expected_ticket_amount: formatUsdc(expected), current_ticket_amount: formatUsdc(current) },
  });
}

/** How long a menu's fares can be locked, and a failed check is remembered (spec/flight-service.md, Limits). */
const FRESH_MS = 30 * 60_000;
/** How long a pending opening may be left unasked before it is begun again: its fares may be old by then. */
const OPENING_MS = 5 * 60_000;

/** A fare with a permanent number: a reopened menu may list the same fares in another order. */
interface NumberedFare extends SoldFare {
  readonly index: number;
  readonly onSale: boolean;
}

interface Menu extends Omit<FareMenuTable, 'fares'> {
  readonly fares: readonly NumberedFare[];
}

const isFresh = (menu: Menu, nowMs: number): boolean => menu.status !== 'pending' && menu.expires_at_ms > nowMs;

/** Returns null if the menu was never opened. */
async function latestMenu({ store }: Pick<FlightsPorts, 'store'>, offerId: string): Promise<Menu | null> {
  const row = await store.selectFrom('fare_menus').selectAll().where('offer_id', '=', offerId).executeTakeFirst();
  return row ? { ...row, fares: JSON.parse(row.fares) as NumberedFare[] } : null;
}

/** Opens a fare menu, or continues an opening. @returns the menu and, while it is pending, when to ask again */
async function openMenu(ports: Pick<FlightsPorts, 'store' | 'clock'>, fulfiller: Fulfiller, offerId: string) {
  const { store, clock } = ports;
  const known = await latestMenu(ports, offerId);
  const nowMs = clock.now();
  if (known && isFresh(known, nowMs)) return { menu: known, pollAfterMs: null };
  const openUntil = { expires_at_ms: nowMs + OPENING_MS };
  const goesOn = known?.status === 'pending' && known.expires_at_ms > nowMs;
  const opening = goesOn ? known : await begin(known);
  const outcome = await fulfiller.menu(offerId, opening.opened_at_ms);
  const pending = store
    .updateTable('fare_menus')
    .where('offer_id', '=', offerId)
    .where('status', '=', 'pending')
    .where('opened_at_ms', '=', opening.opened_at_ms);
  if (outcome.kind === 'pending') {
    // Each poll would cost a write.
    if (opening.expires_at_ms - nowMs < OPENING_MS / 2) await pending.set(openUntil).execute();
    return { menu: opening, pollAfterMs: outcome.pollAfterMs };
  }
  if (outcome.kind === 'offer_gone') throw problem('offer_unavailable');
  const checkedAtMs = clock.now();
  const seen =
    outcome.kind === 'opened'
      ? ({ status: 'ready', fares: JSON.stringify(numbered(opening.fares, outcome.fares)) } as const)
      : ({ status: 'failed' } as const);
  await pending.set({ ...seen, checked_at_ms: checkedAtMs, expires_at_ms: checkedAtMs + FRESH_MS }).execute();
  // If two processes opened it at the same time, the first result counts.
  return { menu: (await latestMenu(ports, offerId)) ?? opening, pollAfterMs: null };

  async function begin(last: Menu | null): Promise<Menu> {
    const row = { status: 'pending' as const, opened_at_ms: nowMs, ...openUntil };
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

/** Gives fares permanent numbers: a fare keeps its number while it is off sale, and numbers are never reused. */
function numbered(known: readonly NumberedFare[], found: readonly SoldFare[]): NumberedFare[] {
  const numbers = new Map(known.map((fare) => [fareKey(fare), fare.index]));
  let last = known.reduce((most, { index }) => Math.max(most, index), 0);
  const byPrice = [...found].sort(
    (a, b) =>
      Number(parseUsdc(a.totalAmountDecimal) - parseUsdc(b.totalAmountDecimal)) || (fareKey(a) < fareKey(b) ? -1 : 1),
  );
  const onSale = byPrice.map((fare) => {
    const index = numbers.get(fareKey(fare)) ?? ++last;
    return { ...fare, index, onSale: true };
  });
  const gone = known.filter(({ index }) => !onSale.some((fare) => fare.index === index));
  return [...onSale, ...gone.map((fare) => ({ ...fare, onSale: false }))].sort((a, b) => a.index - b.index);
}

/** The menu as the wire shows it. A pending or failed menu shows no fares, because none can be locked. */
const shownMenu = (offerId: string, menu: Menu): FareMenu => ({
  status: menu.status,
  checked_at: menu.status === 'pending' ? null : instantOrNull(menu.checked_at_ms),
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
