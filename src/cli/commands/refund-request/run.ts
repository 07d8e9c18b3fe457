import { problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { linkedOf } from '../../paying/explorer.ts';
import { supportCodeOf } from '../../session/remembered.ts';
import type { Command, CommandContext } from '../../spec/command.ts';
import { costLines, nextLines, withPayment } from '../../view/payment.ts';

interface RefundRequestOptions {
  readonly intentId: string;
  readonly reason?: string;
  readonly contact?: string;
}

/**
 * Files a refund request. The support code and the family name are those remembered from here, else those of
 * FARELOCK_SUPPORT_CODE and FARELOCK_FAMILY_NAME, else the name is asked for: neither ever stands in argv.
 */
export const refundRequest: Command<RefundRequestOptions> = async (context, options) => {
  const { terminal, session, environment, signal } = context;
  await session.work();
  const store = await session.store();
  const supportCode =
    environment.FARELOCK_SUPPORT_CODE?.trim() || (await supportCodeOf(store, options.intentId));
  if (!supportCode) throw problem('no_support_code');
  const familyName =
    environment.FARELOCK_FAMILY_NAME?.trim() ||
    (await store.leadOf(options.intentId)) ||
    (await asked(context, 'FARELOCK_FAMILY_NAME', "The lead passenger's family name"));
  const reason = options.reason ?? (await asked(context, '--reason', 'Why is a refund asked for', 1000));
  const request = {
    intent_id: options.intentId,
    reason,
    ...(options.contact === undefined ? {} : { contact: options.contact }),
  };
  const identity = { supportCode, familyName };
  if (context.globals.dryRun) {
    const { planPaid } = await import('../../paying/paid-plan.ts');
    return planPaid(context, (flights) => flights.requestRefund(request, identity, { signal }), {
      after: [`File the refund request for ${options.intentId}.`],
      facts: { intent_id: options.intentId },
    });
  }
  const flights = await session.flights();
  const { value, payment } = await flights.requestRefund(request, identity, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the request' : 'Filing the request'),
  });
  terminal.result(withPayment(value, payment), {
    lines: (filed, { paint }) => [
      `${paint.good('✓')} Refund requested for ${filed.intent_id}`,
      'A person looks at it; the fare rules decide how much comes back.',
    ],
  });
  terminal.aside([
    '',
    ...costLines(payment, linkedOf(context)),
    ...nextLines(`farelock status ${quoted(options.intentId)}`),
  ]);
  return 0;
};

const asked = ({ terminal }: CommandContext, option: string, question: string, most = 80): Promise<string> =>
  terminal
    .ask(option)
    .text(question, async (typed) =>
      typed === '' ? 'Write something.' : typed.length > most ? `At most ${most} characters.` : null,
    );
