import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import type { Conditions } from '../../wire/flights/index.ts';
import { type FareContent, fareKey, type SoldFare } from '../fulfiller.ts';
import { priceOf, type SeenFlight, shared, takeItem } from './flights.ts';
import type { Walk } from './page/index.ts';
import * as page from './page/index.ts';
import type { Money, Recipe } from './recipes/index.ts';

type Fares = NonNullable<Recipe['fares']>;

/**
 * Reads the fares of the chosen flights, in no meaningful order.
 * @param isThere true if the visit is at their page already
 * @throws Stopped `offer_gone` if none are left
 */
export async function readFares(walk: Walk, passengerCount: number, taken: readonly SeenFlight[], isThere = false) {
  const { fares } = walk.visit.recipe;
  if (!fares) return [{ item: null, fare: listedFare(walk, passengerCount, taken) }];
  if (!isThere) await page.runSteps(walk, fares.steps);
  const seen = [];
  for (const [i, item] of (await page.itemsOf(walk, fares)).entries()) {
    seen.push({ item, fare: await readFare({ ...walk, item, itemNumber: i + 1 }, fares, passengerCount) });
  }
  if (seen.length === 0) throw new page.Stopped('offer_gone');
  return seen;
}

/**
 * The only fare of a site without a page of fares, as the list of flights shows it.
 * @throws Misfit for two currencies
 */
function listedFare({ visit }: Walk, passengerCount: number, taken: readonly SeenFlight[]): SoldFare {
  const [currency, ...others] = new Set(taken.map(({ price }) => price.currency));
  if (currency === undefined || others.length > 0) throw new page.Misfit('search', 'search (list)', 'two currencies');
  return {
    brand: shared(taken, 'brand'),
    checkedBags: shared(taken, 'checkedBags'),
    carryOnBags: shared(taken, 'carryOnBags'),
    conditions: null,
    totalAmountDecimal: formatUsdc(priceOf(visit.recipe, taken, passengerCount)),
    totalCurrency: currency,
  };
}

async function readFare(walk: Walk, { read, price_for }: Fares, passengerCount: number): Promise<SoldFare> {
  const price = page.must(walk, read, 'price', await page.readsMoney(walk, read, 'price'));
  const times = price_for === 'one' ? BigInt(passengerCount) : 1n;
  return {
    brand: await page.readsText(walk, read, 'brand'),
    checkedBags: await page.readsNumber(walk, read, 'checked_bags'),
    carryOnBags: await page.readsNumber(walk, read, 'carry_on_bags'),
    conditions: await readConditions(walk, read),
    totalAmountDecimal: formatUsdc(parseUsdc(price.decimal) * times),
    totalCurrency: price.currency,
  };
}

async function readConditions(walk: Walk, read: Fares['read']): Promise<Conditions | null> {
  const says = [read.change_allowed, read.change_penalty, read.refund_allowed, read.refund_penalty];
  if (says.every((reading) => reading === undefined)) return null;
  const changes = await page.readsFlag(walk, read, 'change_allowed');
  const refunds = await page.readsFlag(walk, read, 'refund_allowed');
  // A forbidden change or refund has no price.
  const change = changes === false ? null : await page.readsMoney(walk, read, 'change_penalty');
  const refund = refunds === false ? null : await page.readsMoney(walk, read, 'refund_penalty');
  return {
    change_allowed: changes ?? (change ? true : null),
    change_penalty_amount: amountOf(change),
    change_penalty_currency: change?.currency ?? null,
    refund_allowed: refunds ?? (refund ? true : null),
    refund_penalty_amount: amountOf(refund),
    refund_penalty_currency: refund?.currency ?? null,
  };
}

const amountOf = (money: Money | null): string | null =>
  money && (parseUsdc(money.decimal) === 0n ? '0' : money.decimal);

/** Fields of the cheapest fare that a list of flights may show; conditions are never among them. */
const LISTED = ['brand', 'checkedBags', 'carryOnBags'] as const;

/**
 * Chooses the fare with this content. An offer locked from the list of flights may know less than the menu: then the
 * only fare that fits is chosen, at the agreed price if the list showed nothing.
 * @throws Stopped `offer_gone`, Misfit if two fares are the same
 */
export async function takeFare(
  walk: Walk,
  seen: Awaited<ReturnType<typeof readFares>>,
  wanted: FareContent,
  amountDecimal: string,
): Promise<void> {
  const same = seen.filter(({ fare }) => fareKey(fare) === fareKey(wanted));
  const saysNothing = wanted.conditions === null && LISTED.every((field) => wanted[field] === null);
  const asQuoted = () =>
    seen.filter(
      ({ fare }) =>
        LISTED.every((field) => wanted[field] === null || wanted[field] === fare[field]) &&
        (!saysNothing || parseUsdc(fare.totalAmountDecimal) === parseUsdc(amountDecimal)),
    );
  const [one, another] = same.length === 0 && wanted.conditions === null ? asQuoted() : same;
  if (!one) throw new page.Stopped('offer_gone');
  if (another) throw new page.Misfit('fares', 'fares (list)', 'two fares are the same');
  const { item } = one;
  if (item) await takeItem({ ...walk, item }, walk.visit.recipe.fares?.choose, 'fares (choose)');
}
