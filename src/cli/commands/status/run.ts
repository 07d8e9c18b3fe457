import { farelock } from '../../../kernel/shell-word.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import { bookingCutOff, waitForChange } from '../../interruption/index.ts';
import {
  fareNoted,
  intentCommand,
  intentMeant,
  intentOrChain,
  isFromChain,
  isOwn,
  linkedOf,
  NOT_FROM_HERE,
  passengersAsked,
  settleBookingPayments,
  showFromChain,
  standingOf,
} from '../../paying/index.ts';
import { besides, fundingPayment, noteIntent, withReference } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import {
  bookingPhase,
  hasEnded,
  isRefundOpen,
  type MoneyStage,
  moneyStage,
  statusView,
} from '../../view/flights/index.ts';
import { nextLines } from '../../view/index.ts';
import { loadVerify } from '../intent/index.ts';
import type * as spec from './spec.ts';

const PHASES: Partial<Record<MoneyStage, string>> = {
  unpaid: 'Waiting for the payment',
  review: 'Waiting for the operator',
  captured: 'Waiting for the operator to decide the refund',
};

/** With --watch, follows the booking to its end: exit 0 when booked, 8 when refunded. */
export const status: Run<typeof spec.status> = async (context, { intentId: given, watch, verify, refundWallet }) => {
  if (verify) {
    const { intentVerify } = await loadVerify();
    return intentVerify(context, { ...(given && { intentId: given }), ...(refundWallet && { refundWallet }) });
  }
  const { terminal, session, clock } = context;
  await session.work();
  const intentId = await intentMeant(context, given, 'shown');
  const flights = await session.flights();
  const found = await intentOrChain(context, intentId);
  if (isFromChain(found)) return showFromChain(context, found);
  let intent = await withReference(context, flights, found);
  // The journal stays closed under --json: only a person sees the funding payment.
  const isShown = !terminal.settings.json && intent.booking_requested_at !== null;
  if (isShown) await settleBookingPayments(context, intent);
  // This note tells lists which travellers fly.
  if (isShown && intent.passenger_refunds) await besides(context, noteIntent(await session.store(), intent));
  const funding = isShown ? await fundingPayment(await session.store(), intent) : null;
  const view = statusView(context, funding, linkedOf(context), await fareNoted(context, intent));
  if (!watch) {
    terminal.result(intent, view);
    await sayNext(context, intent);
    return 0;
  }
  terminal.event(intent, view);
  while (!hasEnded(intent) || isRefundOpen(intent)) {
    const stage = moneyStage(intent, clock.now());
    if (stage === 'expired') break;
    terminal.phase(PHASES[stage] ?? bookingPhase(intent, stage));
    try {
      intent = await withReference(context, flights, await waitForChange(context, flights, intent, stage));
    } catch (error) {
      throw await bookingCutOff(context, intent, error, farelock`status ${intentId} --watch`);
    }
    terminal.event(intent, view);
  }
  terminal.ended(`${intent.status} ${intent.intent_id}`);
  await sayNext(context, intent);
  return intent.status === 'refunded' ? 8 : 0;
};

async function sayNext(context: CommandContext, intent: Intent): Promise<void> {
  const { terminal, clock, session } = context;
  // A program gets only the document; the journal stays closed.
  if (terminal.settings.json) return;
  const stage = moneyStage(intent, clock.now());
  const standing = stage === 'unpaid' ? await standingOf(session, intent) : null;
  if (standing && !standing.isFromHere) terminal.note(`${NOT_FROM_HERE}.`);
  for (const said of standing?.disagreements ?? []) terminal.note(`${said}.`);
  if (stage === 'expired' || stage === 'refunded') return;
  const isReadyToPay = standing !== null && isOwn(standing);
  const next =
    stage === 'unpaid'
      ? await intentCommand(
          context,
          isReadyToPay ? 'book' : 'status',
          intent,
          isReadyToPay ? passengersAsked(context) : ['--verify'],
        )
      : stage === 'captured' && !isRefundOpen(intent)
        ? await intentCommand(context, 'order', intent)
        : await intentCommand(context, 'status', intent, ['--watch']);
  terminal.aside(['', ...nextLines(next)]);
}
