import type { NothingBought, Purchase } from '../fulfiller.ts';
import type { KeptOffer } from './looking.ts';
import type { Visit, Walk } from './page/index.ts';
import * as page from './page/index.ts';
import type { Card } from './ports.ts';
import type { Confirmed } from './purchases.ts';
import type { Money, Recipe } from './recipes/index.ts';
import { isSamePrice, totalAsked, wayOf } from './to-till.ts';

const SETTLES_MS = 500;
const CONFIRMS_WITHIN_MS = 60_000;
/** Time for the press before that wait, and the reading after it. */
const AROUND_MS = 30_000;

const CHALLENGE_WITHIN_MS = 180_000;

/** The longest time from the press to the confirmation. A bank's question adds its own time and a second wait. */
export function confirmsWithinMs({ confirmation: { within_ms: withinMs = CONFIRMS_WITHIN_MS, challenge } }: Recipe) {
  return withinMs + AROUND_MS + (challenge ? (challenge.within_ms ?? CHALLENGE_WITHIN_MS) + withinMs : 0);
}

interface Errand {
  readonly purchase: Purchase;
  readonly kept: Pick<KeptOffer, 'offer' | 'query' | 'flights'>;
  /** The address for mails; null for the first passenger's. */
  readonly mailAddress: string | null;
  /** Records that a card may be charged from now on, then issues it; null if another visit took over. */
  issue(total: Money): Promise<Card | null>;
  /** Records that the button is pressed next; false if it must not be pressed. */
  press(): Promise<boolean>;
  /** Records that the card was certainly not charged. */
  release(): Promise<void>;
  /** Looks for the code that the bank asks for; null if it has not come yet. */
  code(): Promise<string | null>;
}

export type Bought =
  | NothingBought
  /** Another visit took over; nothing was pressed here. */
  | { readonly kind: 'taken_over' }
  | { readonly kind: 'confirmed'; readonly confirmed: Confirmed }
  | { readonly kind: 'later' }
  /** Stopped before the press, for a reason that the recipe names. */
  | { readonly kind: 'stopped'; readonly outcome: NothingBought; readonly saw: string }
  /** Pressed, but provably nothing has left the page since. */
  | { readonly kind: 'pressed_in_vain'; readonly outcome: NothingBought; readonly saw: string }
  /** Perhaps paid: the result is unknown. */
  | { readonly kind: 'no_word'; readonly saw: string };

/**
 * Buys once: goes from the search to the till, pays, and reads the confirmation. Returns that nothing was bought, or
 * throws, only if the till was certainly not paid.
 * @throws Misfit, BrowserGone, Problem `provider_failed`
 */
export async function buy(visit: Visit, errand: Errand): Promise<Bought> {
  // Registered before it is typed, so that no saved page shows it.
  for (const { title: _title, gender: _gender, nationality: _nationality, ...fields } of errand.purchase.passengers) {
    for (const value of Object.values(fields)) if (value) visit.personal.add(value);
  }
  try {
    const walk = await goToTill(visit, errand);
    const total = await totalAsked(walk);
    return priceDiffers(total, errand) ?? (await pay(walk, errand, total));
  } catch (error) {
    if (!(error instanceof page.Stopped)) throw error;
    const { reason } = error;
    if (typeof reason !== 'string') return { kind: 'form_rejected', fields: reason.rejected };
    return { kind: 'stopped', outcome: { kind: reason === 'no_fares' ? 'offer_gone' : reason }, saw: error.words };
  }
}

async function goToTill(visit: Visit, { purchase, kept, mailAddress }: Errand): Promise<Walk> {
  const { fare, amountDecimal, passengers, reference } = purchase;
  const way = wayOf(visit, { kept, passengers, reference, mailAddress });
  await way.search();
  await way.flights();
  await way.fare(fare, amountDecimal);
  await way.passengers();
  await way.extras();
  return way.till();
}

export function priceDiffers(total: Money, { purchase, kept }: Errand): NothingBought | null {
  const agreed = { decimal: purchase.amountDecimal, currency: kept.offer.total_currency };
  return isSamePrice(total, agreed) ? null : { kind: 'price_differs', foundAmountDecimal: total.decimal };
}

const PAY = 'till (pay)';

/**
 * Pays a right total: fills in the card, checks the total again, presses. Once the page has the card, it counts as
 * perhaps paid unless it provably still waits.
 */
async function pay(walk: Walk, errand: Errand, total: Money): Promise<Bought> {
  const { visit } = walk;
  if (visit.isGone()) throw new page.BrowserGone('the browser is gone');
  const card = await errand.issue(total);
  if (card === null) return { kind: 'taken_over' };
  for (const value of Object.values(card)) visit.personal.add(value);
  const left = await withCard(walk, errand, card).catch((error: unknown) => ({ error }));
  if (left === 'ready') {
    if (!(await errand.press())) return { kind: 'taken_over' };
    // A till that has sent something may have paid by itself.
    return confirmed(walk, errand, visit.posts.sent.size > 0 ? null : () => press(walk));
  }
  if (left === 'sent' || !(await stillWaits(walk))) return confirmed(walk, errand, null);
  await errand.release();
  if ('error' in left) throw left.error;
  return left;
}

