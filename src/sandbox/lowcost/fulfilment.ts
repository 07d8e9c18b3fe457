import { hash } from 'node:crypto';
import {
  type BookOutcome,
  directOffer,
  directSlice,
  type Fulfiller,
  fareKey,
  type LiveOffer,
  LOWCOST_PREFIX,
  type MenuOutcome,
  type NothingBought,
  type Purchase,
  type QuoteOutcome,
  type RoundTrip,
  type Scenario,
  type SoldFare,
} from '../../airlines/index.ts';
import { HOUR_MS } from '../../kernel/clock.ts';
import { alike, bagsToBuy, type SoldBag } from '../../kernel/domain/bags.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';
import {
  CLOCK_SKEW_MS,
  createWorld,
  DEARER_BY,
  dayOf,
  decimalOf,
  flightKey,
  LATE_AT_LEAST_MS,
  LATE_BY,
  mishapOn,
  type SandboxOptions,
  spanOf,
  TOPIC,
  type World,
} from '../airline/index.ts';
import {
  CARRIERS,
  carriersBetween,
  fareMenu,
  type Leg,
  legOf,
  type PageFare,
  SALES_CLOSE_MS,
  shuffled,
  THROW,
  type Trip,
  tripsFor,
  waves,
} from './flights.ts';
import type { Sales } from './sales.ts';

const MAC_CHARACTERS = 10;
const LEG = /^([A-Z0-9]{2})(\d{4})-([A-Z]{3})-([A-Z]{3})-(\d{4})(\d\d)(\d\d)$/;

export interface SandboxLowcostOptions extends SandboxOptions {
  /** Milliseconds of a quote; a fare menu takes half. */
  readonly quotingMs: number;
}

export type Fulfilment = Omit<Fulfiller, 'name' | 'isSandbox' | 'serves'> & { close(): Promise<void> };

interface Shop extends SandboxLowcostOptions {
  readonly world: World;
  readonly sales: () => Promise<Sales>;
}

export function createFulfilment(options: SandboxLowcostOptions): Fulfilment {
  const { clock } = options;
  const sales = once(
    async (): Promise<Sales> => (await import('./sales.ts')).openSales(options.orders, options.onTrouble),
  );
  const shop: Shop = { ...options, world: createWorld(options.seed), sales };
  return {
    quote: async (query, startedAtMs) => quote(shop, query, startedAtMs),
    bagsOf: async (offers) =>
      new Map(
        offers.flatMap(({ offer_id }) => {
          const bags = liveOffer(shop, offer_id)?.bags;
          return bags ? [[offer_id, bags] as const] : [];
        }),
      ),
    offer: async (offerId) => liveOffer(shop, offerId),
    menu: async (offerId, openedAtMs) => menu(shop, offerId, openedAtMs),
    book: (purchase) => book(shop, purchase),
    find: async (reference) => (await sales()).find(reference, clock.now()),
    async cancel(reference) {
      const records = await sales();
      await records.cancel(reference, clock.now());
      return records.find(reference, clock.now());
    },
    async close() {
      await (await sales.opened())?.close();
    },
  };
}

function quote({ world, clock, quotingMs }: Shop, query: RoundTrip, startedAtMs: number): QuoteOutcome {
  const nowMs = clock.now();
  const landing = tripsFor(world, query, startedAtMs)
    .map((trip) => {
      const offer = offerOf(world, writeOfferId(world, trip), trip);
      const [leg] = trip.legs;
      const luck = world.dice.unit(
        THROW.landing,
        leg?.carrier.index,
        trip.legs.reduce((sum, one) => sum * 7 + one.number, 0),
      );
      return { offer, atMs: startedAtMs + Math.round(quotingMs * (0.3 + 0.7 * luck)) };
    })
    .sort((a, b) => a.atMs - b.atMs || (a.offer.offer_id < b.offer.offer_id ? -1 : 1));
  const offers = landing.filter(({ atMs }) => atMs <= nowMs).map(({ offer }) => offer);
  const next = landing.find(({ atMs }) => atMs > nowMs);
  return next ? { kind: 'quoting', offers, nextAtMs: next.atMs } : { kind: 'quoted', offers };
}

function liveOffer(shop: Shop, offerId: string): LiveOffer | null {
  const { world } = shop;
  const trip = quotedTrip(shop, offerId);
  if (!trip || !isOnSale(shop, trip)) return null;
  const offer = offerOf(world, offerId, trip);
  const bag = bagOf(world, trip);
  return {
    passengerCount: trip.adults,
    offer,
    bags: alike(trip.adults, offer, [bag]),
    availableServices: [
      {
        type: 'baggage',
        baggage_type: 'checked',
        maximum_weight_kg: 20,
        maximum_quantity: bag.most * trip.adults,
        total_amount_decimal: formatUsdc(bag.amount),
        total_currency: bag.currency,
      },
    ],
  };
}

