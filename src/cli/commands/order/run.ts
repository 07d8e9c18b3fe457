import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KnownOrder } from '../../../client/base/index.ts';
import { travellersNamed } from '../../../kernel/domain/payout-names.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { capital } from '../../../terminal/index.ts';
import { intentCommand, intentMeant, linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { supportCodeOf } from '../../session/index.ts';
import { settingsIn } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { orderLines } from '../../view/flights/index.ts';
import { costLines, nextLines, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** Takes the support code from FARELOCK_SUPPORT_CODE, or else the remembered one. */
export const order: Run<typeof spec.order> = async (context, { id: given, ics }) => {
  const { terminal, session, signal } = context;
  if (ics !== undefined) checkCalendarFile(context, ics);
  await session.work();
  const id = await intentMeant(context, given, 'order');
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
  if (ics !== undefined) await writeCalendar(context, ics, value);
  if (ics !== '-') terminal.result(withPayment(value, payment), { lines: orderLines });
  const own = ics === undefined && value.slices.length > 0 ? { intent_id: id, offer_id: '' } : null;
  const next = own && (await intentCommand(context, 'order', own, ['--ics', 'trip.ics']));
  terminal.aside(['', ...costLines(payment, linkedOf(context)), ...(next ? nextLines(next) : [])]);
  return 0;
};

async function findOrder({ session, environment, signal }: CommandContext, id: string) {
  const given = settingsIn(environment)('support_code');
  const supportCode = given || (await supportCodeOf(await session.store(), id));
  const flights = await session.flights();
  const ofOrder = (orderId: string) => {
    if (!supportCode) throw problem('no_support_code');
    return { orderId, supportCode };
  };
  if (id.startsWith('ord_') || id.startsWith('lowcost:')) return ofOrder(id);
  try {
    const intent = await flights.intent(id, { signal });
    if (intent.order_id !== null) return ofOrder(intent.order_id);
    const isLocked = intent.status === 'active' && intent.booking_requested_at === null;
    throw problem('order_not_found', {
      message: 'It has no airline order yet.',
      fix: isLocked
        ? 'Book it first.'
        : intent.status === 'refunded'
          ? 'It was refunded.'
          : 'Follow it until it is booked.',
      next: [isLocked ? farelock`book ${id}` : farelock`status ${id} --watch`],
    });
  } catch (error) {
    // Another deployment's order ids may have another form.
    if (!isProblem(error, 'intent_not_found') || !supportCode) throw error;
    return ofOrder(id);
  }
}

/** Refuses to overwrite a file before anything is paid. @throws Problem `usage` */
function checkCalendarFile({ globals, terminal }: CommandContext, path: string): void {
  if (path === '-') {
    if (!terminal.settings.json) return;
    throw problem('usage', {
      message: '--json and --ics - both write to standard output.',
      fix: 'Write --ics to a file, or leave out --json.',
    });
  }
  if (existsSync(resolve(path)) && !globals.yes) throw exists(path);
}

const exists = (path: string, cause?: unknown) =>
  problem('usage', { message: `${path} exists.`, fix: 'Choose another file, or overwrite it with --yes.', cause });

/** `Travellers 1 and 2 fly; refunded: traveller 3`; undefined if none or all were refunded. */
function flyingOf({ passengers = [] }: KnownOrder): string | undefined {
  const numbers = (isGone: boolean) =>
    passengers.filter(({ status }) => (status === 'refunded') === isGone).map(({ passenger }) => passenger);
  const [flying, gone] = [numbers(false), numbers(true)];
  if (gone.length === 0 || flying.length === 0) return undefined;
  return `${capital(travellersNamed(flying))} ${flying.length === 1 ? 'flies' : 'fly'}; refunded: ${travellersNamed(gone)}`;
}

/** Writes a calendar with an event for each flight; overwrites a file only under --yes. */
async function writeCalendar(context: CommandContext, path: string, order: KnownOrder): Promise<void> {
  const { terminal, streams, clock, globals } = context;
  if (order.slices.length === 0) {
    terminal.note('The order has no flights to put in a calendar.');
    return;
  }
  const { journeyIcs } = await import('../../../kernel/domain/ics.ts');
  const text = journeyIcs({
    reference: order.order_id,
    bookingReference: order.booking_reference,
    travellers: flyingOf(order),
    stampMs: clock.now(),
    slices: order.slices,
    seats: order.seats,
  });
  if (path === '-') {
    terminal.settle();
    streams.stdout.write(text);
    return;
  }
  try {
    // Without --yes, refuses a file that has appeared meanwhile. Mode 0600: an itinerary is private.
    writeFileSync(resolve(path), text, { flag: globals.yes ? 'w' : 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST') throw exists(path, error);
    throw problem('file_unreadable', {
      message: `${path} could not be written.`,
      fix: 'Check its folder and permissions, then run the same command again: the order is not paid for twice.',
      cause: error,
    });
  }
  terminal.done(`Wrote ${path}`);
}
