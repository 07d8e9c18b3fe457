import { travellersNamed } from '../../../kernel/domain/payout-names.ts';
import { quoteText } from '../../../kernel/domain/refund-rule.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import {
  counted,
  cut,
  dayAndMonth,
  dayName,
  fieldLines,
  fromNow,
  harmless,
  type ListColumn,
  listLines,
  momentText,
  type Paint,
  type Screen,
  utcTime,
  type View,
  wrap,
} from '../../../terminal/index.ts';
import type { RefundCase, RefundCaseSummary, RefundPlan, RefundQueue } from '../../../wire/flights/index.ts';
import { shortened, stepLines } from '../index.ts';
import { sharesText } from './offer.ts';

const usdcText = (amount: number | null, paint: Paint): string => (amount === null ? '–' : paint.usdc(amount));

function statusText({ status }: Pick<RefundCaseSummary, 'status'>, paint: Paint): string {
  if (status === 'refunded') return paint.good(status);
  return status === 'stuck' ? paint.bad(status) : status;
}

/** `LIS → BER` */
export const routeText = ({ route }: Pick<RefundCaseSummary, 'route'>): string => route.replace('-', ' → ');

/** `LIS → BER, Tue 22 Dec 2026` */
export const journeyText = (one: Pick<RefundCaseSummary, 'route' | 'journey_date'>): string =>
  `${routeText(one)}, ${dayName(one.journey_date)}`;

const RULES = {
  refundable: 'refundable',
  non_refundable: 'not refundable: the carrier keeps everything',
  undisclosed: 'not disclosed: ask the airline, then set an amount',
  cancelled_by_airline: 'cancelled by the airline: nothing is kept',
} as const;

export function caseLines(one: RefundCase, nowMs: number, screen: Screen): string[] {
  const { paint, width } = screen;
  return [
    ...askedLines(one, nowMs, screen),
    ...(one.decision?.words ? ['', paint.dim('Decision'), ...quoted(one.decision.words, width)] : []),
    ...(one.notes.length === 0 ? [] : ['', paint.dim('Notes')]),
    ...one.notes.flatMap((note) => quoted(`${utcTime(note.at)}  ${note.by}: ${note.text}`, width)),
    '',
    ...fieldLines(
      paint.dim,
      [
        ['Request', one.request_id],
        ['Intent', one.intent_id],
        ['Order', one.order_id ?? '–'],
        ['Paid out in', one.payout_tx_hash],
      ],
      width,
    ),
    '',
    paint.dim('Timeline'),
    ...timelineLines(one, screen),
  ];
}

/** Cells of an event with its whole instant. A narrower pane says each day once. */
const WHOLE_EVENT = 60;

function timelineLines(one: RefundCase, { paint, width }: Screen): string[] {
  let day = '';
  return eventsOf(one).flatMap(({ at, said, detail: whole }) => {
    const isWhole = width >= WHOLE_EVENT;
    const [date = '', time = ''] = utcTime(at).split(' ');
    const heading = isWhole || date === day ? [] : [`  ${date} UTC`];
    day = date;
    const begin = isWhole ? `  ${utcTime(at)}  ${said}  ` : `  ${time}  `;
    const detail = whole && isWhole && begin.length + whole.length <= width ? whole : shortened(whole ?? '');
    if (isWhole) return [cut(`${begin}${paint.dim(detail)}`.trimEnd(), width)];
    const lines = wrap(`${said}  ${detail}`.trimEnd(), width - begin.length);
    return [...heading, ...lines.map((line, index) => (index === 0 ? begin : ' '.repeat(begin.length)) + line)];
  });
}

/** Effects in words: under way, and done. */
const EFFECTS: Readonly<Record<string, readonly [thing: string, done: string]>> = {
  open_escrow: ['opening the escrow', 'escrow opened'],
  capture: ['capturing the payment', 'payment captured'],
  refund: ['refunding the escrow', 'escrow refunded'],
  sweep: ['returning late money', 'late money returned'],
  close_escrow: ['closing the escrow', 'escrow closed'],
  airline_order: ['placing the airline order', 'airline order placed'],
  airline_cancel: ['cancelling with the airline', 'airline order cancelled'],
  payout: ['paying out', 'refund paid out'],
};

