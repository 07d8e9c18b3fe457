import type { PaymentReceipt } from '../../../client/base/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { travellersNamed } from '../../../kernel/domain/payout-names.ts';
import type { Usdc } from '../../../kernel/usdc.ts';
import {
  counted,
  dayName,
  fieldLines,
  fromNow,
  fromTo,
  harmless,
  harmlessDocument,
  momentText,
  type Paint,
  padEnd,
  type Screen,
  type Terminal,
  textWidth,
  utcTime,
  type View,
  wrap,
  wrapBehind,
} from '../../../terminal/index.ts';
import type { CreatedIntent, Intent } from '../../../wire/flights/index.ts';
import type { IntentNotes, KnownFare } from '../../session/index.ts';
import { type Linked, shortened } from '../index.ts';
import { fareFields, lockedBagsField, lockedSeatsField, seatsText, sliceLines } from './offer.ts';
import { airlineText } from './search-columns.ts';

/** The places where the money of an intent can be, with the colour and the words of each. */
const STAGES = {
  unpaid: ['accent', 'not paid yet'],
  expired: ['warn', 'expired'],
  ticketing: ['accent', 'funded, ticketing'],
  capturing: ['accent', 'ticketed, capturing'],
  /** Paid; a person at the operator decides. */
  review: ['warn', 'funded, in review by the operator'],
  refunding: ['warn', 'refunding'],
  captured: ['good', 'booked'],
  refunded: ['warn', 'refunded'],
} as const;

export type MoneyStage = keyof typeof STAGES;

const stageText = (stage: MoneyStage, paint: Paint): string => paint[STAGES[stage][0]](STAGES[stage][1]);

export function moneyStage(intent: Intent, nowMs: number): MoneyStage {
  if (intent.status === 'booked') return 'captured';
  if (intent.status === 'refunded') return 'refunded';
  if (intent.operator_review_since !== null) return 'review';
  if (intent.refund_reason !== null) return 'refunding';
  if (intent.booking_requested_at === null) return Date.parse(intent.expires_at) <= nowMs ? 'expired' : 'unpaid';
  return intent.ticketed_at === null ? 'ticketing' : 'capturing';
}

/** True if the escrow holds the money now: paid, and neither captured nor refunded. */
export const isFunded = (intent: Intent): boolean => intent.status === 'active' && intent.booking_requested_at !== null;

export const hasEnded = (intent: Intent): boolean => intent.status !== 'active';

/** True while a refund request waits for the operator, or for its pay-out. */
export const isRefundOpen = ({ refund_request: request }: Intent): boolean =>
  request != null && request.state !== 'rejected' && request.state !== 'paid';

interface StatusGiven {
  readonly nowMs: number;
  /** The transaction that funded the escrow. */
  readonly fundedBy?: string | null;
  /** The flights and the fare, as far as they are known (fareText). */
  readonly fare?: string;
  /** True to show ids, the escrow and transactions. */
  readonly isVerbose?: boolean;
  linked?(text: string, transaction: string): string;
}

/** Shows the booking reference, the flights, and the way of the money: a line a step, done, under way or to come. */
export function statusLines(intent: Intent, given: StatusGiven, screen: Screen): string[] {
  const { paint } = screen;
  const { usdc } = paint;
  const { nowMs, fundedBy = null, fare = '', isVerbose = false } = given;
  const stage = moneyStage(intent, nowMs);
  const steps = [
    { mark: 'done', name: 'locked', text: '', more: 'escrow opened', at: intent.created_at } as const,
    ...stepsOf(intent, stage, nowMs, fundedBy, usdc),
    ...changedSteps(intent),
    ...refundSteps(intent, stage, usdc),
  ];
  const asked = isRefundOpen(intent) && stage === 'captured' ? paint.warn(', refund requested') : '';
  const flying = stage === 'captured' ? flyingText(intent) : null;
  const isCancelled = intent.cancelled_by === 'airline' && stage === 'captured';
  const said = isCancelled ? paint.bad('cancelled by the airline') : stageText(stage, paint);
  const head = [
    paint.bold(intent.booking_reference ?? intent.intent_id),
    `${said}${flying ? `, ${flying}` : ''}${asked}`,
  ];
  return [
    ...(textWidth(head.join('  ')) <= screen.width ? [head.join('  ')] : head),
    ...(fare === '' ? [] : wrap(fare, screen.width)),
    ...(isVerbose && intent.booking_reference ? [paint.dim(intent.intent_id)] : []),
    ...steps.flatMap((step, index) => stepLines(step, timeBefore(steps, index), screen, given)),
    ...(stage === 'review'
      ? ['', ...wrap(reviewText(intent, nowMs, usdc), screen.width).map(paint.warn)]
      : [...heldUpLines(intent, stage, screen), ...overdueLines(intent, stage, nowMs, screen)]),
  ];
}

