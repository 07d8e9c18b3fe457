import { quoted } from '../../kernel/shell-word.ts';
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
  if (stage === 'unpaid') terminal.aside(['', ...nextLines(bookCommand(intentId, terminal.canAsk))]);
  if (stage === 'captured') terminal.aside(['', ...nextLines(`farelock order ${quoted(intentId)}`)]);
  return 0;
};