function extraCents(world: World, trip: Trip, { fare, bags, passengers }: Purchase): number | null {
  if (!bags) return 0;
  const included = { checked_bags_included: fare.checkedBags, carry_on_bags_included: fare.carryOnBags };
  const found = bagsToBuy(alike(passengers.length, included, [bagOf(world, trip)]), 'USD', bags);
  return found && Number(found.amount / 10_000n);
}

/** The only extra bag that a carrier sells, priced for all flights together. */
function bagOf(world: World, { legs }: Trip): SoldBag {
  const cents = 2800 + 200 * world.dice.pick(8, TOPIC.services, legs[0]?.carrier.index);
  return { type: 'checked', most: 2, amount: BigInt(cents * legs.length) * 10_000n, currency: 'USD' };
}

function menu(shop: Shop, offerId: string, openedAtMs: number): MenuOutcome {
  const trip = quotedTrip(shop, offerId);
  if (!trip || !isOnSale(shop, trip)) return { kind: 'offer_gone' };
  const leftMs = openedAtMs + Math.round(shop.quotingMs / 2) - shop.clock.now();
  if (leftMs > 0) return { kind: 'pending', pollAfterMs: leftMs };
  const mishap = mishapOf(shop, trip);
  if (mishap === 'fare_check_failed') return { kind: 'check_failed', why: 'the page showed no fares' };
  // A seat lost at the till is still shown here.
  const shown = mishap === 'sold_out' ? 'none' : mishap;
  return { kind: 'opened', fares: visit(shop.world, trip, shown, visitNumber(shop)).fares.map(soldFare) };
}

async function book(shop: Shop, purchase: Purchase): Promise<BookOutcome> {
  const { clock } = shop;
  const { reference, offerId, passengers } = purchase;
  const trip = quotedTrip(shop, offerId);
  if (!trip) throw problem('offer_not_found');
  const records = await shop.sales();
  const run = await records.begin({ reference, offerId, passengerCount: passengers.length, nowMs: clock.now() });
  if (run !== null) await buy(shop, records, run, purchase, trip);
  // No outcome yet: another visit took over.
  const outcome = await records.find(reference, clock.now());
  if (!outcome) throw problem('provider_failed');
  return outcome;
}

/** Presses the pay button if the till asks for the agreed price. */
async function buy(shop: Shop, records: Sales, run: string, purchase: Purchase, trip: Trip): Promise<void> {
  const { clock, ticketingMs, world } = shop;
  const { reference } = purchase;
  const mishap = isOnSale(shop, trip) ? mishapOf(shop, trip) : 'sold_out';
  const till = goToTill(visit(world, trip, mishap, visitNumber(shop)), purchase, extraCents(world, trip, purchase));
  if (till.kind !== 'ready_to_pay') return records.end(reference, run, till, clock.now());
  const waitMs = mishap === 'late_confirmation' ? Math.max(LATE_AT_LEAST_MS, ticketingMs * LATE_BY) : ticketingMs;
  const confirmsAtMs = mishap === 'pay_pressed_no_confirmation' ? null : clock.now() + waitMs;
  await records.press(reference, run, till.totalDecimal, confirmsAtMs);
}

/** Refuses ids from the future, which would outlive their lifetime. */
function quotedTrip({ world, clock }: Shop, offerId: string): Trip | null {
  const trip = readOfferId(world, offerId);
  return trip && trip.quotedMinute * 60_000 <= clock.now() + CLOCK_SKEW_MS ? trip : null;
}

const mishapOf = ({ scenario }: Shop, { legs: [leg] }: Trip) =>
  mishapOn(scenario ?? 'none', leg?.from.iata ?? '', leg?.to.iata ?? '');

const isOnSale = ({ clock }: Shop, { legs: [leg] }: Trip) =>
  leg !== undefined && leg.departureMs >= clock.now() + SALES_CLOSE_MS / 2;

const visitNumber = ({ clock }: Shop) => clock.now() >>> 0;

const soldFare = ({ totalCents, ...content }: PageFare): SoldFare => ({
  ...content,
  totalAmountDecimal: decimalOf(totalCents),
  totalCurrency: 'USD',
});

/**
 * Writes `lowcost:P91204-LIS-BER-20261220.1.t3x9k2.a1b2c3d4e5`: flights, adults, the quote's minute, and a MAC keyed
 * from the seed, so that nothing is stored.
 */
function writeOfferId(world: World, trip: Trip): string {
  const body = `${trip.legs.map(legText).join('~')}.${trip.adults}.${trip.quotedMinute.toString(36)}`;
  return `${LOWCOST_PREFIX}${body}.${macOf(world, body)}`;
}

