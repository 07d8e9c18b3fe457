import type { FlightsClient } from '../../client/index.ts';
import type { PaymentRecord } from '../../client/journal/index.ts';
import { isProblem, type Problem, problem, type Text, textOf } from '../../kernel/problems.ts';
import { farelock, lineOf, type NextStep, quoted } from '../../kernel/shell-word.ts';
import type { Usdc } from '../../kernel/usdc.ts';
import { utcTime } from '../../terminal/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { type Session, signedBooking } from '../session/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { hasEnded, type MoneyStage, moneyStage } from '../view/flights/index.ts';
import { bookingCutOffBy } from './cut-off.ts';

/**
 * The known state of money and records when something is cut off (Ctrl-C, --timeout, a lost connection). Only the first
 * part with content is reported, and nothing uncertain as a fact: a signed payment may have been taken.
 */
export interface Known {
  readonly again: readonly NextStep[];
  /** True for a guided walk, which is repeated by giving the same answers again. */
  readonly isGuided?: true;
  /** The command with the answers of a walk that has paid nothing. */
  readonly typed?: NextStep | undefined;
  /** Payments that may have been taken; their answers are unknown. */
  readonly signed: readonly PaymentRecord[];
  readonly booking?: { readonly intent: Intent; readonly stage: Stage };
  readonly paid: readonly PaymentRecord[];
  /** How to continue after payments, in a walk that has locked nothing. */
  readonly found?: Pick<Story, 'fix' | 'next'>;
  /** The state of the records; absent if only money counts. `look` is the command that shows it. */
  readonly change?: { readonly said: string; readonly look: NextStep | null };
}

/** `locked`, `unlocked`: not paid. `paused`: queued until a command runs. */
export type Stage = 'locked' | 'unlocked' | 'paid' | 'queued' | 'paused' | 'captured' | 'refunded';

export interface Story {
  readonly said: Text;
  readonly fix: string;
  readonly next: readonly NextStep[];
  /** Absent if nothing was paid into an escrow. */
  readonly money?: 'signed' | 'booking' | 'captured' | 'refunded';
  readonly intentId?: string | undefined;
}

/** The problem that ends the command, with the code and the first words of the interruption. */
export const told = (cutOff: Problem, { said, money, intentId, ...how }: Story, cause: unknown): Problem =>
  problem(cutOff.code === 'timed_out' && money === 'booking' ? 'still_booking' : cutOff.code, {
    ...how,
    message: (usdc) => `${cutOff.message} ${textOf(said, usdc)}`,
    detail: { ...cutOff.detail, ...(intentId && { intent_id: intentId }), money: money ?? 'unpaid' },
    cause,
  });

const SAME = 'Run the same command again';

/** Tells the state of the money and the records, and how to continue. */
export function storyOf(known: Known): Story {
  const { signed, booking, paid } = known;
  if (booking) {
    const story = signed[0] ? signedStory(known, signed[0]) : bookingStory(known, booking);
    return { ...story, intentId: booking.intent.intent_id };
  }
  if (signed[0]) return signedStory(known, signed[0]);
  return paid.length > 0 ? paidStory(known) : changeStory(known);
}

function changeStory({ again, change, typed }: Known): Story {
  const said = change?.said ?? 'Nothing was paid.';
  if (typed !== undefined) return { said, fix: 'The first command has your answers.', next: [typed, ...again] };
  return change?.look
    ? { said, fix: 'Check before you run the same command again.', next: [change.look] }
    : { said, fix: `${SAME}.`, next: again };
}

function paidStory({ again, paid, found }: Known): Story {
  const paidAnd =
    (rest: string): Text =>
    (usdc) =>
      `Paid so far: ${paid.map((one) => `${purposeOf(one)} (${usdc(one.amount)})`).join(' and ')}${rest}`;
  if (found) return { ...found, said: paidAnd('; nothing is locked.') };
  return paid.some((one) => one.answer_kept)
    ? {
        said: paidAnd('; the answer is kept.'),
        fix: `${SAME}: it shows the answer, and pays nothing more.`,
        next: again,
      }
    : { said: paidAnd('.'), fix: 'The list of payments has it.', next: [farelock`payments list`] };
}