/** `2 of 3 fly`; null if no traveller was refunded alone. */
export function flyingText({ passenger_count: count, passenger_refunds: refunds }: Intent): string | null {
  const gone = refunds?.flatMap(({ passengers }) => passengers).length ?? 0;
  return gone === 0 ? null : `${count - gone} of ${count} fly`;
}

/** Makes a view of statusLines, with the transactions as links. */
export const statusView = (
  { clock, terminal }: { readonly clock: Clock; readonly terminal: Pick<Terminal, 'settings'> },
  funding: Pick<PaymentReceipt, 'transaction' | 'network'> | null,
  linked: Linked,
  fare: string,
): View<Intent> => ({
  lines: (intent, screen) =>
    statusLines(
      intent,
      {
        nowMs: clock.now(),
        fundedBy: funding?.transaction ?? null,
        fare: harmless(fare),
        isVerbose: terminal.settings.verbose,
        linked: (text, transaction) => linked(text, transaction, funding?.network ?? ''),
      },
      screen,
    ),
});

/** `LIS → BER, Sun 20 Dec 2026, 06:35–11:05, Castell Air, Basic, 82.54 USDC, seats 12A, 12B`, as far as known here. */
export function fareText(
  { route, departure_date: day, fare, amount }: IntentNotes,
  usdc: Usdc,
  { seats }: Pick<Intent, 'seats'> = {},
): string {
  const slices = fare?.slices ?? [];
  return [
    route?.replace('-', slices.length > 1 ? ' ⇄ ' : ' → '),
    day && dayName(day),
    slices.map((slice) => fromTo(slice.departing_at, slice.arriving_at)).join(' · '),
    slices[0] && airlineText(slices[0]),
    fare?.fare_brand_name,
    amount && usdc(amount),
    seats && `${seats.chosen.length === 1 ? 'seat' : 'seats'} ${seatsText(seats.chosen, fare?.slices)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** The step in which the airline changed or cancelled the order. */
function changedSteps(intent: Intent): Step[] {
  const { order_changed_at: at, order_id: order } = intent;
  if (intent.cancelled_by === 'airline') {
    const ask = `the whole price comes back: farelock refund request ${intent.intent_id}`;
    const text = `by the airline${intent.refund_request ? '' : `; ${ask}`}`;
    return [{ mark: 'failed', name: 'cancelled', text, at: at ?? null }];
  }
  const text = `by the airline: see farelock order ${order ?? ''}`.trimEnd();
  return at == null ? [] : [{ mark: 'done', name: 'changed', text, at }];
}

/** Shown while the airline issues the ticket. */
const TICKETING = 'Ticketing, usually within a minute';

/** The text that is shown while a booking is under way. */
export function bookingPhase({ booking_held_up_by: heldUpBy }: Intent, stage: MoneyStage): string {
  const name = { capturing: 'Ticketed, capturing the escrow', refunding: 'Refunding' }[stage as string];
  if (heldUpBy === null) return name ?? TICKETING;
  return `${name ?? 'Ticketing'}, held up by ${heldUpBy} and tried again`;
}

/** A slower booking waits for a late confirmation or a person's decision. */
export const USUAL_BOOKING_MS = 10 * 60_000;

/** Explains that a person decides, and that the traveller has nothing to do. */
export function reviewText(intent: Intent, nowMs: number, usdc: Usdc): string {
  const since = intent.operator_review_since ?? '';
  const amount = usdc(intent.escrow.amount);
  if (intent.refund_reason === 'database_behind')
    return `The service was put back to an earlier state, and the operator was told ${fromNow(since, nowMs)}. The chain shows that the ${amount} have left the escrow: they have paid for your ticket or gone back to ${intent.refund_wallet} (farelock wallet history). Nothing is charged again.`;
  return `The operator was told ${fromNow(since, nowMs)} and decides how the booking continues. The ${amount} are in the escrow: they pay for a ticket or go back to ${intent.refund_wallet}. Without a decision, anyone can refund them from ${utcTime(intent.escrow.refund_after)}. Nothing is charged again: you can stop watching and check again at any time.`;
}

/** Says what holds up a booking's last step. */
const heldUpLines = (intent: Intent, stage: MoneyStage, { paint, width }: Screen): string[] =>
  intent.booking_held_up_by !== null && UNDER_WAY.includes(stage)
    ? ['', ...wrap(`${bookingPhase(intent, stage)}.`, width).map(paint.warn)]
    : [];

const UNDER_WAY: readonly MoneyStage[] = ['ticketing', 'capturing', 'refunding'];

/** Explains a booking that takes too long: the operator is paged, and the chain limits how long the money is held. */
function overdueLines(intent: Intent, stage: MoneyStage, nowMs: number, { paint, width }: Screen): string[] {
  if (!UNDER_WAY.includes(stage)) return [];
  const sinceMs = Date.parse(intent.booking_requested_at ?? intent.updated_at);
  if (!(nowMs - sinceMs > USUAL_BOOKING_MS)) return [];
  const safety =
    stage === 'capturing' || intent.escrow.refund_after === ''
      ? ''
      : ` If no ticket is issued, anyone can refund the escrow from ${utcTime(intent.escrow.refund_after)}.`;
  const said = `This is taking longer than usual (requested ${fromNow(intent.booking_requested_at ?? '', nowMs)}): an operator may need to review it.${safety}`;
  return ['', ...wrap(said, width).map(paint.warn)];
}

interface Step {
  readonly mark: 'done' | 'now' | 'next' | 'failed';
  readonly name: string;
  readonly text: string;
  /** Shown after the text under --verbose. */
  readonly more?: string | undefined;
  readonly at?: string | null;
  readonly transaction?: string | null;
}

/** The time of the last earlier step that has one. */
const timeBefore = (steps: readonly Step[], index: number): string | null =>
  steps.slice(0, index).findLast((step) => step.at)?.at ?? null;

function stepsOf(intent: Intent, stage: MoneyStage, nowMs: number, fundedBy: string | null, usdc: Usdc): Step[] {
  const amount = usdc(intent.escrow.amount);
  const escrow = intent.escrow.address;
  if (stage === 'unpaid' || stage === 'expired') {
    const until =
      stage === 'unpaid'
        ? `${amount}, ${fromNow(intent.expires_at, nowMs)} at the latest`
        : `the lock expired ${fromNow(intent.expires_at, nowMs)}; the fare was not paid`;
    return [{ mark: stage === 'unpaid' ? 'next' : 'failed', name: 'fund', text: until, more: `escrow ${escrow}` }];
  }
  const funded: Step = {
    mark: 'done',
    name: 'funded',
    text: `${amount} in escrow`,
    more: escrow,
    at: intent.booking_requested_at,
    transaction: fundedBy,
  };
  const ticketed: Step = {
    mark: intent.ticketed_at ? 'done' : 'now',
    name: intent.ticketed_at ? 'ticketed' : 'ticketing',
    text: intent.ticketed_at ? '' : 'the airline is issuing the ticket',
    more: intent.order_id ? `order ${intent.order_id}` : undefined,
    at: intent.ticketed_at,
  };
  const captured = capturedStep(intent, usdc);
  switch (stage) {
    case 'ticketing':
      return [funded, ticketed, { mark: 'next', name: 'capture', text: `${amount} to the operator` }];
    case 'capturing':
      return [funded, ticketed, { mark: 'now', name: 'capturing', text: `${amount} to the operator` }];
    case 'review':
      return [
        funded,
        ...(intent.ticketed_at ? [ticketed] : []),
        { mark: 'now', name: 'in review', text: 'the operator decides', at: intent.operator_review_since },
        { mark: 'next', name: 'then', text: `${amount} pay for a ticket, or go back` },
      ];
    case 'captured':
      return [funded, ticketed, captured];
    case 'refunding':
    case 'refunded': {
      const back = {
        mark: stage === 'refunded' ? 'done' : 'now',
        name: stage,
        at: intent.refunded_at,
        transaction: intent.refund_tx_hash,
      } as const;
      // Booked and cancelled later: the fare rule decides what comes back, not the price.
      if (intent.refund_request?.state === 'paid') return [funded, ticketed, captured];
      if (intent.captured_at !== null) {
        return [funded, ticketed, captured, { ...back, text: `${ruleText(intent)}, to ${intent.refund_wallet}` }];
      }
      const reason = intent.refund_reason ?? 'the booking failed';
      if (stage === 'refunding' && reason === 'refund_account_missing') {
        const text = `waiting for a USDC token account of ${intent.refund_wallet}: the refund follows once it is open again`;
        return [{ ...back, text }];
      }
      const wasFunded = intent.booking_requested_at !== null || fundedBy !== null;
      return [
        ...(wasFunded ? [funded] : []),
        { mark: 'failed', name: 'not booked', text: reason.replaceAll('_', ' ') },
        { ...back, text: `${amount} to ${intent.refund_wallet}` },
      ];
    }
  }
}

/** The operator's share: the price or, if a refund came out of the escrow, the penalty. */
function capturedStep(intent: Intent, usdc: Usdc): Step {
  const { escrow, captured_at, refund_request: request } = intent;
  const captured = { mark: 'done', name: 'captured', more: 'vault closed' } as const;
  if (captured_at !== null || intent.capture_tx_hash !== null) {
    const text = `${usdc(escrow.amount)} to the operator`;
    return { ...captured, text, at: captured_at, transaction: intent.capture_tx_hash };
  }
  if (request?.state !== 'paid')
    return { mark: 'next', name: 'capture', text: `${usdc(escrow.amount)} to the operator` };
  const text = `${usdc(escrow.amount - (request.payout_amount ?? 0))} to the operator, by the refund's transaction`;
  return { ...captured, text, at: intent.refunded_at, transaction: request.payout_tx_hash };
}

/** Steps of the refund of a booked intent: its review, decision and pay-out. */
function refundSteps(intent: Intent, stage: MoneyStage, usdc: Usdc): Step[] {
  const { refund_request: request, refund_wallet, refund_rejection_reason: reason, passenger_refunds = [] } = intent;
  const earlier = passenger_refunds
    .filter((one) => one.payout_tx_hash !== request?.payout_tx_hash)
    .map((one): Step => {
      const text = `${usdc(one.payout_amount)} for ${travellersNamed(one.passengers)} to ${refund_wallet}`;
      return { mark: 'done', name: 'refunded', text, at: one.decided_at, transaction: one.payout_tx_hash };
    });
  // Other deployments send no request. If the intent was refunded without a pay-out, a line of its own says so.
  if (request == null || (stage !== 'captured' && request.state !== 'paid')) return earlier;
  const amount = request.payout_amount === null ? ruleText(intent) : usdc(request.payout_amount);
  const at = request.decided_at;
  const paidOut = `${amount} to ${refund_wallet}`;
  const steps: Record<typeof request.state, Step> = {
    received: { mark: 'now', name: 'review', text: 'an operator will review it' },
    claimed: { mark: 'now', name: 'review', text: 'an operator is reviewing it' },
    approved: { mark: 'now', name: 'approved', text: paidOut, at },
    rejected: { mark: 'failed', name: 'rejected', text: reason ?? 'the e-mail to the lead passenger says why', at },
    paid: { mark: 'done', name: 'paid out', text: paidOut, at, transaction: request.payout_tx_hash },
  };
  const whose = request.passengers ? ` for ${travellersNamed(request.passengers)}` : '';
  const asked: Step = { mark: 'done', name: 'refund', text: `requested${whose}`, at: request.requested_at };
  return [...earlier, asked, steps[request.state]];
}

/** The amount of a refund that is not decided yet, in words. */
const ruleText = (intent: Intent): string =>
  intent.cancelled_by === 'airline' ? 'the whole price' : 'what the fare rule gives back';

const NAME_WIDTH = 10;

/** `, 41 s later`; empty within a second, or if the clocks of two services disagree about the order. */
function laterText(before: string | null, at: string): string {
  const apart = before === null || at < before ? '' : fromNow(at, Date.parse(before));
  return apart.startsWith('in ') ? `, ${apart.slice('in '.length)} later` : '';
}

function stepLines(
  step: Step,
  before: string | null,
  { paint, width }: Screen,
  { isVerbose, linked = (text) => text }: StatusGiven,
): string[] {
  const mark = { done: paint.good('✓'), now: paint.accent('●'), next: paint.dim('○'), failed: paint.bad('✗') }[
    step.mark
  ];
  const indent = ' '.repeat(NAME_WIDTH + 4);
  // A signature is 88 characters: whole if it fits, else shortened.
  const signature = (text: string) => (indent.length + text.length <= width ? text : shortened(text));
  const name = step.mark === 'next' ? paint.dim(padEnd(step.name, NAME_WIDTH)) : padEnd(step.name, NAME_WIDTH);
  const at = step.at ?? null;
  const more = isVerbose ? step.more : at && timeText(before, at);
  const said = [step.text, more].filter(Boolean).join(', ');
  return [
    ...(said === '' ? [`${mark} ${step.name}`] : wrapBehind(`${mark} ${name}  `, said, width)),
    ...(isVerbose && at ? [`${indent}${paint.dim(utcTime(at) + laterText(before, at))}`] : []),
    ...(isVerbose && step.transaction
      ? [`${indent}${paint.dim(linked(signature(step.transaction), step.transaction))}`]
      : []),
  ];
}

/** `41 s later`, or the time itself for the first step; empty within a second, or if clocks disagree. */
const timeText = (before: string | null, at: string): string =>
  laterText(before, at).replace(', ', '') || (before === null ? utcTime(at) : '');

/** Shows a new lock: what was locked, what it costs, until when, and the support code, which is shown once. */
export function createdIntentLines(
  intent: CreatedIntent,
  fare: KnownFare | null,
  nowMs: number,
  { paint, width }: Screen,
  isVerbose = false,
): string[] {
  const known = harmlessDocument(fare);
  const people = intent.passenger_count === 1 ? '' : ` for ${counted(intent.passenger_count, 'passenger')}`;
  return [
    `${paint.good('✓')} Locked until ${momentText(intent.expires_at, nowMs)}`,
    ...(known?.slices.flatMap((slice) => sliceLines(slice, { paint, width })) ?? []),
    ...fieldLines(
      paint.dim,
      [
        ...(known ? fareFields(known) : []),
        ['To pay', `${paint.bold(paint.usdc(intent.escrow.amount))}${people}`],
        ...lockedBagsField(intent, paint),
        ...lockedSeatsField(intent, known, paint),
        ['Support code', `${paint.bold(intent.customer_support_code)}  shown once; saved here`],
        ['Intent', intent.intent_id],
        ...(isVerbose
          ? ([
              ['Escrow', intent.escrow.address],
              ['Vault', intent.escrow.vault_address],
              ['Refunds to', intent.refund_wallet],
            ] as const)
          : []),
      ],
      width,
    ),
  ];
}

export function intentLines(intent: Intent, nowMs: number, { paint }: Screen): string[] {
  const { escrow } = intent;
  return [
    `${paint.bold(intent.intent_id)}  ${stageText(moneyStage(intent, nowMs), paint)}`,
    ...fieldLines(paint.dim, [
      ['Offer', intent.offer_id],
      ['Passengers', flyingText(intent) ?? String(intent.passenger_count)],
      ['Amount', paint.usdc(escrow.amount)],
      ...lockedBagsField(intent, paint),
      ...lockedSeatsField(intent, null, paint),
      ['In the vault', escrow.observed_amount === null ? '–' : paint.usdc(escrow.observed_amount)],
      ['Escrow', escrow.address],
      ['Vault', escrow.vault_address || '–'],
      ['Program', escrow.program_id || '–'],
      ['Paid by', intent.funding_wallet],
      ['Refunds to', intent.refund_wallet],
      ['Referrer', intent.referrer],
      ['Order', intent.order_id],
      ['Created', utcTime(intent.created_at)],
      ['Book until', momentText(intent.expires_at, nowMs)],
      ['Anyone can refund', escrow.refund_after === '' ? '–' : `from ${utcTime(escrow.refund_after)}`],
    ]),
  ];
}