/** Fills in the card. `sent`: the page sent something that may be the payment. */
async function withCard(walk: Walk, errand: Errand, card: Card): Promise<'ready' | 'sent' | NothingBought> {
  const { posts, recipe } = walk.visit;
  const { till } = recipe;
  posts.begin(till.harmless_posts ?? []);
  const cardValues = Object.fromEntries(Object.entries(card).map(([field, value]) => [`card.${field}`, value]));
  await page.runSteps({ ...walk, values: { ...walk.values, ...cardValues } }, till.card, errand.purchase.passengers);
  // Some tills submit themselves a moment after the last digit.
  await page.pause(SETTLES_MS);
  if (posts.sent.size > 0) return 'sent';
  await page.free(walk, till.pay, PAY);
  // Some tills add a fee for some kinds of card.
  return priceDiffers(await totalAsked(walk), errand) ?? 'ready';
}

/** True if certainly nothing was paid: the till still shows its button, nothing was sent, and nothing can be. */
async function stillWaits(walk: Walk): Promise<boolean> {
  const { posts, recipe } = walk.visit;
  const { pay: button, total } = recipe.till;
  posts.stop();
  try {
    const isThere = (await page.isSeen(walk, button)) && (!total.at || (await page.isSeen(walk, total.at)));
    if (!isThere || posts.sent.size > 0) return false;
    await posts.cut();
    return posts.sent.size === 0 && !walk.visit.isGone();
  } catch {
    return false;
  }
}

/** Presses the pay button, past late pop-ups. Tries again only while no press has begun. */
async function press(walk: Walk): Promise<void> {
  const button = page.shown(walk, walk.visit.recipe.till.pay);
  await page.until(walk, PAY, undefined, async () =>
    (await page.isPressed(button)) ? { found: true } : { saw: 'the button is covered or disabled' },
  );
}

/**
 * Waits for the confirmation page, in a time of its own because banks are slow. Never throws.
 * @param first presses the button; null if the page may have paid without it
 */
async function confirmed(walk: Walk, errand: Errand, first: (() => Promise<void>) | null): Promise<Bought> {
  const { visit } = walk;
  const { posts } = visit;
  const early = first === null ? `sent before the button: ${[...posts.sent].join(' ')}; ` : '';
  const before = first === null ? null : posts.requests;
  visit.extend(confirmsWithinMs(visit.recipe));
  try {
    await first?.();
    return await confirmation(walk, errand, () => posts.requests === before);
  } catch (error) {
    const saw = error instanceof Error ? error.message.split('\n', 1).join() : 'nothing';
    const words = error instanceof page.Stopped && error.words ? `: ${error.words}` : '';
    return { kind: 'no_word', saw: `${early}${saw}${words}` };
  }
}

/** @param isSilent true while nothing has left the page since the press */
async function confirmation(walk: Walk, errand: Errand, isSilent: () => boolean): Promise<Bought> {
  const { seen, later, within_ms, read, challenge, ended = [] } = walk.visit.recipe.confirmation;
  const here = page.walkOf(walk.visit, 'confirmation', walk.values, walk.cleared);
  type Found = 'confirmed' | 'later' | 'challenge' | (typeof ended)[number];
  const look = async (asks: typeof challenge): Promise<{ found: Found } | { saw: string }> => {
    if (await page.isSeen(here, seen)) return { found: 'confirmed' };
    if (later && (await page.isSeen(here, later))) return { found: 'later' };
    for (const end of ended) if (await page.isSeen(here, end.seen)) return { found: end };
    if (asks && (await page.isSeen(here, asks.seen))) return { found: 'challenge' };
    return { saw: 'no confirmation' };
  };
  const within = within_ms ?? CONFIRMS_WITHIN_MS;
  let found = await page.until<Found>(here, 'confirmation', within, () => look(challenge));
  if (found === 'challenge' && challenge) {
    await answer(here, challenge, errand);
    // The bank is answered once: if it asks the same again, there is no second answer.
    found = await page.until<Found>(here, 'confirmation', within, () => look(undefined));
  }
  if (typeof found === 'object') return endedAs(walk, found, isSilent);
  return found === 'confirmed' ? { kind: found, confirmed: await readConfirmed(here, read) } : { kind: 'later' };
}

type Challenge = NonNullable<Recipe['confirmation']['challenge']>;

const ASKS_EVERY_MS = 500;

/** Answers the bank's question in time. @throws Misfit if no code comes, or the page does not fit */
async function answer(walk: Walk, challenge: Challenge, errand: Errand): Promise<void> {
  const { within_ms: withinMs = CHALLENGE_WITHIN_MS, code, steps } = challenge;
  const values = { ...walk.values };
  if (code) {
    const name = `confirmation (code from a ${code.from})`;
    values['challenge.code'] = await page.until(walk, name, withinMs, async () => {
      const found = await errand.code();
      if (found === null) await page.pause(ASKS_EVERY_MS);
      return found === null ? { saw: 'no code came' } : { found };
    });
  }
  await page.runSteps({ ...walk, values }, steps, errand.purchase.passengers, 'confirmation challenge');
}

/** Judges a page that reports a failure. Its words prove nothing: the till must have sent nothing since the press. */
async function endedAs(
  walk: Walk,
  { seen, as }: NonNullable<Recipe['confirmation']['ended']>[number],
  isSilent: () => boolean,
): Promise<Bought> {
  const saw = `${as}: ${await page.saidAt(walk, seen)}`;
  const isUnsold = isSilent() && (await stillWaits(walk)) && isSilent();
  return isUnsold ? { kind: 'pressed_in_vain', outcome: { kind: as }, saw } : { kind: 'no_word', saw };
}

export async function readConfirmed(walk: Walk, read: Recipe['confirmation']['read']): Promise<Confirmed> {
  const found = await page.readsText(walk, read, 'booking_reference');
  return {
    bookingReference: page.must(walk, read, 'booking_reference', found),
    paid: await page.readsMoney(walk, read, 'paid'),
  };
}
