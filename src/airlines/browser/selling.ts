import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { BookOutcome, Purchase } from '../fulfiller.ts';
import { type Bought, buy, confirmsWithinMs } from './buy.ts';
import { endingOf, nameOf, noteExit, siteFailed } from './exits.ts';
import { type KeptOffer, keptOffer } from './looking.ts';
import { codesFor, lookForMail } from './mail.ts';
import { cancelBooking, canManage, lookAtBooking, manageValues } from './manage.ts';
import { Misfit, type Visit } from './page/index.ts';
import { paysAt, recipeOfCarrier, type Shop } from './ports.ts';
import type { PurchaseRow } from './purchases.ts';
import * as purchases from './purchases.ts';
import type { Recipe } from './recipes/index.ts';

/** Time to record the outcome of a press. */
const WRITING_MS = 30_000;
const MOST_MISFITS = 3;
const DEFAULT_MAIL_WAIT_MS = 15 * 60_000;
const DEFAULT_MANAGE_EVERY_MS = 60_000;

/** Our unguessable address for one purchase's mails. */
function mailAddressOf({ settings, secrets }: Shop, reference: string): string | null {
  const { mailAddress } = settings;
  if (!mailAddress) return null;
  const tag = secrets.hmac('browser mail address', reference).slice(0, 10);
  return mailAddress.replace('{reference}', `${reference}.${tag}`);
}

const readsMails = (shop: Shop, { mail }: Recipe): boolean =>
  Boolean(mail && shop.settings.mailFolder && shop.settings.mailAddress);

const isConfirmedLater = (shop: Shop, recipe: Recipe, row: PurchaseRow): boolean =>
  readsMails(shop, recipe) || managing(shop, recipe, row) !== null;

/** Values to open a booking's page; null if that is impossible. */
function managing(shop: Shop, recipe: Recipe, row: PurchaseRow) {
  const contact = purchases.contactOf(shop, row);
  const values = contact && manageValues(row, contact, mailAddressOf(shop, row.reference));
  return values && canManage(recipe, values) ? values : null;
}

/**
 * Buys once under a reference; a repeated call gets the first outcome.
 * @throws Problem `offer_not_found`; `provider_failed` if the site could not be used and nothing was pressed
 */
export async function book(shop: Shop, purchase: Purchase): Promise<BookOutcome> {
  const { reference } = purchase;
  const past = await recorded(shop, reference);
  if (past) return past;
  const kept = await keptOffer(shop, purchase.offerId);
  if (!kept) throw problem('offer_not_found');
  if (!paysAt(shop, kept.recipe)) throw siteFailed('nothing is bought there with these settings');
  const run = await purchases.begin(shop, purchase, kept.recipe);
  if (run !== null) {
    await shop.visiting('buyer', kept.recipe, (visit) => goShopping(shop, visit, { purchase, kept, run }));
  }
  // Another visit may have taken over, so only the record knows the outcome.
  const outcome = await recorded(shop, reference);
  if (!outcome) throw siteFailed('another visit has this purchase');
  return outcome;
}

async function recorded(shop: Shop, reference: string): Promise<BookOutcome | null> {
  const row = await purchases.rowOf(shop, reference);
  return row ? purchases.outcomeOf(shop, row) : null;
}

async function goShopping(
  shop: Shop,
  visit: Visit,
  { purchase, kept, run }: { readonly purchase: Purchase; readonly kept: KeptOffer; readonly run: string },
): Promise<void> {
  const { settings } = shop;
  const { reference, amountDecimal } = purchase;
  const { recipe } = visit;
  const confirmsMs = confirmsWithinMs(recipe) + WRITING_MS;
  const laterMs = settings.mailWaitMs ?? DEFAULT_MAIL_WAIT_MS;
  const pendingMs = async () => {
    const row = await purchases.rowOf(shop, reference);
    return row && isConfirmedLater(shop, recipe, row) ? Math.max(confirmsMs, laterMs) : confirmsMs;
  };
  const release = () => purchases.release(shop, reference, run);
  const codes = codesFor(shop, recipe, purchase);
  try {
    const bought = await buy(visit, {
      purchase,
      kept,
      mailAddress: mailAddressOf(shop, reference),
      async issue(total) {
        const leftMs = Math.max(0, visit.endsAtMs - performance.now());
        if (!(await purchases.arm(shop, reference, run, total, leftMs + (await pendingMs())))) return null;
        try {
          codes.begin();
          const currency = kept.offer.total_currency;
          return await settings.cards.issue({ reference, amountDecimal, currency, merchant: recipe.carrier.name });
        } catch (error) {
          await release();
          throw error;
        }
      },
      press: async () => purchases.press(shop, reference, run, await pendingMs()),
      release,
      code: codes.look,
    });
    await writeDown(shop, visit, { reference, run, bought, laterMs });
  } catch (error) {
    const step = await noteExit(shop, visit, { subject: reference, ...endingOf(error) });
    // A site that stays changed gets no more of the travellers' data.
    const isChanged = error instanceof Misfit && (await purchases.misfit(shop, reference, run)) >= MOST_MISFITS;
    if (!isChanged) throw siteFailed(step);
    await purchases.end(shop, reference, run, { kind: 'site_changed' });
  }
}

