import type { FlightsClient } from '../../../client/index.ts';
import { isProblem, type Problem, problem, reworded } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { isOwn, linkedOf, loadPaidPlan, standingOf } from '../../paying/index.ts';
import { besides, noteIntent } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { createdIntentLines } from '../../view/flights/index.ts';
import { bookCommand, costLines, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** Shows the support code once, and remembers it for the commands that need it. */
export const intentCreate: Run<typeof spec.intentCreate> = async (context, options) => {
  const { terminal, session, clock, signal } = context;
  const offerId = session.recentOffers.resolve(options.offerId);
  const wallet = await session.wallet();
  const request = {
    funding_wallet: wallet.address,
    offer_id: offerId,
    ...(options.refundWallet !== undefined && { refund_wallet: options.refundWallet }),
    ...(options.referrer !== undefined && { referrer: options.referrer }),
  };
  if (context.globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    return planPaid(context, (flights) => flights.createIntent(request, { signal }), {
      after: ['Save the intent and its support code on this machine.'],
      facts: { request },
    });
  }
  const flights = await session.flights();
  try {
    const { value, payment } = await lockFare(context, flights, request, 'intent');
    terminal.result(withPayment(value, payment), {
      lines: (intent, screen) => createdIntentLines(intent, clock.now(), screen),
    });
    const standing = await standingOf(session, value);
    for (const said of standing.disagreements) terminal.note(`${said}.`);
    const next =
      standing.disagreements.length === 0
        ? bookCommand(value.intent_id, terminal.canAsk)
        : `farelock status ${value.intent_id} --verify`;
    terminal.aside(['', ...costLines(payment, linkedOf(context)), ...nextLines(next)]);
    return 0;
  } catch (error) {
    // A fare of a lowcost offer can be locked while its menu is fresh.
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

/** Locks a fare, and remembers the intent with its support code. `name` is for the phase of its payment. */
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
  return created;
}

/**
 * The intent that prevents a new one, where this home made it and would pay it, and the problem to raise. An intent that
 * was made elsewhere must not be paid: its maker has chosen the refund wallet, and has the support code.
 */
export async function existingIntent({ session, signal }: CommandContext, error: Problem) {
  const id = error.detail?.intent_id;
  const isKnown = typeof id === 'string' && (await (await session.store()).intent(id)) !== undefined;
  const intent = isKnown ? await (await session.flights()).intent(id, { signal }) : null;
  const own = intent && isOwn(await standingOf(session, intent)) ? intent : null;
  const how = own
    ? { message: error.message, fix: 'Book that one, or let it expire.', next: [farelock`status ${own.intent_id}`] }
    : {
        message: 'This wallet has already locked this offer, but not from here.',
        fix: 'Do not pay that one: someone else may have created it. Wait up to 30 minutes until it expires, or choose another offer.',
        charged: 'nothing' as const,
      };
  const detail = error.detail && { detail: error.detail };
  return { own, problem: problem('intent_already_exists', { ...how, ...detail, cause: error }) };
}
