import { isOwn, NOT_FROM_HERE, standingOf } from '../agreement.ts';
import type { Command } from '../context.ts';
import { intentLines } from '../view/intent.ts';
import { bookCommand, nextLines } from '../view/payment.ts';
import { moneyStage } from '../view/status.ts';

export interface IntentIdOptions {
  readonly intentId: string;
}

/** The intent as the service has it. */
export const intentShow: Command<IntentIdOptions> = async (
  { terminal, session, clock, signal },
  { intentId },
) => {
  await session.work();
  const flights = await session.flights();
  const intent = await flights.intent(intentId, { signal });
  terminal.result(intent, { lines: (shown, screen) => intentLines(shown, clock.now(), screen) });
  const stage = moneyStage(intent, clock.now());
  const standing = await standingOf(session, intent);
  if (!standing.isFromHere) terminal.note(`${NOT_FROM_HERE}.`);
  for (const said of standing.disagreements) terminal.note(`${said}.`);
  if (stage === 'unpaid') {
    const next = isOwn(standing)
      ? bookCommand(intentId, terminal.canAsk)
      : `farelock intent verify ${intentId}`;
    terminal.aside(['', ...nextLines(next)]);
  }
  if (stage === 'captured') terminal.aside(['', ...nextLines(`farelock order ${intentId}`)]);
  return 0;
};
