import type { WantedSeat } from '../../../kernel/domain/seats.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../../kernel/problems.ts';
import { farelock, lineOf } from '../../../kernel/shell-word.ts';
import type { Usdc } from '../../../kernel/usdc.ts';
import { fieldLines, fromNow, harmless, harmlessDocument, utcTime, wrap } from '../../../terminal/index.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import {
  agreementTo,
  type BookingAgreed,
  openIntents,
  reviewOf,
  typedAmount,
  verifyIntent,
} from '../../paying/index.ts';
import { askedBags, bagFlags, loadSeats } from '../../searching/index.ts';
import { notesOf, shortOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import {
  createdIntentLines,
  isRefundedElsewhere,
  moneyStage,
  numberedOffers,
  type Review,
  reviewLines,
} from '../../view/flights/index.ts';
import { lockCommand, money } from '../../view/index.ts';
import { book, bookAgreed, checkUnchanged } from '../book/index.ts';
import { loadCreate } from '../intent/index.ts';
import { loadRun } from '../order/index.ts';
import {
  agrees,
  balanceOf,
  bookingCommand,
  bookingCommandNow,
  isTurnedDown,
  type Party,
  paidCall,
  type Step,
  type StepName,
  said,
  sayProblem,
  topUp,
  type Walk,
} from './walk.ts';

/** Locks the fare: opens the escrow. The ticket itself is paid after the review. */
export const lockStep: Step = async (walk) => {
  const { trip } = walk;
  const offerId = trip.offerId;
  if (offerId === null) return 'back';
  const locked = trip.intent?.offer_id === offerId && !hasRunOut(walk, trip.intent) ? trip.intent : null;
  const { usdc } = walk.context.terminal;
  const stateOf = (intent: Intent) =>
    `${usdc(intent.escrow.amount)}, expires ${fromNow(intent.expires_at, walk.context.clock.now())}`;
  const question = locked
    ? `This fare is locked: ${stateOf(locked)}.`
    : `Lock this fare for ${usdc('0.10')}? This opens its escrow; you pay for the ticket after the review.`;
  const answer = await walk.ask.choose<'lock' | 'seats' | 'other'>({
    message: question,
    lines: [
      { name: locked ? 'Continue' : 'Lock it', value: 'lock' },
      ...(locked || offerId.startsWith('lowcost:')
        ? []
        : [{ name: seatsLine(walk, offerId), value: 'seats' as const }]),
      { name: 'Choose another fare', value: 'other' },
    ],
  });
  if (answer.kind === 'back' || answer.value === 'other') return 'back';
  if (locked) return 'passengers';
  try {
    if (answer.value === 'seats') {
      await (await import('./seats.ts')).chooseSeats(walk, offerId);
      return 'lock';
    }
    trip.intent = await lock(walk, offerId);
    if (!trip.isPartyKept) trip.party = null;
    const flags = [...bagFlags(trip.bags), ...(await loadSeats()).seatFlags(seatsOf(walk, offerId))];
    said(walk, 'Locked', stateOf(trip.intent), lockCommand(shortOf(walk.context, offerId), flags));
    return 'passengers';
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    if (isProblem(error, 'seats_unavailable', 'seat_unavailable')) {
      trip.seats = null;
      await sayProblem(walk, error, sameLock(offerId));
      return 'lock';
    }
    await sayProblem(walk, error, sameLock(offerId));
    return 'itinerary';
  }
};

const seatsOf = ({ trip }: Walk, offerId: string): readonly WantedSeat[] =>
  trip.seats?.offerId === offerId ? trip.seats.chosen : [];

function seatsLine(walk: Walk, offerId: string): string {
  if (seatsOf(walk, offerId).length > 0) return `Change the seats: ${walk.trip.seats?.said}`;
  const isRead = walk.trip.seats?.offerId === offerId;
  return isRead ? 'Choose seats first' : `Choose seats first; reading them costs ${walk.context.terminal.usdc('0.01')}`;
}

const sameLock = (offerId: string) => ({ name: 'intent create', ...lockCommand(offerId), options: { offerId } });

/** Locks a fare, or finds the intent that has locked it. */
async function lock(walk: Walk, offerId: string): Promise<Intent> {
  const { session, terminal, clock } = walk.context;
  const { address } = await session.wallet();
  const flights = await session.flights();
  const { existingIntent, lockFare } = await loadCreate();
  const { found } = walk.trip;
  // Searches in other terminals may have pushed the list out of the recent offers.
  if (found && session.recentOffers.journey(offerId) === null)
    await session.recentOffers.remember(found.list.offers, numberedOffers(found.list, true), walk.trip.bags);
  try {
    const seats = seatsOf(walk, offerId);
    const request = {
      ...{ funding_wallet: address, offer_id: offerId, ...askedBags(walk.trip.bags) },
      ...(seats.length > 0 && { seats: [...seats] }),
    };
    const { value } = await paidCall(walk, 'the lock', () => lockFare(walk.context, flights, request, 'lock'));
    terminal.settle();
    const { fare = null } = session.recentOffers.journey(offerId) ?? {};
    const lines = createdIntentLines(harmlessDocument(value), fare, clock.now(), terminal.asideScreen);
    for (const line of lines) terminal.note(line);
    await session.paidHere.shown();
    return value;
  } catch (error) {
    if (!isProblem(error, 'intent_already_exists')) throw error;
    // The walk continues only with a lock that was made from here.
    const { own, problem } = await existingIntent(walk.context, error);
    if (own === null) throw problem;
    return own;
  }
}

export const hasRunOut = ({ context: { clock } }: Pick<Walk, 'context'>, intent: Intent): boolean =>
  Date.parse(intent.expires_at) <= clock.now();

/** Shows the amount, the payee and the wallet, asks, and books. */
export const reviewStep: Step = async (walk) => {
  const { trip, context } = walk;
  const { intent, party } = trip;
  if (!intent || !party) return 'back';
  if (hasRunOut(walk, intent)) {
    context.terminal.note(`The lock has expired: the fare could be booked until ${utcTime(intent.expires_at)}.`);
    return goOnWithoutLock(walk, intent, true);
  }
  const escrow = await escrowText(walk, intent);
  const { amount, mustType, overLimit } = await agreementTo(context, intent);
  let balance = await balanceOf(walk);
  if (balance < amount) {
    await topUp(walk, amount - balance);
    balance = await balanceOf(walk);
  }
  const review = await reviewOf(context, intent, party.passengers);
  show(walk, review, escrow, balance);
  if (overLimit !== null) context.terminal.note(overLimit);
  walk.transcript.same(bookingCommand(intent.intent_id, party));
  if (balance < amount) {
    throw problem('insufficient_funds', {
      message: (usdc) => `The booking costs ${usdc(amount)}; the wallet has ${formatUsdc(balance)}.`,
      fix: 'Send USDC to it, then continue; nothing was paid into the escrow.',
      next: [farelock`wallet show`, bookingCommandNow(intent.intent_id, party)],
    });
  }
  const decision = await ask(walk, amount, isRefundedElsewhere(review));
  if (decision === 'back') return 'back';
  if (decision === 'later') return later(walk, intent, party);
  if (mustType) {
    const [message, check] = typedAmount(amount);
    const typed = await walk.ask.text({ message, check });
    if (typed.kind === 'back') return 'review';
  }
  try {
    await checkUnchanged(context, await context.session.flights(), intent);
    return await pay(walk, intent, party, { kind: 'booking', amount, isTyped: mustType });
  } catch (error) {
    if (!isFareGone(error)) throw error;
    // The booking was refused before it was paid.
    trip.booking = null;
    const { argv } = bookingCommand(intent.intent_id, party);
    await sayProblem(walk, error, { name: 'book', argv, options: { intentId: intent.intent_id } });
    return goOnWithoutLock(walk, intent, error.code === 'intent_expired');
  }
};

/** Checks the escrow on chain before the question; the payment checks it again. @throws Problem `escrow_mismatch` */
async function escrowText({ context }: Walk, intent: Intent): Promise<string> {
  context.terminal.phase('Checking the escrow');
  const checks = await verifyIntent(context.session, intent);
  context.terminal.settle();
  const wrong = checks.filter((check) => !check.ok);
  const names = checks.map(({ check }) => check.replaceAll('_', ' '));
  if (wrong.length === 0) return `✓ matches the intent: ${names.join(', ')}`;
  throw problem('escrow_mismatch', {
    detail: { checks: wrong.map(({ check }) => check) },
    next: [farelock`status ${intent.intent_id} --verify`],
  });
}

function show({ context, trip }: Walk, review: Review, escrow: string, balance: bigint): void {
  const { terminal, clock, session } = context;
  const screen = terminal.asideScreen;
  const amount = BigInt(review.intent.escrow.amount);
  const fees = trip.paid.reduce((sum, one) => sum + parseUsdc(one.amount), 0n);
  const paid = trip.paid.map((one) => `${one.what} ${money(one.amount)}`).join(', ');
  const left = balance - amount;
  const facts = fieldLines(screen.paint.dim, [
    ['Profile', session.isEmbedded ? 'play money on the embedded cluster' : session.profile.name],
    ['Wallet', `${screen.paint.usdc(balance)}${left < 0n ? '' : `, ${formatUsdc(left)} afterwards`}`],
    ['Fees', fees === 0n ? 'none on top of the amount' : `none on top; ${screen.paint.usdc(fees)} so far (${paid})`],
  ]);
  const lines = [
    '',
    screen.paint.bold('Review'),
    ...(review.fare === null && trip.journey !== null ? [trip.journey] : []),
    ...reviewLines(review, clock.now(), screen),
    ...facts,
    ...wrap(`Escrow  ${escrow}`, screen.width).map(screen.paint.dim),
  ];
  for (const line of lines) terminal.note(line);
}

/** @param isElsewhere true if a refund would go to another wallet: then Enter alone does not pay */
async function ask(walk: Walk, amount: bigint, isElsewhere: boolean): Promise<'pay' | 'back' | 'later'> {
  const said = walk.context.terminal.usdc(amount);
  const pay = { name: `Pay ${said} and book`, value: 'pay' } as const;
  const later = { name: 'Not now: the fare stays locked', value: 'later' } as const;
  const answer = await walk.ask.choose<'pay' | 'back' | 'later'>({
    message: `Pay ${said} into the escrow and book?`,
    lines: isElsewhere
      ? [later, { name: 'Change the passengers', value: 'back' }, pay]
      : [pay, { name: 'Change the passengers', value: 'back' }, later],
  });
  return answer.kind === 'back' ? 'back' : answer.value;
}

function later({ context: { terminal } }: Walk, intent: Intent, party: Party): ExitCode {
  terminal.note('The ticket is not paid. To continue, run farelock, or:');
  terminal.note(`  ${lineOf(bookingCommandNow(intent.intent_id, party))}`);
  return 0;
}

async function pay(walk: Walk, intent: Intent, party: Party, agreed: BookingAgreed): Promise<ExitCode> {
  const { context, trip } = walk;
  const { intent_id: intentId } = intent;
  trip.booking = { intent, isBooked: false };
  const traveller = party.travellers.flatMap((name) => name ?? []);
  const isSaved = traveller.length === party.travellers.length;
  const options = { intentId, wait: true, ...(isSaved && { traveller }) };
  const code = await bookAgreed(context, options, intent, party.passengers, agreed);
  return code === 0 ? showOrder(walk, intent) : code;
}

/** Asks before it shows the airline order, which costs a cent. */
async function showOrder(walk: Walk, intent: Intent): Promise<ExitCode> {
  const { context, trip } = walk;
  const { intent_id: intentId } = intent;
  trip.booking = { intent, isBooked: true };
  if (!(await agrees(walk, `Show the airline order? It costs ${walk.context.terminal.usdc('0.01')}.`, 'Show it', 'No')))
    return 0;
  walk.transcript.same(farelock`order ${intentId}`);
  const { order } = await loadRun();
  return order(context, { id: intentId });
}

/** Refusals of a booking before its payment: the fare is no longer available as it was locked. */
const isFareGone = (error: unknown): error is Problem =>
  isProblem(
    error,
    ...(['intent_expired', 'offer_expired', 'offer_repriced', 'offer_unavailable', 'fare_menu_expired'] as const),
    ...(['bags_unavailable', 'seats_unavailable', 'seat_unavailable'] as const),
  );

/**
 * Continues after a lock has expired or its fare has changed: locks the same fare again, or searches again with the
 * same passengers.
 * @param mayLock the fare itself may still be available
 */
async function goOnWithoutLock(walk: Walk, intent: Intent, mayLock: boolean): Promise<StepName | ExitCode> {
  const { trip, context } = walk;
  const answer = await walk.ask.choose<'lock' | 'search' | 'leave'>({
    message: 'The ticket is not paid. What would you like to do?',
    lines: [
      ...(mayLock
        ? [{ name: `Lock the same fare again, for ${context.terminal.usdc('0.10')}`, value: 'lock' as const }]
        : []),
      { name: 'Search again, with the same passengers', value: 'search' },
      { name: 'Quit', value: 'leave' },
    ],
  });
  if (answer.kind === 'back') return goOnWithoutLock(walk, intent, mayLock);
  if (answer.value === 'leave') {
    context.terminal.note('Nothing was paid for the ticket. To start again, run farelock.');
    return 0;
  }
  if (answer.value === 'lock') {
    try {
      // If an earlier run made the lock, only the intent has its bags and seats.
      const { bags, seats } = intent;
      if (bags) trip.bags = { checked: bags.checked, carry_on: bags.carry_on };
      const chosen = seats?.chosen.map(({ passenger_index, segment_index, designator }) => ({
        ...{ passenger_index, segment_index, designator },
      }));
      trip.seats ??= { offerId: intent.offer_id, details: null, chosen: chosen ?? [], said: '' };
      trip.intent = await lock(walk, intent.offer_id);
      said(walk, 'Locked', 'again', lockCommand(intent.offer_id));
      return 'review';
    } catch (error) {
      if (!isTurnedDown(error)) throw error;
      await sayProblem(walk, error, sameLock(intent.offer_id));
      return goOnWithoutLock(walk, intent, false);
    }
  }
  Object.assign(trip, { intent: null, isPartyKept: true });
  // If an earlier run locked the fare, its search is not known here.
  return trip.from && trip.to && trip.depart ? 'search' : 'from';
}

const MOST_OFFERED = 5;

type Unfinished = { readonly intent: Intent; readonly route: string; readonly isUnderWay: boolean };

/** Offers to continue unfinished journeys: a locked fare that is not paid, a booking in progress. */
export const resumeStep: Step = async (walk) => {
  const { context, ask, trip } = walk;
  const unfinished = await unfinishedOf(walk);
  if (unfinished.length === 0) return 'from';
  const answer = await ask.choose<Unfinished | null>({
    message: 'Continue where you left off?',
    lines: [
      ...unfinished.map((one) => ({
        name: unfinishedText(one, context.clock.now(), context.terminal.usdc),
        value: one,
      })),
      { name: 'Start a new search', value: null },
    ],
  });
  if (answer.kind === 'back') return 'back';
  if (answer.value === null) return 'from';
  const { intent, route, isUnderWay } = answer.value;
  said(walk, 'Continuing', intent.intent_id, farelock`status ${intent.intent_id}`);
  if (!isUnderWay) {
    trip.intent = intent;
    trip.journey = route;
    trip.offer = null;
    trip.adults = intent.passenger_count;
    return 'passengers';
  }
  trip.booking = { intent, isBooked: false };
  const code = await book(context, { intentId: intent.intent_id, wait: true });
  return code === 0 ? showOrder(walk, intent) : code;
};

const unfinishedOf = async ({ context }: Walk): Promise<Unfinished[]> =>
  (await openIntents(context, MOST_OFFERED)).map(([remembered, intent]) => {
    const { route, departure_date: date } = notesOf(remembered);
    const journey = route === undefined ? intent.intent_id : `${route.replace('-', ' → ')}  ${date ?? ''}`;
    return { intent, route: journey, isUnderWay: moneyStage(intent, context.clock.now()) !== 'unpaid' };
  });

const unfinishedText = ({ intent, route, isUnderWay }: Unfinished, nowMs: number, usdc: Usdc): string =>
  harmless(
    isUnderWay
      ? `${route}  ${usdc(intent.escrow.amount)}  paid, being booked`
      : `${route}  ${usdc(intent.escrow.amount)}  lock ends ${fromNow(intent.expires_at, nowMs)}`,
  );