const STATES: Readonly<Record<string, string>> = { failed: 'failed', stuck: 'stuck, needs an operator' };

const EVENTS: Readonly<Record<string, string>> = {
  'intent created': 'fare locked',
  ticketed: 'ticket issued',
  captured: 'payment captured',
  refunded: 'refunded',
  'refund claim': 'claimed by',
  'refund release': 'given back by',
  'refund note': 'note written by',
  'refund approve': 'approved by',
  'refund change': 'amount changed by',
  'refund resume': 'started again by',
  'refund reject': 'rejected by',
  'refund paid_out': 'pay-out recorded by',
};

/** Words the timeline for a person; leaves out an effect if an event has the same transaction. */
function eventsOf({ timeline }: RefundCase) {
  const isEffect = (event: string) => event.startsWith('effect ');
  const told = new Set(timeline.flatMap(({ event, detail }) => (detail && !isEffect(event) ? [detail] : [])));
  return timeline.flatMap(({ at, event, detail }) => {
    const [, kind = '', state = ''] = /^effect (\w+) (\w+)$/.exec(event) ?? [];
    if (kind && detail && told.has(detail)) return [];
    const [thing, done] = EFFECTS[kind] ?? [kind.replaceAll('_', ' '), `${kind.replaceAll('_', ' ')} done`];
    const act = EVENTS[event] ?? event.replaceAll('_', ' ');
    if (kind) return [{ at, said: state === 'done' ? done : `${thing}: ${STATES[state] ?? 'under way'}`, detail }];
    return act.endsWith(' by') ? [{ at, said: `${act} ${detail}`, detail: null }] : [{ at, said: act, detail }];
  });
}

/** Gives the texts of a cleaned case their line breaks back, but nothing else that a terminal acts on. */
export function withLines(shown: RefundCase, clean: RefundCase): RefundCase {
  const lined = (text: string) =>
    text
      .split(/\r\n?|\n/)
      .map(harmless)
      .join('\n');
  return {
    ...clean,
    reason: shown.reason && lined(shown.reason),
    decision: clean.decision && {
      ...clean.decision,
      words: shown.decision?.words ? lined(shown.decision.words) : null,
    },
    notes: clean.notes.map((note, at) => ({ ...note, text: lined(shown.notes[at]?.text ?? '') })),
  };
}

/** The request and the fare rule, which an operator needs before a decision. */
export const askedLines = (one: RefundCase, nowMs: number, { paint, width }: Screen): string[] => [
  `${paint.bold(journeyText(one))}  ${statusText(one, paint)}`,
  ...fieldLines(
    paint.dim,
    [
      ['Booking', one.booking_reference],
      ['Refund rule', RULES[one.refund_rule.kind]],
      ['Paid', usdcText(one.captured_amount, paint)],
      ...payoutFields(one, paint),
      // An older service does not send it.
      ['Airline quote', one.airline_quote == null ? null : quoteText(one.airline_quote)],
    ],
    width,
  ),
  '',
  paint.dim('Reason'),
  ...quoted(one.reason, width),
  '',
  ...fieldLines(
    paint.dim,
    [
      ['Requested', momentText(one.requested_at, nowMs)],
      ['Claimed by', one.claimed_by ?? '–'],
      ['Passengers', String(one.passenger_count)],
      ['Refund of', one.passengers ? askedForText(one, paint) : null],
      ['Fare', `${one.fare.owner_name}, ${one.fare.fare_brand_name ?? '–'}`],
      ['Paid for', one.fare.passengers ? sharesText(one.fare.passengers) : null],
      ['Refunds to', one.refund_wallet],
      ['On chain', chainText(one)],
      ['Decided', one.decision && `${one.decision.by}, ${utcTime(one.decision.at)}`],
      ['Last error', one.last_error],
      ['Contact', one.contact],
    ],
    width,
  ),
];