function signedStory({ again, isGuided, signed }: Known, { open, payment_id, resource }: PaymentRecord): Story {
  const resume = farelock`payments resume ${payment_id}`;
  const sumOf = (one: PaymentRecord, usdc: Usdc) =>
    `${usdc(one.amount)} ${one.resource === BOOK ? 'into' : 'for'} ${purposeOf(one)}`;
  // Searches and look-ups go stale: their payments are resumed for 10 minutes (client/flights.ts).
  const sends = /search|offer-details|orders/.test(resource)
    ? ' within 10 minutes: it sends that payment rather than a second one.'
    : ': it sends that payment, never a second one.';
  return {
    money: 'signed',
    said: (usdc) =>
      `A payment of ${signed.map((one) => sumOf(one, usdc)).join(' and ')} was signed and may have been taken.`,
    fix: `${isGuided ? 'Give the same answers again' : SAME}${open ? sends : ': it resumes and never pays twice.'}`,
    next: [...again.filter((step) => !begins(step, resume.argv)), ...(open ? [resume] : [])],
  };
}

const begins = (step: NextStep, argv: readonly string[]): boolean =>
  'argv' in step && argv.every((word, index) => step.argv[index] === word);

function bookingStory({ again, isGuided }: Known, { intent, stage }: NonNullable<Known['booking']>): Story {
  const { intent_id: id, escrow } = intent;
  const isUnpaid =
    (how: string): Text =>
    (usdc) =>
      `${how}, and the ticket of ${usdc(escrow.amount)} is not paid.`;
  switch (stage) {
    case 'locked':
      return isGuided
        ? {
            said: isUnpaid('The fare is locked'),
            fix: 'Continue before the lock expires: farelock offers it again.',
            next: again,
          }
        : {
            said: `Nothing was paid; the fare stays locked until ${utcTime(intent.expires_at)}.`,
            fix: `${SAME}.`,
            next: again,
          };
    case 'unlocked':
      return isGuided
        ? { said: isUnpaid('The lock has expired'), fix: 'Search again.', next: again }
        : { said: 'Nothing was paid.', fix: `${SAME}.`, next: again };
    case 'captured':
      return {
        money: 'captured',
        said: (usdc) => `The flight is booked. The ${usdc(escrow.amount)} of the escrow are captured.`,
        fix: 'The airline order has the details.',
        next: [farelock`order ${id}`],
      };
    case 'refunded':
      return {
        money: 'refunded',
        said: (usdc) => `${usdc(escrow.amount)} went back to the refund wallet.`,
        fix: 'Look for another fare, or see where the money went.',
        next: [farelock`status ${id}`],
      };
    default:
      return {
        money: 'booking',
        said: (usdc) => `${usdc(escrow.amount)} ${UNDER_WAY[stage]}.`,
        fix: 'Follow it, or run the same command again: it resumes and never pays twice.',
        next: [farelock`status ${id} --watch`],
      };
  }
}

const UNDER_WAY = {
  paid: 'were paid into the escrow',
  queued: 'are in the escrow; the booking continues',
  paused: 'are in the escrow; the booking continues when a command runs',
};

const BOOK = 'POST /air/book';

const PURPOSES: readonly (readonly [resource: string, purpose: string])[] = [
  ['POST /air/search', 'the search'],
  ['POST /air/offer-details', 'the offer'],
  ['POST /air/intents', 'the lock'],
  [BOOK, 'the escrow'],
  ['POST /air/refund-requests', 'the refund request'],
  ['GET /air/orders/', 'the order'],
];

const purposeOf = ({ resource }: PaymentRecord): string =>
  PURPOSES.find(([start]) => resource.startsWith(start))?.[1] ?? resource;

/** The problem of a booking command that was cut off; returns other failures unchanged. */
export async function bookingCutOff(
  context: CommandContext,
  intent: Intent,
  error: unknown,
  /** The next command while nothing is paid. */
  again: NextStep,
): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, context.signal);
  return cutOff ? told(cutOff, storyOf(await knownOfBooking(context, intent, [again])), error) : error;
}

