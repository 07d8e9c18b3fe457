import { quoted } from '../../../kernel/shell-word.ts';
import { isOwn, NOT_FROM_HERE, standingOf } from '../../paying/agreement.ts';
import { intentOrChain, isFromChain, showFromChain } from '../../paying/from-chain.ts';
import type { Command } from '../../spec/command.ts';
import { intentLines } from '../../view/flights/intent.ts';
import { moneyStage } from '../../view/flights/status.ts';
import { bookCommand, nextLines } from '../../view/payment.ts';

export interface IntentIdOptions {
  readonly intentId: string;
}

/** The intent as the service has it; its escrow as the chain has it while the service is silent. */
export const intentShow: Command<IntentIdOptions> = async (context, { intentId }) => {
  const { terminal, session, clock } = context;
  await session.work();
  const intent = await intentOrChain(context, intentId);
  if (isFromChain(intent)) return showFromChain(context, intent);
  terminal.result(intent, { lines: (shown, screen) => intentLines(shown, clock.now(), screen) });
  const stage = moneyStage(intent, clock.now());
  const standing = await standingOf(session, intent);
  if (!standing.isFromHere) terminal.note(`${NOT_FROM_HERE}.`);
  for (const said of standing.disagreements) terminal.note(`${said}.`);
  if (stage === 'unpaid') {
    const next = isOwn(standing)
      ? bookCommand(intentId, terminal.canAsk)
      : `farelock intent verify ${quoted(intentId)}`;
    terminal.aside(['', ...nextLines(next)]);
  }
  if (stage === 'captured') terminal.aside(['', ...nextLines(`farelock order ${quoted(intentId)}`)]);
  return 0;
};
