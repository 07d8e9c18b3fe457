import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { Command } from '../context.ts';
import { linkedOf } from '../explorer.ts';
import { noteIntent } from '../remembered.ts';
import { createdIntentLines } from '../view/intent.ts';
import { bookCommand, costLines, nextLines, quoted, withPayment } from '../view/payment.ts';

export interface IntentCreateOptions {
  /** An offer id, or a number of the last search. */
  readonly offerId: string;
  readonly refundWallet?: string;
  readonly referrer?: string;
}

/** Locks an offer. The support code is shown once, and remembered for the commands that need it. */
export const intentCreate: Command<IntentCreateOptions> = async (context, options) => {
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
    const { planPaid } = await import('../paid-plan.ts');
    return planPaid(context, (flights) => flights.createIntent(request, { signal }), {
      after: ['Remember the intent and its support code.'],
      facts: { request },
    });
  }
  const flights = await session.flights();
  try {
    const { value, payment } = await flights.createIntent(request, {
      signal,
      onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the intent' : 'Locking the offer'),
    });
    await noteIntent(await session.store(), value, session.recentOffers.journey(offerId));
    terminal.result(withPayment(value, payment), {
      lines: (intent, screen) => createdIntentLines(intent, clock.now(), screen),
    });
    terminal.aside([
      '',
      ...costLines(payment, linkedOf(context)),
      ...nextLines(bookCommand(value.intent_id, terminal.canAsk)),
    ]);
    return 0;
  } catch (error) {
    if (isProblem(error, 'fare_menu_expired', 'invalid_fare_index')) throw withMenu(error, offerId);
    if (!isProblem(error, 'intent_already_exists')) throw error;
    const existing = error.detail?.intent_id;
    throw problem('intent_already_exists', {
      message: error.message,
      ...(error.detail && { detail: error.detail }),
      fix: 'Book that one, or let it expire.',
      next: typeof existing === 'string' ? [`farelock intent show ${quoted(existing)}`] : [],
      cause: error,
    });
  }
};

/** A fare of a lowcost offer can be locked while its menu is fresh: says how to open it. */
const withMenu = (error: Problem, offerId: string): Problem =>
  problem(error.code, {
    message: error.message,
    fix: 'Open the fare menu, then lock one of its fares; nothing was charged.',
    ...(error.detail && { detail: error.detail }),
    next: [`farelock offer ${quoted(offerId.split('##', 1)[0] ?? offerId)}`],
    cause: error,
  });
