import { farelock } from '../../../kernel/shell-word.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import { bookingCutOff, waitForChange } from '../../interruption/index.ts';
import {
  intentOrChain,
  isFromChain,
  isOwn,
  linkedOf,
  NOT_FROM_HERE,
  settleBookingPayments,
  showFromChain,
  standingOf,
} from '../../paying/index.ts';
import { fundingPayment, withReason } from '../../session/index.ts';
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

/** With --watch it ends with the booking: booked is exit 0, refunded is 8. */
export const status: Run<typeof spec.status> = async (context, { intentId, watch, verify, refundWallet }) => {
  if (verify) return (await loadVerify()).intentVerify(context, { intentId, ...(refundWallet && { refundWallet }) });
  const { terminal, session, clock } = context;
  await session.work();
  const flights = await session.flights();
  const found = await intentOrChain(context, intentId);
  if (isFromChain(found)) return showFromChain(context, found);
  let intent = await withReason(context, flights, found);
  // The journal stays closed under --json: only a person sees the funding payment.
  const isShown = !terminal.settings.json && intent.booking_requested_at !== null;
  if (isShown) await settleBookingPayments(context, intent);
  const funding = isShown ? await fundingPayment(await session.store(), intent) : null;
  const view = statusView(context, funding, linkedOf(context));
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
      intent = await withReason(context, flights, await waitForChange(context, flights, intent, stage));
    } catch (error) {
      throw await bookingCutOff(context, intent, error, farelock`status ${intentId} --watch`);
    }
    terminal.event(intent, view);
  }
  terminal.ended(`${intent.status} ${intent.intent_id}`);
  await sayNext(context, intent);
  return intent.status === 'refunded' ? 8 : 0;
};

async function sayNext({ terminal, clock, session }: CommandContext, intent: Intent): Promise<void> {
  // A program gets only the document; the journal stays closed.
  if (terminal.settings.json) return;
  const stage = moneyStage(intent, clock.now());
  const standing = stage === 'unpaid' ? await standingOf(session, intent) : null;
  if (standing && !standing.isFromHere) terminal.note(`${NOT_FROM_HERE}.`);
  for (const said of standing?.disagreements ?? []) terminal.note(`${said}.`);
  const next = {
    unpaid:
      standing && isOwn(standing)
        ? `book ID${terminal.canAsk ? '' : ' --passengers passengers.json'}`
        : 'status ID --verify',
    captured: isRefundOpen(intent) ? 'status ID --watch' : 'order ID',
    ticketing: 'status ID --watch',
    capturing: 'status ID --watch',
    review: 'status ID --watch',
    refunding: 'status ID --watch',
    expired: null,
    refunded: null,
  }[stage];
  if (next) terminal.aside(['', ...nextLines(`farelock ${next.replace('ID', intent.intent_id)}`)]);
}
