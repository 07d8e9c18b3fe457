import { refundRuleOf } from '../../../kernel/domain/refund-rule.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { fromNow, utcTime, wrap } from '../../../terminal/index.ts';
import { intentCommand, intentMeant, linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { askText, notesOf, supportCodeOf, withReference } from '../../session/index.ts';
import { settingsIn } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { conditionText } from '../../view/flights/index.ts';
import { costLines, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/**
 * The support code and the family name are those of FARELOCK_SUPPORT_CODE and FARELOCK_FAMILY_NAME, else those remembered
 * from here; else it asks for the name. Neither is ever in argv.
 */
export const refundRequest: Run<typeof spec.refundRequest> = async (context, given) => {
  const { terminal, session, environment, signal, globals } = context;
  await session.work();
  const options = { ...given, intentId: await intentMeant(context, given.intentId, 'booked') };
  const store = await session.store();
  const supportCode = settingsIn(environment)('support_code') || (await supportCodeOf(store, options.intentId));
  if (!supportCode) throw problem('no_support_code');
  const familyName =
    settingsIn(environment)('family_name') ||
    (await store.leadOf(options.intentId)) ||
    (await askText(context, 'FARELOCK_FAMILY_NAME', "The lead passenger's family name", 80));
  const { isWhole, intent, ...expected } = await expectedOf(context, options.intentId);
  terminal.review(expected.lines.flatMap((line) => wrap(line, terminal.asideScreen.width)));
  const isAsked = !expected.isPromising && !globals.yes && !globals.dryRun && terminal.canAsk;
  if (isAsked) {
    const question = `Request a refund anyway? Filing costs ${terminal.usdc('0.10')}.`;
    if (!(await terminal.ask('--yes').confirm(question, false))) throw problem('payment_declined');
  }
  const reason = options.reason ?? (await askText(context, '--reason', 'Why do you want a refund?', 1000));
  const request = {
    intent_id: options.intentId,
    reason,
    ...(options.contact !== undefined && { contact: options.contact }),
  };
  const identity = { supportCode, familyName };
  if (globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
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
      `${paint.good('✓')} Refund requested for ${intent.booking_reference ?? filed.intent_id}`,
      isWhole
        ? 'An operator will review it. The airline cancelled the booking, so nothing is kept.'
        : 'An operator will review it; the rule of the fare decides how much comes back.',
    ],
  });
  terminal.aside([
    '',
    ...costLines(payment, linkedOf(context)),
    ...nextLines(await intentCommand(context, 'status', intent)),
  ]);
  return 0;
};

/**
 * Facts that count before the request is paid for: an earlier one and its end, the rule of the fare, and the refund by it.
 * `isPromising`: something is likely to come back. `isWhole`: all of it, because the airline cancelled the booking.
 * @throws Problem `intent_not_found`
 */
async function expectedOf(context: CommandContext, intentId: string) {
  const { session, signal, clock, terminal } = context;
  const { usdc } = terminal;
  const { fare } = notesOf(await (await session.store()).intent(intentId));
  const flights = await session.flights();
  const intent = await withReference(context, flights, await flights.intent(intentId, { signal }));
  const { refund_request: before } = intent;
  const wasRejected = before?.state === 'rejected';
  const paid = BigInt(intent.escrow.amount);
  if (intent.cancelled_by === 'airline') {
    const line = `The airline cancelled this booking, so the fare rule does not apply. Expected refund: ${formatUsdc(paid)} of ${usdc(paid)}.`;
    return { intent, lines: [line], isPromising: true, isWhole: true };
  }
  const payout = fare ? refundRuleOf(fare, paid).payout : null;
  const why = intent.refund_rejection_reason
    ? `the operator said: “${intent.refund_rejection_reason.replace(/\s+/g, ' ')}”`
    : 'the e-mail to the lead passenger says why.';
  const rejected = wasRejected
    ? `! A request of ${utcTime(before.requested_at)} was rejected ${fromNow(before.decided_at, clock.now())}; ${why} A new one is charged again.`
    : null;
  const expected =
    payout === null
      ? 'The operator decides how much comes back.'
      : `Expected refund: ${payout === 0n ? '' : 'about '}${formatUsdc(payout)} of ${usdc(paid)}.`;
  const byFare = fare && conditionText(fare.conditions, 'refund');
  const rule = fare
    ? `${byFare === 'no' ? 'This fare is non-refundable.' : `Refund rule: ${byFare}.`} ${expected}`
    : 'The refund rule of the fare is not known on this machine; the operator applies it.';
  const lines = rejected === null ? [rule] : [rejected, rule];
  return { intent, lines, isPromising: !wasRejected && payout !== 0n, isWhole: false };
}
