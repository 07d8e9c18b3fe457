import type { Intent } from '../../flights/wire.ts';
import type { Command, CommandContext } from '../context.ts';
import { linkedOf } from '../explorer.ts';
import { whereMoneyIs } from '../interruption.ts';
import { fundingPayment } from '../remembered.ts';
import { settleBookingPayments } from '../settled-payments.ts';
import type { View } from '../terminal.ts';
import { nextLines, quoted } from '../view/payment.ts';
import { hasEnded, type MoneyStage, moneyStage, statusLines } from '../view/status.ts';
import { waitForChange } from '../waiting.ts';

export interface StatusOptions {
  readonly intentId: string;
  readonly watch?: true;
}

const PHASES: Partial<Record<MoneyStage, string>> = {
  unpaid: 'Waiting for the payment',
  review: 'Waiting for the operator',
};

/** Where the money is. With --watch until it ends: booked is exit 0, refunded is 8. */
export const status: Command<StatusOptions> = async (context, { intentId, watch }) => {
  const { terminal, session, clock, signal } = context;
  await session.work();
  const flights = await session.flights();
  let intent = await flights.intent(intentId, { signal });
  // Only a person is shown who funded it; the journal stays closed under --json.
  const isShown = !terminal.settings.json && intent.booking_requested_at !== null;
  if (isShown) await settleBookingPayments(context, intent);
  const funding = isShown ? await fundingPayment(await session.store(), intent) : null;
  const linked = linkedOf(context);
  const view: View<Intent> = {
    lines: (shown, screen) =>
      statusLines(shown, clock.now(), funding?.transaction ?? null, screen, (text, transaction) =>
        linked(text, transaction, funding?.network ?? ''),
      ),
  };
  if (!watch) {
    terminal.result(intent, view);
    sayNext(context, intent);
    return 0;
  }
  terminal.event(intent, view);
  while (!hasEnded(intent)) {
    const stage = moneyStage(intent, clock.now());
    if (stage === 'expired') break;
    terminal.phase(PHASES[stage] ?? 'Ticketing');
    try {
      intent = await waitForChange(context, flights, intent, stage);
    } catch (error) {
      throw await whereMoneyIs(context, intent, error, `farelock status ${quoted(intentId)} --watch`);
    }
    terminal.event(intent, view);
  }
  sayNext(context, intent);
  return intent.status === 'refunded' ? 8 : 0;
};

function sayNext({ terminal, clock }: CommandContext, intent: Intent): void {
  const next = {
    unpaid: `book ID${terminal.canAsk ? '' : ' --passengers passengers.json'}`,
    captured: 'order ID',
    ticketing: 'status ID --watch',
    capturing: 'status ID --watch',
    review: 'status ID --watch',
    refunding: 'status ID --watch',
    expired: null,
    refunded: null,
  }[moneyStage(intent, clock.now())];
  if (next) terminal.aside(['', ...nextLines(`farelock ${next.replace('ID', intent.intent_id)}`)]);
}