/** `3 (child) 61.20 USDC; the others stay` */
function askedForText({ passengers = [], others_stay }: RefundCase, paint: Paint): string {
  const each = passengers.map((one) => `${one.passenger} (${one.type}) ${usdcText(one.paid_amount, paint)}`);
  return `${each.join(', ')}${others_stay ? '; the others stay' : '; the last ones'}`;
}

const travellersOf = ({ passengers = [] }: RefundCaseSummary): string =>
  travellersNamed(passengers.map(({ passenger }) => passenger));

/** The place of the money, by the last transaction that moved it. */
function chainText({ payout_tx_hash, timeline }: RefundCase): string | null {
  if (payout_tx_hash !== null) return `paid out in ${shortened(payout_tx_hash)}`;
  const captured = timeline.find(({ event }) => event === 'captured')?.detail;
  return captured ? `captured in ${shortened(captured)}, not paid out` : null;
}

/** Only the fare rule has a penalty: an amount that the operator set is a partial pay-out. */
function payoutFields({ decision, refund_rule: rule, captured_amount }: RefundCase, paint: Paint) {
  const payout = decision?.payout_amount ?? rule.payout_amount;
  if (decision?.payout_amount == null || decision.payout_amount === rule.payout_amount) {
    return [
      ['Penalty', usdcText(rule.penalty_amount, paint)],
      ['Pay-out', paint.bold(usdcText(payout, paint))],
    ] as const;
  }
  return [
    ['Fare rule', `${usdcText(rule.payout_amount, paint)} to pay out`],
    [
      'Pay-out',
      `${paint.bold(usdcText(payout, paint))}, partial: ${usdcText(captured_amount - decision.payout_amount, paint)} kept`,
    ],
  ] as const;
}

const quoted = (text: string | null, width: number): string[] =>
  text === null
    ? ['  –']
    : text.split('\n').flatMap((line) => (line ? wrap(line, width - 4).map((part) => `  ${part}`) : ['']));

export const approvalLines = (plan: RefundPlan, { paint, width }: Screen): string[] => [
  'Approving it would:',
  ...stepLines(plan.steps, width),
  ...(plan.paid_from === 'escrow' ? [] : [`The treasury holds ${usdcText(plan.treasury_amount, paint)}.`]),
];

export function mailLines(
  mail: { readonly subject: string; readonly text: string } | null,
  { paint, width }: Screen,
): string[] {
  if (mail === null) return ['No e-mail is sent: the passengers’ data has been deleted.'];
  return [
    'The lead passenger gets this e-mail:',
    '',
    `  ${paint.bold(mail.subject)}`,
    '',
    ...mail.text
      .trimEnd()
      .split('\n')
      .flatMap((line) => (line === '' ? [''] : wrap(line, width - 2).map((part) => `  ${part}`))),
  ];
}

export function outcomeLine(one: RefundCase, done: 'claimed' | 'released' | 'noted' | 'decided', paint: Paint): string {
  const journey = [routeText(one), dayAndMonth(one.journey_date), one.booking_reference].filter(Boolean).join(', ');
  if (done === 'claimed') return `${journey}: the case is yours`;
  if (done === 'released') return `${journey}: given back, any operator can take it`;
  if (done === 'noted') return `${journey}: note written (${one.notes.length} on the case)`;
  const amount = usdcText(one.decision?.payout_amount ?? one.payout_amount, paint);
  if (one.status === 'rejected') return `${journey}: rejected; the passenger gets the reason`;
  const cancelled = one.others_stay ? `${travellersOf(one)} cancelled, the others stay` : 'ticket cancelled';
  const ended = one.cancelled_by === 'airline' ? 'cancelled by the airline' : cancelled;
  if (one.status === 'refunded') return `${journey}: ${ended}, ${amount} paid out`;
  return `${journey}: approved, ${amount} not paid out yet`;
}

