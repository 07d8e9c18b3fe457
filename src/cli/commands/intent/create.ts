import type { FlightsClient } from '../../../client/index.ts';
import type { Bags } from '../../../kernel/domain/bags.ts';
import { isProblem, type Problem, problem, reworded } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { intentCommand, isOwn, linkedOf, loadPaidPlan, passengersAsked, standingOf } from '../../paying/index.ts';
import { askedBags, bagFlags, bagsIn, loadSeats } from '../../searching/index.ts';
import { besides, noteIntent } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { createdIntentLines, priceShown } from '../../view/flights/index.ts';
import { costLines, isLockable, isMenuOffer, lockCommand, money, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** Locks a fare. Shows the support code once, and remembers it for the commands that need it. */
export const intentCreate: Run<typeof spec.intentCreate> = async (context, options) => {
  const { terminal, session, clock, signal } = context;
  const offerId = session.recentOffers.resolve(options.offerId);
  // A low-cost row locks the cheapest fare of its menu; an offer id locks exactly that offer.
  const row = isMenuOffer(offerId) && offerId !== options.offerId ? options.offerId : null;
  // A row of a list is locked with the bags that its price includes.
  const bags = askedBags(bagsIn(options) ?? session.recentOffers.bagsOf(options.offerId));
  // Refused before a fare menu is paid for.
  if (options.seats && offerId.startsWith('lowcost:')) throw problem('seats_unavailable');
  const fare = session.recentOffers.journey(offerId)?.fare ?? null;
  const seats = options.seats && { seats: (await loadSeats()).seatsIn(options.seats, fare) };
  const wallet = await session.wallet();
  const request = {
    ...bags,
    ...seats,
    funding_wallet: wallet.address,
    offer_id: offerId,
    ...(options.refundWallet !== undefined && { refund_wallet: options.refundWallet }),
    ...(options.referrer !== undefined && { referrer: options.referrer }),
  };
  if (context.globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    if (row !== null) {
      return planPaid(context, (flights) => flights.offerDetails(offerId, { signal, ...bags }), {
        after: [(usdc) => `Lock the cheapest fare of its menu, for ${usdc('0.10')}.`],
        facts: { request },
      });
    }
    return planPaid(context, (flights) => flights.createIntent(request, { signal }), {
      after: ['Save the intent and its support code on this machine.'],
      facts: { request },
    });
  }
  const flights = await session.flights();
  try {
    const menu = row === null ? null : await openMenu(context, flights, { row, id: offerId, ...bags });
    const wanted = menu ? { ...request, offer_id: menu.offerId } : request;
    const { value, payment } = await lockFare(context, flights, wanted, 'intent');
    const { fare: locked = null } = session.recentOffers.journey(value.offer_id) ?? {};
    terminal.result(withPayment(value, payment), {
      lines: (intent, screen) => createdIntentLines(intent, locked, clock.now(), screen, terminal.settings.verbose),
    });
    if (seats && !value.seats) terminal.note('This service locked the fare without those seats.');
    const standing = await standingOf(session, value);
    for (const said of standing.disagreements) terminal.note(`${said}.`);
    const next =
      standing.disagreements.length === 0
        ? await intentCommand(context, 'book', value, passengersAsked(context))
        : await intentCommand(context, 'status', value, ['--verify']);
    const costs = [menu?.payment ?? null, payment].flatMap((one) => costLines(one, linkedOf(context)));
    terminal.aside(['', ...costs, ...nextLines(next)]);
    return 0;
  } catch (error) {
    // A fare of a low-cost offer can be locked only while its menu is fresh.
    if (isProblem(error, 'fare_menu_expired', 'invalid_fare_index')) {
      throw reworded(error, {
        fix: 'Open the fare menu, then lock one of its fares.',
        charged: 'nothing',
        next: [farelock`offer ${offerId.split('##', 1)[0] ?? offerId}`],
      });
    }
    if (!isProblem(error, 'intent_already_exists')) throw error;
    throw (await existingIntent(context, error)).problem;
  }
};

/**
 * Opens the fare menu of a row, and picks its cheapest fare if that costs no more than the list showed.
 * @throws Problem `fare_check_failed`, `offer_repriced`
 */
async function openMenu(
  { terminal, session, signal }: CommandContext,
  flights: FlightsClient,
  { row, id, bags }: { readonly row: string; readonly id: string; readonly bags?: Bags },
) {
  const { usdc } = terminal;
  const listed = session.recentOffers.journey(id)?.fare;
  terminal.review([`Row ${row} is low-cost: its fare menu costs ${usdc('0.10')}, the lock ${usdc('0.10')}.`]);
  const { value, payment } = await flights.offerDetails(id, {
    signal,
    ...(bags && { bags }),
    onPhase: () => terminal.phase('Opening the fare menu'),
  });
  const { offer, fare_menu: menu } = value;
  if (menu?.status === 'pending') {
    const message = 'The fares of that flight are still being looked up.';
    throw problem('fare_check_failed', { message, fix: 'Run the command again.', charged: 'nothing' });
  }
  const numbers = await session.recentOffers.rememberMenu(offer, menu?.fares ?? []);
  const [cheapest] = (menu?.fares ?? [])
    .filter(isLockable)
    .toSorted((a, b) => Number(priceShown(a) ?? Infinity) - Number(priceShown(b) ?? Infinity));
  if (!cheapest) throw problem('fare_check_failed', { next: [farelock`offer ${row}`] });
  const { offer_id: offerId } = cheapest;
  const [price, before] = [priceShown(cheapest), listed && priceShown(listed)];
  if (price === null) throw problem('bags_unavailable', { next: [farelock`offer ${row}`] });
  if (before != null && Number(price) <= Number(before)) return { offerId, payment };
  throw problem('offer_repriced', {
    message: `The cheapest fare of row ${row} costs ${money(price)} USD; the list showed ${before == null ? '–' : money(before)}.`,
    fix: 'Nothing was locked. To lock it at that price, give its number.',
    next: [lockCommand(numbers[offerId] ?? offerId, bagFlags(bags))],
  });
}

/** Locks a fare, and remembers the intent with its support code. `name` appears in the progress line. */
export async function lockFare(
  context: CommandContext,
  flights: FlightsClient,
  request: Parameters<FlightsClient['createIntent']>[0],
  name: 'intent' | 'lock',
): ReturnType<FlightsClient['createIntent']> {
  const { terminal, session, signal } = context;
  const created = await flights.createIntent(request, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? `Paying for the ${name}` : 'Locking the fare'),
  });
  await besides(
    context,
    noteIntent(await session.store(), created.value, session.recentOffers.journey(request.offer_id)),
  );
  session.recentOffers.rememberIntent(created.value.intent_id);
  return created;
}

/**
 * Finds the intent that prevents a new one, and the problem to raise. `own` is null unless this home made the intent:
 * one that was made elsewhere must not be paid, because its maker chose the refund wallet and has the support code.
 */
export async function existingIntent(context: CommandContext, error: Problem) {
  const { session, signal } = context;
  const id = error.detail?.intent_id;
  const isKnown = typeof id === 'string' && (await (await session.store()).intent(id)) !== undefined;
  const intent = isKnown ? await (await session.flights()).intent(id, { signal }) : null;
  const own = intent && isOwn(await standingOf(session, intent)) ? intent : null;
  const how = own
    ? {
        message: error.message,
        fix: 'Book that one, or let it expire.',
        next: [await intentCommand(context, 'book', own)],
      }
    : {
        message: 'This wallet has already locked this offer, but not from here.',
        fix: 'Do not pay that one: someone else may have created it. Wait up to 30 minutes until it expires, or choose another offer.',
        charged: 'nothing' as const,
      };
  const detail = error.detail && { detail: error.detail };
  return { own, problem: problem('intent_already_exists', { ...how, ...detail, cause: error }) };
}