/** Null for another world's quote. */
function readOfferId(world: World, offerId: string): Trip | null {
  if (!offerId.startsWith(LOWCOST_PREFIX) || offerId.length > 120) return null;
  const text = offerId.slice(LOWCOST_PREFIX.length);
  const end = text.lastIndexOf('.');
  const body = text.slice(0, end);
  // From here on the id is known to be this world's own.
  if (end < 0 || text.slice(end + 1) !== macOf(world, body)) return null;
  const [flights = '', adults = '', minute = ''] = body.split('.');
  const legs = flights.split('~').map((one) => readLeg(world, one));
  if (!legs.every((leg) => leg !== null)) return null;
  return { legs, adults: Number(adults), quotedMinute: Number.parseInt(minute, 36) };
}

const macOf = ({ seed }: World, body: string): string =>
  hash('sha256', `farelock lowcost ${seed}|${body}|${seed}`, 'hex').slice(0, MAC_CHARACTERS);

const legText = ({ carrier, number, from, to, departureLocalMs }: Leg): string =>
  flightKey(`${carrier.code}${number}`, from, to, departureLocalMs);

function readLeg(world: World, text: string): Leg | null {
  const [, code, number, origin = '', destination = '', year, month, day] = LEG.exec(text) ?? [];
  const from = world.byCode(origin);
  const to = world.byCode(destination);
  const carrier = CARRIERS.find((one) => one.code === code);
  if (!from || !to || !carrier || !carriersBetween(from, to).includes(carrier)) return null;
  const days = dayOf(`${year}-${month}-${day}`);
  const legs = waves.map((wave) => legOf(world, carrier, from, to, days, wave));
  return legs.find((leg) => leg.number === Number(number)) ?? null;
}

/** Each visit sees the fares in another order. */
export const visit = (world: World, trip: Trip, mishap: Scenario, visitNumber: number) => ({
  mishap,
  fares: shuffled(world, mishap === 'sold_out' ? [] : fareMenu(world, trip), visitNumber),
});

/**
 * Goes up to the pay button without pressing it. Finds the fare by content, because its place in the list changes, and
 * requires the escrowed price to the cent.
 */
export function goToTill(
  { mishap, fares }: ReturnType<typeof visit>,
  { fare, amountDecimal }: Pick<Purchase, 'fare' | 'amountDecimal'>,
  /** Cents for extra bags; null if not sold. */
  extra: number | null = 0,
): NothingBought | { readonly kind: 'ready_to_pay'; readonly totalDecimal: string } {
  const chosen = fares.find((one) => fareKey(one) === fareKey(fare));
  if (!chosen) return { kind: 'offer_gone' };
  if (mishap === 'form_rejected') return { kind: mishap, fields: ['passport_number'] };
  if (mishap === 'captcha' || mishap === 'account_wall') return { kind: mishap };
  const dearer = mishap === 'price_differs_at_till' ? DEARER_BY : 1;
  if (extra === null) return { kind: 'offer_gone' };
  const totalDecimal = decimalOf(Math.ceil(chosen.totalCents * dearer) + extra);
  if (parseUsdc(totalDecimal) === parseUsdc(amountDecimal)) return { kind: 'ready_to_pay', totalDecimal };
  return { kind: 'price_differs', foundAmountDecimal: totalDecimal };
}

const OFFER_LIFE_MS = HOUR_MS;

/** Makes an offer of the menu's cheapest fare. */
function offerOf(world: World, id: string, trip: Trip): Offer {
  const [fare] = fareMenu(world, trip);
  const [leg] = trip.legs;
  if (!fare || !leg) throw new RangeError('a trip without flights');
  return directOffer(
    trip.legs.map((one) => sliceOf(one, fare.brand)),
    {
      offer_id: id,
      owner_name: leg.carrier.name,
      fare_brand_name: fare.brand,
      checked_bags_included: fare.checkedBags,
      carry_on_bags_included: fare.carryOnBags,
      conditions: fare.conditions,
      total: BigInt(fare.totalCents) * 10_000n,
      total_currency: 'USD',
      expiresAtMs: trip.quotedMinute * 60_000 + OFFER_LIFE_MS,
    },
  );
}

function sliceOf({ carrier, number, from, to, ...leg }: Leg, brand: string | null): Slice {
  const sold = {
    carrier_name: carrier.name,
    operating_flight_number: `${carrier.code}${number}`,
    marketing_carrier_name: carrier.name,
    flight_number: `${carrier.code}${number}`,
    aircraft_name: null,
    origin_terminal: null,
    destination_terminal: null,
  };
  return directSlice(spanOf(from, to, leg.departureLocalMs, leg.arrivalLocalMs, leg.blockMinutes), sold, brand);
}