export const queueView = (nowMs: number): View<RefundQueue> => ({
  lines: ({ refund_requests: cases, next_cursor, total }, screen) => {
    if (cases.length === 0) return ['Nothing is waiting for a decision.'];
    const rows = cases.map((one, index) => ({ ...one, number: String(index + 1) }));
    return [
      ...queueLines(rows, nowMs, screen),
      screen.paint.dim(
        `${total != null && total > cases.length ? `${cases.length} of ` : ''}${counted(total ?? cases.length, 'request')}, amounts in USDC`,
      ),
      ...(next_cursor === null ? [] : [screen.paint.dim(`More: --cursor ${next_cursor}`)]),
    ];
  },
  rows: ({ refund_requests: cases }) =>
    cases.map((one) => [
      one.request_id,
      one.intent_id,
      one.requested_at,
      one.journey_date,
      formatUsdc(BigInt(one.captured_amount)),
      one.status,
      one.claimed_by,
      one.route,
      one.refund_rule.kind,
      amountText(proposedOf(one)),
    ]),
});

/** A case with its row number. */
type QueueRow = RefundCaseSummary & { readonly number: string };

const AMOUNTS = 60;
const WORDS = 80;
const DAYS = 100;
const IDS = 132;

/** Draws the queue: a heading and a line for each case, none wider than the screen. Amounts are USDC. */
export function queueLines(rows: readonly QueueRow[], nowMs: number, screen: Screen): string[] {
  const { paint, width } = screen;
  const columns: readonly (ListColumn<QueueRow> & { readonly from?: number; readonly below?: number })[] = [
    { title: '#', cell: ({ number }) => number },
    { title: 'Route', below: WORDS, cell: ({ route }) => route.replace('-', '→') },
    { title: 'Route', from: WORDS, cell: routeText },
    { title: 'Departs', below: DAYS, cell: ({ journey_date }) => dayAndMonth(journey_date) },
    { title: 'Departs', from: DAYS, cell: ({ journey_date }) => dayName(journey_date) },
    { title: 'Booking', from: DAYS, cell: ({ booking_reference }) => booking_reference ?? '–' },
    {
      title: 'Refund rule',
      from: WORDS,
      cell: (one) => (one.others_stay ? `${ruleText(one)}, ${travellersOf(one)}` : ruleText(one)),
    },
    { title: 'Paid', align: 'right', from: AMOUNTS, cell: (one) => amountText(one.captured_amount) },
    { title: 'Pay-out', align: 'right', cell: payoutText },
    { title: 'Age', from: AMOUNTS, cell: (one) => fromNow(one.requested_at, nowMs).replace(/ ago$/, '') },
    { title: 'Claimed by', cuts: true, cell: (one) => holderText(one, paint) },
    { title: 'Request', from: IDS, cell: (one) => paint.dim(one.request_id) },
  ];
  return listLines(
    screen,
    rows,
    columns.filter(({ from = 0, below = Infinity }) => width >= from && width < below),
  );
}

const amountText = (amount: number | null): string => (amount === null ? '–' : formatUsdc(BigInt(amount)));

/** The approved pay-out, or that of the fare rule; null if the operator decides. */
export const proposedOf = (one: RefundCaseSummary): number | null => one.payout_amount ?? one.refund_rule.payout_amount;

/** The proposed pay-out, in words if the fare rule gives no amount. */
export function payoutText(one: RefundCaseSummary): string {
  if (one.payout_amount !== null) return amountText(one.payout_amount);
  const { kind, payout_amount } = one.refund_rule;
  return kind === 'non_refundable' ? 'none' : kind === 'undisclosed' ? 'you decide' : amountText(payout_amount);
}

function ruleText({ refund_rule: { kind, penalty_amount } }: RefundCaseSummary): string {
  if (kind === 'non_refundable') return 'not refundable';
  if (kind === 'undisclosed') return 'ask the airline';
  if (kind === 'cancelled_by_airline') return 'airline cancelled';
  return penalty_amount === 0 ? 'free' : `${amountText(penalty_amount)} penalty`;
}

/** The holder of a case, after its status unless it is open. */
export function holderText({ status, claimed_by }: RefundCaseSummary, paint: Paint): string {
  if (status === 'received') return claimed_by ?? '–';
  const said = status === 'stuck' ? paint.bad(status) : status;
  return claimed_by === null ? said : `${said}, ${claimed_by}`;
}
