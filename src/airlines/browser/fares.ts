import type { Locator } from 'playwright-core';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import type { Conditions } from '../../wire/flights/index.ts';
import { type FareContent, fareKey, type SoldFare } from '../fulfiller.ts';
import { takeItem } from './flights.ts';
import {
  itemsOf,
  Misfit,
  must,
  readsFlag,
  readsMoney,
  readsNumber,
  readsText,
  runSteps,
  Stopped,
  type Walk,
} from './page/index.ts';
import type { Money } from './recipes/index.ts';

/** The fares of the flights that were taken, in the order of this visit, which means nothing. */

interface SeenFare {
  readonly item: Locator;
  readonly fare: SoldFare;
}

/** @throws Stopped `offer_gone` where the page says that there are none any more */
export async function readFares(walk: Walk, passengerCount: number): Promise<SeenFare[]> {
  const { fares } = walk.visit.recipe;
  await runSteps(walk, fares.steps);
  const seen = [];
  for (const item of await itemsOf(walk, fares)) {
    seen.push({ item, fare: await readFare({ ...walk, item }, passengerCount) });
  }
  if (seen.length === 0) throw new Stopped('offer_gone');
  return seen;
}

async function readFare(walk: Walk, passengerCount: number): Promise<SoldFare> {
  const { read, price_for } = walk.visit.recipe.fares;
  const price = must(walk, 'price', await readsMoney(walk, 'price', read.price));
  const times = price_for === 'one' ? BigInt(passengerCount) : 1n;
  return {
    brand: await readsText(walk, 'brand', read.brand),
    checkedBags: await readsNumber(walk, 'checked_bags', read.checked_bags),
    carryOnBags: await readsNumber(walk, 'carry_on_bags', read.carry_on_bags),
    conditions: await readConditions(walk),
    totalAmountDecimal: formatUsdc(parseUsdc(price.decimal) * times),
    totalCurrency: price.currency,
  };
}

async function readConditions(walk: Walk): Promise<Conditions | null> {
  const { read } = walk.visit.recipe.fares;
  const says = [read.change_allowed, read.change_penalty, read.refund_allowed, read.refund_penalty];
  if (says.every((reading) => reading === undefined)) return null;
  const changes = await readsFlag(walk, 'change_allowed', read.change_allowed);
  const refunds = await readsFlag(walk, 'refund_allowed', read.refund_allowed);
  // Of what is not allowed, no price is looked for.
  const change = changes === false ? null : await readsMoney(walk, 'change_penalty', read.change_penalty);
  const refund = refunds === false ? null : await readsMoney(walk, 'refund_penalty', read.refund_penalty);
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

const saysNothing = ({ brand, checkedBags, carryOnBags, conditions }: FareContent): boolean =>
  [brand, checkedBags, carryOnBags, conditions].every((value) => value === null);

/** Everything that the list of flights may have told of the cheapest fare, which has no conditions. */
const fits = (fare: SoldFare, wanted: FareContent): boolean =>
  (['brand', 'checkedBags', 'carryOnBags'] as const).every(
    (field) => wanted[field] === null || wanted[field] === fare[field],
  );

/**
 * Takes the fare with this content. An offer that was locked as the list of flights showed it may say less of its fare
 * than the menu does: then it is the one that fits and costs what was agreed.
 * @throws Stopped `offer_gone`, Misfit where two are the same
 */
export async function takeFare(
  walk: Walk,
  wanted: FareContent,
  { passengerCount, amountDecimal }: { readonly passengerCount: number; readonly amountDecimal: string },
): Promise<void> {
  const seen = await readFares(walk, passengerCount);
  const same = seen.filter(({ fare }) => fareKey(fare) === fareKey(wanted));
  const asQuoted = () =>
    seen.filter(
      ({ fare }) =>
        fits(fare, wanted) && (!saysNothing(wanted) || parseUsdc(fare.totalAmountDecimal) === parseUsdc(amountDecimal)),
    );
  const [one, another] = same.length === 0 && wanted.conditions === null ? asQuoted() : same;
  if (!one) throw new Stopped('offer_gone');
  if (another) throw new Misfit('fares', 'fares (list)', 'two fares are the same');
  await takeItem({ ...walk, item: one.item }, walk.visit.recipe.fares.choose, 'fares (choose)');
}
