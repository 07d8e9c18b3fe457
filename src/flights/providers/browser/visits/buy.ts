import type { Locator } from 'playwright-core';
import { parseUsdc } from '../../../../kernel/money.ts';
import type { Passenger } from '../../../wire.ts';
import type { NothingBought, Purchase } from '../../fulfiller.ts';
import type { Card, CardIssuer } from '../card.ts';
import type { KeptOffer } from '../looks.ts';
import { free, isPressed } from '../page/click.ts';
import { BrowserGone, Stopped } from '../page/outcomes.ts';
import { must, readsMoney, readsText } from '../page/read.ts';
import { runSteps, untickAll, walkOf } from '../page/steps.ts';
import type { Visit } from '../page/visit.ts';
import { isSeen, until, type Walk } from '../page/walk.ts';
import type { Confirmed } from '../purchases.ts';
import type { RecipePart } from '../recipe.ts';
import type { Money, Values } from '../values.ts';
import { takeFare } from './fares.ts';
import { queryValues, takeFlights } from './flights.ts';

/** From the search to the pay button, and past it. */

export interface Errand {
  readonly purchase: Purchase;
  readonly kept: KeptOffer;
  /** Where the carrier's mails go; null: to the first passenger. */
  readonly mailAddress: string | null;
  readonly cards: CardIssuer;
  /** Puts on record that the button is pressed next; false: it may not be. */
  press(total: Money): Promise<boolean>;
}

export type Bought =
  | NothingBought
  /** Somebody else has this purchase now: nothing was pressed here. */
  | { readonly kind: 'taken_over' }
  | { readonly kind: 'confirmed'; readonly confirmed: Confirmed }
  /** The page says that it confirms later. */
  | { readonly kind: 'later' }
  /** Pressed, and no word of what came of it. */
  | { readonly kind: 'no_word'; readonly saw: string };

function valuesOf({ purchase, kept, mailAddress }: Errand): Values {
  const [lead] = purchase.passengers;
  const [there, home] = kept.flights;
  return {
    ...queryValues(kept.query),
    flight_number: there?.flightNumber,
    return_flight_number: home?.flightNumber,
    reference: purchase.reference,
    'contact.email': mailAddress ?? lead?.email,
    'contact.phone_number': lead?.phone_number,
    'contact.given_name': lead?.given_name,
    'contact.family_name': lead?.family_name,
  };
}

const cardValues = ({ number, expiry, cvc, holder }: Card): Values => ({
  'card.number': number,
  'card.expiry': expiry,
  'card.cvc': cvc,
  'card.holder': holder,
});

/** What a page must never show of the travellers, before anything of it is typed. */
function noteTravellers({ personal }: Visit, passengers: readonly Passenger[]): void {
  for (const passenger of passengers) {
    const { title: _title, gender: _gender, nationality: _nationality, ...fields } = passenger;
    for (const value of Object.values(fields)) if (value) personal.add(value);
  }
}

/**
 * Buys, once. Up to the button everything can be left as it is: it ends in an outcome that bought nothing, or throws.
 * Past it nothing is thrown any more.
 * @throws Misfit, BrowserGone, Problem `provider_failed` before the button
 */
export async function buy(visit: Visit, errand: Errand): Promise<Bought> {
  noteTravellers(visit, errand.purchase.passengers);
  try {
    const walk = await goToTill(visit, errand);
    const total = await totalAsked(walk);
    const differs = priceDiffers(total, errand);
    if (differs) return differs;
    return await pay(walk, errand);
  } catch (error) {
    if (error instanceof Stopped) return asOutcome(error);
    throw error;
  }
}

function asOutcome({ reason }: Stopped): NothingBought {
  if (typeof reason !== 'string') return { kind: 'form_rejected', fields: reason.rejected };
  return { kind: reason === 'no_fares' ? 'offer_gone' : reason };
}