/** The state of a booking by the service or, without a payment on its record, by the tool's journal. */
export async function knownOfBooking(
  context: CommandContext,
  intent: Intent,
  again: readonly NextStep[],
): Promise<Known> {
  const nowMs = context.clock.now();
  const known = (stage: Stage) => ({ again, signed: [], booking: { intent, stage }, paid: [] });
  const served = await stageAtService(context, intent);
  if (served) return known(served);
  const signed = await signedBooking(await context.session.store(), intent);
  if (signed?.state === 'answered') return known('paid');
  const isLocked = !hasEnded(intent) && Date.parse(intent.expires_at) > nowMs;
  return { ...known(isLocked ? 'locked' : 'unlocked'), signed: signed ? [signed] : [] };
}

/** Null while the service has no payment on its record, or does not answer. */
async function stageAtService({ session, clock }: CommandContext, intent: Intent): Promise<Stage | null> {
  try {
    const flights = await session.flights();
    const now = await flights.intent(intent.intent_id, { signal: AbortSignal.timeout(3000) });
    const stage = moneyStage(now, clock.now());
    if (stage === 'captured' || stage === 'refunded') return stage;
    return now.booking_requested_at === null ? null : session.isEmbedded ? 'paused' : 'queued';
  } catch (error) {
    if (!isProblem(error)) throw error;
    return null;
  }
}

const LONGEST_WAIT_MS = 1000;

/**
 * Waits until the money of an intent moves or is held up by something else, and returns the new intent; at `untilMs`
 * the present one. With embedded services, the wait also does their work. A service that is briefly away is asked
 * again.
 * @throws Problem `interrupted`, `timed_out` when aborted, and the service's final refusals
 */
export async function waitForChange(
  context: CommandContext,
  flights: FlightsClient,
  intent: Intent,
  stage: MoneyStage,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<Intent> {
  const { session, clock, signal } = context;
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    const dueAtMs = await session.work();
    try {
      const seen = await flights.intent(intent.intent_id, { signal });
      failures = 0;
      if (seen.status !== intent.status || moneyStage(seen, clock.now()) !== stage) return seen;
      if (seen.booking_held_up_by !== intent.booking_held_up_by) return seen;
      if (seen.refund_request?.state !== intent.refund_request?.state) return seen;
      if (clock.now() >= untilMs) return seen;
    } catch (error) {
      signal.throwIfAborted();
      if (!isProblem(error) || error.kind.retryable !== true || ++failures > 30) throw error;
    }
    const untilDue = dueAtMs === null ? LONGEST_WAIT_MS : dueAtMs - clock.now();
    await clock.sleep(Math.min(LONGEST_WAIT_MS, Math.max(10, untilDue)), signal);
  }
}

/** The payments that this run has signed or sent again. */
export async function paymentsOf(session: Pick<Session, 'paidHere'> | null) {
  const payments = (await session?.paidHere.records()) ?? [];
  return { signed: payments.filter((one) => one.open), paid: payments.filter(({ state }) => state === 'answered') };
}

/**
 * The problem of a demo that was cut off: the state of its play money, and the commands that show it.
 * @param home the folder that was made for the demo; null if the person named one
 */
export async function demoCutOff(
  context: CommandContext,
  intent: Intent | null,
  error: unknown,
  home: string | null,
): Promise<unknown> {
  const cutOff = bookingCutOffBy(error, context.signal);
  if (cutOff === null) return error;
  const known = intent
    ? await knownOfBooking(context, intent, [])
    : { again: [], ...(await paymentsOf(context.session)) };
  const { next, ...story } = storyOf(known);
  const inPlayMoney = {
    ...story,
    said: (usdc: Usdc) => `${textOf(story.said, usdc)} All of it is play money.`,
    fix: next.length > 0 ? 'Look at it, or start over.' : 'Start over whenever you like.',
    next: [
      ...next.map((one) => (home === null ? one : { shell: `FARELOCK_HOME=${quoted(home)} ${lineOf(one)}` })),
      farelock`demo`,
    ],
  };
  return told(cutOff, inPlayMoney, error);
}
