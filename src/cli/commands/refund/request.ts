import { travellersNamed } from '../../../kernel/domain/payout-names.ts';
import { refundRuleOf } from '../../../kernel/domain/refund-rule.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { fromNow, utcTime, wrap } from '../../../terminal/index.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import { intentCommand, intentMeant, linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { askText, notesOf, supportCodeOf, withReference } from '../../session/index.ts';
import { settingsIn } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { conditionText } from '../../view/flights/index.ts';
import { costLines, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/**
 * Takes the support code and the family name from FARELOCK_SUPPORT_CODE and FARELOCK_FAMILY_NAME, or else the
 * remembered ones; asks for a name that is not known. Neither is ever in argv.
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
  const { isWhole, intent, ...expected } = await expectedOf(context, options.intentId, options.passenger, supportCode);
  const whose = options.passenger ? `${travellersNamed(options.passenger)} of ` : '';
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
    ...(options.passenger !== undefined && { passengers: options.passenger }),
  };
  const identity = { supportCode, familyName };
  if (globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    return planPaid(context, (flights) => flights.requestRefund(request, identity, { signal }), {
      after: [`File the refund request for ${whose}${options.intentId}.`],
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
      `${paint.good('✓')} Refund requested for ${whose}${intent.booking_reference ?? filed.intent_id}`,
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
 * Facts to show before a request is paid for: an earlier request and its end, the refund rule, the refund by this rule.
 * `isPromising`: something is likely to come back. `isWhole`: all of it, because the airline cancelled the booking.
 * @throws Problem `intent_not_found`
 */
async function expectedOf(
  context: CommandContext,
  intentId: string,
  passengers: readonly number[] | undefined,
  supportCode: string,
) {
  const { session, signal, clock, terminal } = context;
  const { usdc } = terminal;
  const { fare } = notesOf(await (await session.store()).intent(intentId));
  const flights = await session.flights();
  const found = await flights.intent(intentId, { signal });
  const isPart = passengers !== undefined || found.passenger_refunds !== undefined;
  const intent = isPart
    ? await flights.intent(intentId, { signal, supportCode })
    : await withReference(context, flights, found);
  const { refund_request: before } = intent;
  const wasRejected = before?.state === 'rejected';
  const part = isPart ? partOf(intent, passengers) : null;
  const paid = part ? part.paid : BigInt(intent.escrow.amount);
  if (intent.cancelled_by === 'airline') {
    const line = `The airline cancelled this booking, so the fare rule does not apply. Expected refund: ${formatUsdc(paid)} of ${usdc(paid)}.`;
    return { intent, lines: [line], isPromising: true, isWhole: true };
  }
  const payout = part ? part.payout : fare ? refundRuleOf(fare, paid).payout : null;
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
    ? `${byFare === 'no' ? 'This fare is non-refundable.' : `Refund rule${part ? ' of the whole booking' : ''}: ${byFare}.`} ${expected}`
    : 'The refund rule of the fare is not known on this machine; the operator applies it.';
  const shares = part ? [`Paid for ${part.said}: ${usdc(paid)} of ${usdc(intent.escrow.amount)}.`] : [];
  const lines = [...(rejected === null ? [] : [rejected]), ...shares, rule];
  return { intent, lines, isPromising: !wasRejected && payout !== 0n, isWhole: false };
}

/** The share of the named travellers, or else of those not refunded yet; null if the service does not give it. */
function partOf({ passengers = [] }: Intent, named: readonly number[] | undefined) {
  const chosen = passengers.filter(({ passenger, status }) => named?.includes(passenger) ?? status !== 'refunded');
  const sum = (amounts: readonly (number | null)[]) =>
    amounts.reduce<bigint | null>((all, one) => (all === null || one === null ? null : all + BigInt(one)), 0n);
  const paid = sum(chosen.map((one) => one.paid_amount));
  if (chosen.length === 0 || paid === null) return null;
  const said = travellersNamed(chosen.map(({ passenger }) => passenger));
  return { paid, payout: sum(chosen.map((one) => one.refund_amount)), said };
}