async function goToTill(visit: Visit, errand: Errand): Promise<Walk> {
  const { purchase, kept } = errand;
  const { passengers } = purchase;
  const { recipe } = visit;
  const searched = await takeFlights(visit, kept.query, kept.flights);
  const values = valuesOf(errand);
  const at = (part: RecipePart): Walk => walkOf(visit, part, values, searched.cleared);
  await takeFare(at('fares'), purchase.fare, {
    passengerCount: passengers.length,
    amountDecimal: purchase.amountDecimal,
  });
  await runSteps(at('passengers'), recipe.passengers.steps, passengers);
  const extras = at('extras');
  if (recipe.extras.ticked) await untickAll(extras, recipe.extras.ticked, 'extras (ticked)');
  await runSteps(extras, recipe.extras.steps, passengers);
  const till = at('till');
  await runSteps(till, recipe.till.steps, passengers);
  return till;
}

const totalAsked = async (walk: Walk): Promise<Money> =>
  must(walk, 'total', await readsMoney(walk, 'total', walk.visit.recipe.till.total, 10_000));

/** The only price that may be paid, in its own currency. */
function priceDiffers(total: Money, { purchase, kept }: Errand): NothingBought | null {
  const isSame =
    total.currency === kept.offer.total_currency &&
    parseUsdc(total.decimal) === parseUsdc(purchase.amountDecimal);
  return isSame ? null : { kind: 'price_differs', foundAmountDecimal: total.decimal };
}

/** At the till, whose total is right: the card, the total once more, and the button. */
async function pay(walk: Walk, errand: Errand): Promise<Bought> {
  const { cards, purchase, kept } = errand;
  const { visit } = walk;
  const { till, carrier } = visit.recipe;
  const card = await cards.issue({
    reference: purchase.reference,
    amountDecimal: purchase.amountDecimal,
    currency: kept.offer.total_currency,
    merchant: carrier.name,
  });
  for (const value of Object.values(card)) visit.personal.add(value);
  const withCard: Walk = { ...walk, values: { ...walk.values, ...cardValues(card) } };
  await runSteps(withCard, till.card, purchase.passengers);
  const button = await free(walk, till.pay, PAY);
  // Some tills add a fee for a kind of card.
  const total = await totalAsked(walk);
  const differs = priceDiffers(total, errand);
  if (differs) return differs;
  if (visit.isGone()) throw new BrowserGone('the browser is gone');
  if (!(await errand.press(total))) return { kind: 'taken_over' };
  return pressed(walk, button);
}

const PAY = 'till (pay)';

/**
 * Whatever happens from here on, the button may have been pressed. What comes to lie over it at the last moment is
 * cleared away first: it is pressed again only while no press was so much as begun.
 */
async function pressed(walk: Walk, button: Locator): Promise<Bought> {
  try {
    await until(walk, PAY, undefined, async () =>
      (await isPressed(button)) ? { found: true } : { saw: 'the button is covered or disabled' },
    );
    return await confirmation(walk);
  } catch (error) {
    return { kind: 'no_word', saw: error instanceof Error ? error.message.split('\n', 1).join() : 'nothing' };
  }
}

async function confirmation(walk: Walk): Promise<Bought> {
  const { confirmation: page } = walk.visit.recipe;
  const here: Walk = { ...walkOf(walk.visit, 'confirmation', walk.values, walk.cleared) };
  const seen = await until(here, 'confirmation', page.within_ms ?? 60_000, async () => {
    if (await isSeen(here, page.seen)) return { found: 'confirmed' as const };
    if (page.later && (await isSeen(here, page.later))) return { found: 'later' as const };
    return { saw: 'no confirmation' };
  });
  if (seen === 'later') return { kind: 'later' };
  return { kind: 'confirmed', confirmed: await readConfirmed(here, page.read) };
}

export async function readConfirmed(
  walk: Walk,
  read: Visit['recipe']['confirmation']['read'],
): Promise<Confirmed> {
  const found = await readsText(walk, 'booking_reference', read.booking_reference);
  return {
    bookingReference: must(walk, 'booking_reference', found),
    paid: await readsMoney(walk, 'paid', read.paid),
  };
}
