import { isProblem, problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { supportCodeOf } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { orderLines } from '../../view/flights/index.ts';
import { costLines, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** The airline order. The support code is the remembered one, or that of FARELOCK_SUPPORT_CODE. */
export const order: Run<typeof spec.order> = async (context, { id, ics }) => {
  const { terminal, session, signal } = context;
  if (ics !== undefined) {
    const { checkCalendarFile } = await import('./calendar-file.ts');
    checkCalendarFile(context, ics);
  }
  await session.work();
  const { orderId, supportCode } = await findOrder(context, id);
  if (context.globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    return planPaid(context, (flights) => flights.order(orderId, supportCode, { signal }), {
      after: ics === undefined ? ['Show the order.'] : [`Write the calendar to ${ics}.`],
      facts: { order_id: orderId },
    });
  }
  const flights = await session.flights();
  const { value, payment } = await flights.order(orderId, supportCode, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the order' : 'Reading the order'),
  });
  if (ics !== undefined) {
    const { writeCalendar } = await import('./calendar-file.ts');
    writeCalendar(context, ics, value);
  }
  if (ics !== '-') terminal.result(withPayment(value, payment), { lines: orderLines });
  const next = ics === undefined && value.slices.length > 0 ? `farelock order ${quoted(id)} --ics trip.ics` : null;
  terminal.aside(['', ...costLines(payment, linkedOf(context)), ...(next ? nextLines(next) : [])]);
  return 0;
};

async function findOrder(
  { session, environment, signal }: CommandContext,
  id: string,
): Promise<{ orderId: string; supportCode: string }> {
  const given = environment.FARELOCK_SUPPORT_CODE?.trim();
  const supportCode = given || (await supportCodeOf(await session.store(), id));
  const flights = await session.flights();
  if (id.startsWith('ord_') || id.startsWith('lowcost:')) {
    if (!supportCode) throw problem('no_support_code');
    return { orderId: id, supportCode };
  }
  try {
    const intent = await flights.intent(id, { signal });
    if (intent.order_id === null) {
      throw problem('order_not_found', {
        message: 'That intent has no order yet.',
        fix: intent.status === 'refunded' ? 'It was refunded.' : 'Follow it until it is booked.',
        next: [`farelock status ${quoted(id)} --watch`],
      });
    }
    if (!supportCode) throw problem('no_support_code');
    return { orderId: intent.order_id, supportCode };
  } catch (error) {
    // Another deployment's order ids may have another form.
    if (!isProblem(error, 'intent_not_found') || !supportCode) throw error;
    return { orderId: id, supportCode };
  }
}