async function writeDown(
  shop: Shop,
  visit: Visit,
  { reference, run, bought, laterMs }: { reference: string; run: string; bought: Bought; laterMs: number },
): Promise<void> {
  const exit = async (outcome: string, step = ''): Promise<void> => {
    await noteExit(shop, visit, { subject: reference, outcome, step });
  };
  if (bought.kind === 'taken_over') return;
  const row = await purchases.rowOf(shop, reference);
  if (!row) throw new Error('a purchase is gone');
  const later = isConfirmedLater(shop, visit.recipe, row);
  switch (bought.kind) {
    case 'confirmed': {
      const isClear = await purchases.confirm(shop, row, bought.confirmed, 'page');
      if (!isClear) await purchases.waitFor(shop, reference, 0);
      return exit(isClear ? 'booked' : 'paid_in_another_currency');
    }
    case 'stopped':
      await purchases.end(shop, reference, run, bought.outcome);
      return exit(bought.outcome.kind, bought.saw);
    case 'pressed_in_vain':
      if (await purchases.pressedInVain(shop, reference, run, bought.outcome))
        return exit(bought.outcome.kind, bought.saw);
      return exit('payment_pressed_no_confirmation', bought.saw);
    case 'later':
      await purchases.waitFor(shop, reference, later ? DAY_MS : 0);
      return exit(later ? 'pending' : 'payment_pressed_no_confirmation', 'it confirms later');
    case 'no_word':
      await purchases.waitFor(shop, reference, later ? laterMs : 0);
      return exit('payment_pressed_no_confirmation', bought.saw);
    default:
      await purchases.end(shop, reference, run, bought);
      return exit(bought.kind, bought.kind === 'form_rejected' ? bought.fields.join(' ') : '');
  }
}

/** Finds a purchase's outcome in our record, else in the carrier's mail or on its page. */
export async function find(shop: Shop, reference: string): Promise<BookOutcome | null> {
  const row = await purchases.rowOf(shop, reference);
  if (row?.state === 'pressed' && row.confirmed_at_ms === null) await askCarrier(shop, row);
  return recorded(shop, reference);
}

async function askCarrier(shop: Shop, row: PurchaseRow): Promise<void> {
  const { settings, log } = shop;
  const recipe = recipeOfCarrier(shop, row.carrier);
  if (!recipe) return;
  const address = mailAddressOf(shop, row.reference);
  if (readsMails(shop, recipe) && address && settings.mailFolder) {
    const mailbox = { folder: settings.mailFolder, resolver: settings.dnsTexts };
    const confirmed = await lookForMail(mailbox, recipe, address, (why) =>
      log('warn', 'browser_mail_not_believed', { subject: row.reference, carrier: row.carrier, why }),
    );
    if (confirmed && (await purchases.confirm(shop, row, confirmed, 'mail'))) return;
  }
  const values = managing(shop, recipe, row);
  const everyMs = settings.manageEveryMs ?? DEFAULT_MANAGE_EVERY_MS;
  if (!values || !(await purchases.takeLook(shop, row.reference, everyMs))) return;
  const confirmed = await managed(shop, recipe, row.reference, (visit) => lookAtBooking(visit, values));
  if (confirmed) await purchases.confirm(shop, row, confirmed, 'manage');
}

async function managed<T>(
  shop: Shop,
  recipe: Recipe,
  reference: string,
  work: (visit: Visit) => Promise<T>,
): Promise<T | null> {
  const noted = (visit: Visit) => async (error: unknown) => {
    await noteExit(shop, visit, { subject: reference, ...endingOf(error) });
    return null;
  };
  try {
    return await shop.visiting('looker', recipe, (visit) => work(visit).catch(noted(visit)));
  } catch (error) {
    shop.log('warn', 'browser_visit_failed', { subject: reference, error_name: nameOf(error) });
    return null;
  }
}

/** Cancels a booking if the site allows it. @throws Problem `provider_failed` if the site could not be used */
export async function cancel(shop: Shop, reference: string): Promise<BookOutcome | null> {
  const outcome = await find(shop, reference);
  if (outcome?.kind !== 'booked' || outcome.cancelledAtMs !== null) return outcome;
  const row = await purchases.rowOf(shop, reference);
  const recipe = row && recipeOfCarrier(shop, row.carrier);
  const values = row && recipe?.manage?.cancel && managing(shop, recipe, row);
  if (!recipe || !values) return outcome;
  const isCancelled = await managed(shop, recipe, reference, (visit) => cancelBooking(visit, values));
  if (isCancelled === null) throw siteFailed('the page of the booking');
  if (isCancelled) await purchases.cancelled(shop, reference);
  return find(shop, reference);
}
