import { parseUsdc } from '../../kernel/money.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import type { NothingBought, Purchase } from '../fulfiller.ts';
import type { Card } from './cards.ts';
import { takeFare } from './fares.ts';
import { queryValues, takeFlights } from './flights.ts';
import type { KeptOffer } from './looks.ts';
import {
  BrowserGone,
  free,
  isPressed,
  isSeen,
  must,
  pause,
  readsMoney,
  readsText,
  runSteps,
  Stopped,
  shown,
  untickAll,
  until,
  type Visit,
  type Walk,
  walkOf,
} from './page/index.ts';
import type { Confirmed } from './purchases.ts';
import type { Money, RecipePart, Values } from './recipes/index.ts';

/** From the search to the pay button, and past it. */

const SETTLES_MS = 500;
const CONFIRMS_WITHIN_MS = 60_000;
/** The press before it, and the reading after it. */
const AROUND_MS = 30_000;

/** From the press on. */
export const confirmsWithinMs = ({ confirmation: { within_ms } }: Visit['recipe']): number =>
  (within_ms ?? CONFIRMS_WITHIN_MS) + AROUND_MS;

export interface Errand {
  readonly purchase: Purchase;
  readonly kept: KeptOffer;
  /** Where the carrier's mails go; null: to the first passenger. */
  readonly mailAddress: string | null;
  /** The card, after it is on record that it may be charged from now on; null: somebody else has this purchase now. */
  issue(total: Money): Promise<Card | null>;
  /** Puts on record that the button is pressed next; false: it may not be. */
  press(): Promise<boolean>;
  /** Puts on record that the card was not charged, for certain. */
  release(): Promise<void>;
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
 * Buys, once. Where the till was not paid, for certain, it ends in an outcome that bought nothing, or throws. Past that
 * nothing is thrown any more.
 * @throws Misfit, BrowserGone, Problem `provider_failed` before the till was paid
 */
export async function buy(visit: Visit, errand: Errand): Promise<Bought> {
  noteTravellers(visit, errand.purchase.passengers);
  try {
    const walk = await goToTill(visit, errand);
    const total = await totalAsked(walk);
    const differs = priceDiffers(total, errand);
    if (differs) return differs;
    return await pay(walk, errand, total);
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
    total.currency === kept.offer.total_currency && parseUsdc(total.decimal) === parseUsdc(purchase.amountDecimal);
  return isSame ? null : { kind: 'price_differs', foundAmountDecimal: total.decimal };
}

const PAY = 'till (pay)';

/**
 * At the till, whose total is right: the card, the total once more, and the button. From the moment that the page has
 * the card it may have been paid, unless the page provably still waits.
 */
async function pay(walk: Walk, errand: Errand, total: Money): Promise<Bought> {
  const { visit } = walk;
  if (visit.isGone()) throw new BrowserGone('the browser is gone');
  const card = await errand.issue(total);
  if (card === null) return { kind: 'taken_over' };
  for (const value of Object.values(card)) visit.personal.add(value);
  const left = await withCard(walk, errand, card).catch((error: unknown) => ({ error }));
  if (left === 'ready') {
    if (!(await errand.press())) return { kind: 'taken_over' };
    // The till may have paid by itself meanwhile.
    return visit.posts.sent.size > 0 ? confirmed(walk, null) : confirmed(walk, () => press(walk));
  }
  if (left === 'sent' || !(await stillWaits(walk))) return confirmed(walk, null);
  await errand.release();
  if ('error' in left) throw left.error;
  return left;
}

/** Gives the till the card. `sent`: the page has sent something that may be the payment. */
async function withCard(walk: Walk, errand: Errand, card: Card): Promise<'ready' | 'sent' | NothingBought> {
  const { posts, recipe } = walk.visit;
  const { till } = recipe;
  posts.begin(till.harmless_posts ?? []);
  const values = { ...walk.values, ...cardValues(card) };
  await runSteps({ ...walk, values }, till.card, errand.purchase.passengers);
  // Some tills send themselves a moment after the last digit.
  await pause(SETTLES_MS);
  if (posts.sent.size > 0) return 'sent';
  await free(walk, till.pay, PAY);
  // Some tills add a fee for a kind of card.
  return priceDiffers(await totalAsked(walk), errand) ?? 'ready';
}

/** True where nothing was paid, for certain: the till is there with its button, nothing was sent, and nothing can be. */
async function stillWaits(walk: Walk): Promise<boolean> {
  const { posts, recipe } = walk.visit;
  const { pay: button, total } = recipe.till;
  posts.stop();
  try {
    const isThere = (await isSeen(walk, button)) && (!total.at || (await isSeen(walk, total.at)));
    if (!isThere || posts.sent.size > 0) return false;
    await posts.cut();
    return posts.sent.size === 0 && !walk.visit.isGone();
  } catch {
    return false;
  }
}

/** What comes to lie over the button at the last moment is cleared away: it is pressed again only while no press was begun. */
async function press(walk: Walk): Promise<void> {
  const button = shown(walk, walk.visit.recipe.till.pay);
  await until(walk, PAY, undefined, async () =>
    (await isPressed(button)) ? { found: true } : { saw: 'the button is covered or disabled' },
  );
}

/**
 * Waits for the page that confirms, in a time of its own: a bank takes some. Nothing is thrown here any more.
 * @param first presses the button; null: the page may have paid without it
 */
async function confirmed(walk: Walk, first: (() => Promise<void>) | null): Promise<Bought> {
  const { visit } = walk;
  const early = first === null ? `sent before the button: ${[...visit.posts.sent].join(' ')}; ` : '';
  visit.extend(confirmsWithinMs(visit.recipe));
  try {
    await first?.();
    return await confirmation(walk);
  } catch (error) {
    const saw = error instanceof Error ? error.message.split('\n', 1).join() : 'nothing';
    return { kind: 'no_word', saw: `${early}${saw}` };
  }
}

async function confirmation(walk: Walk): Promise<Bought> {
  const { confirmation: page } = walk.visit.recipe;
  const here: Walk = { ...walkOf(walk.visit, 'confirmation', walk.values, walk.cleared) };
  const seen = await until(here, 'confirmation', page.within_ms ?? CONFIRMS_WITHIN_MS, async () => {
    if (await isSeen(here, page.seen)) return { found: 'confirmed' as const };
    if (page.later && (await isSeen(here, page.later))) return { found: 'later' as const };
    return { saw: 'no confirmation' };
  });
  if (seen === 'later') return { kind: 'later' };
  return { kind: 'confirmed', confirmed: await readConfirmed(here, page.read) };
}

export async function readConfirmed(walk: Walk, read: Visit['recipe']['confirmation']['read']): Promise<Confirmed> {
  const found = await readsText(walk, 'booking_reference', read.booking_reference);
  return { bookingReference: must(walk, 'booking_reference', found), paid: await readsMoney(walk, 'paid', read.paid) };
}
