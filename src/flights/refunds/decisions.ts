import { liveAttempt, liveKey } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { type Part, partRuleOf, stakeOf } from '../../kernel/domain/part-refunds.ts';
import { travellersNamed } from '../../kernel/domain/payout-names.ts';
import type { AirlineQuote } from '../../kernel/domain/refund-rule.ts';
import { isMoney, nothingToPay, quotedDollars, quoteText } from '../../kernel/domain/refund-rule.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { loadNotifyMails } from '../../notify/index.ts';
import { loadToken } from '../../solana/index.ts';
import { inTurn } from '../../store/base/index.ts';
import type { ApproveRequest, RefundPlan, RejectionPlan } from '../../wire/flights/index.ts';
import type { By, FlightsPorts, IntentRow, KeptOrder, RefundRequestRow, Tx } from '../base/index.ts';
import {
  bookingOf,
  decisionPlace,
  leavesOthers,
  lockedOffer,
  orderOf,
  partOf,
  passengersIn,
  referenceIn,
  requestOf,
  subjectOf,
  writeAudit,
} from '../base/index.ts';
import {
  type CancelledBy,
  cancelledBy,
  cancelledByNow,
  createEscrows,
  createMails,
  isDeskOrder,
  isHeld,
  releases,
} from '../bookings/index.ts';
import type { Agreement } from './airline-quote.ts';
import { agreedQuote, agreementOf, freshQuote, isAgreed, isGranted, planChanged, QUOTE_GONE } from './airline-quote.ts';
import { type OpenedCase, openCase } from './cases.ts';
import { movedTo, notePlace } from './states.ts';

/* Operators' acts on a case, each in one transaction with its audit row. A claim lasts until release or decision. */

/** @throws Problem as `checkHolder`, too: other operators may not even see the plan */
export async function planApproval(ports: FlightsPorts, opened: OpenedCase, by: By, request: ApproveRequest) {
  checkHolder(opened.row, by);
  return planRefund(ports, opened, request, () => freshQuote(ports, opened.row));
}

export const claimCase = (ports: FlightsPorts, requestId: string, by: By) =>
  inTurn(ports.store, [turnOf(requestId)], (tx) => take(ports, tx, requestId, by));

export const releaseCase = (ports: FlightsPorts, requestId: string, by: By, force: boolean) =>
  inTurn(ports.store, [turnOf(requestId)], async (tx) => {
    const row = await requestOf(tx, requestId);
    if (force) checkOpen(row);
    else checkHolder(row, by);
    if (row.claimed_by === null) return;
    await tx
      .updateTable('refund_requests')
      .set({ claimed_by: null, claimed_by_name: null, claimed_at_ms: null })
      .where('request_id', '=', requestId)
      .execute();
    await audit(ports, tx, by, 'release', requestId, { force });
  });

export const noteOnCase = (ports: FlightsPorts, requestId: string, by: By, text: string) =>
  inTurn(ports.store, [], async (tx) => {
    const { ids, secrets, clock } = ports;
    const noteId = ids.next('nte');
    await tx
      .insertInto('refund_notes')
      .values({
        note_id: noteId,
        request_id: requestId,
        operator_name: by.operator.name,
        text_sealed: secrets.encrypt(notePlace(noteId), text),
        at_ms: clock.now(),
      })
      .execute();
    await audit(ports, tx, by, 'note', requestId, { note_id: noteId });
  });

/** The turn in which a request is read and then changed. */
export const turnOf = (requestId: string): string => `refund_requests:${requestId}`;

/** The turns of a decision. They include that of the effects' subject, in which attempts are written. */
export const decidingTurns = (row: RefundRequestRow): string[] => [
  turnOf(row.request_id),
  ...new Set([`intents:${row.intent_id}`, `intents:${subjectOf(row)}`]),
];

const audit = (
  ports: FlightsPorts,
  tx: Tx,
  by: By,
  action: string,
  subject: string,
  detail: Record<string, unknown> = {},
) => writeAudit(tx, ports, { ...by, action: `refund.${action}`, subject, detail });

/** @throws Problem `case_already_decided`: the case was paid or rejected */
function checkOpen(row: RefundRequestRow): void {
  if (!isGranted(row) && row.state !== 'received') throw alreadyDecided(row);
}

/** @throws Problem as `checkOpen`, `case_already_claimed` with the holder's name */
function checkHolder(row: RefundRequestRow, { operator }: By): void {
  checkOpen(row);
  if (row.claimed_by === null || row.claimed_by === operator.keyId) return;
  throw problem('case_already_claimed', {
    detail: { claimed_by: row.claimed_by_name, claimed_at: instant(row.claimed_at_ms ?? 0) },
  });
}

async function take(ports: FlightsPorts, tx: Tx, requestId: string, by: By): Promise<RefundRequestRow> {
  const row = await requestOf(tx, requestId);
  checkHolder(row, by);
  if (row.claimed_by === null) {
    await tx
      .updateTable('refund_requests')
      .set({ claimed_by: by.operator.keyId, claimed_by_name: by.operator.name, claimed_at_ms: ports.clock.now() })
      .where('request_id', '=', requestId)
      .execute();
    await audit(ports, tx, by, 'claim', requestId);
  }
  return row;
}

/**
 * Records an approval and starts its pay-out, which the worker finishes. An approved or stuck case restarts as agreed.
 * Until the pay-out exists, another amount or a new quote replaces the agreement and stops workers that have the old
 * one. A treasury that is short refuses the approval; one that runs short later leaves `approved` with `last_error`.
 * Repeating a paid approval (same operator, same numbers) succeeds: the first answer may have been lost.
 * @throws Problem `case_already_claimed`, `case_already_decided`, `payout_undecided`, `payout_is_zero`, `plan_changed`,
 * `treasury_insufficient`, `invalid_request`. Nothing has changed then, except that a void quote makes a case `stuck`.
 */
export async function approve(ports: FlightsPorts, id: string, by: By, request: ApproveRequest): Promise<void> {
  const { store, clock, secrets } = ports;
  const opened = await openCase(ports, id);
  if (isDoneAsAsked(opened.row, by, request)) return;
  const requestId = opened.row.request_id;
  checkHolder(opened.row, by);
  const agreed = () => agreedQuote(ports, opened.row, request);
  const planned =
    isAgreed(opened.row) && isSameAmount(opened.row, request) ? null : await planRefund(ports, opened, request, agreed);
  if (planned) {
    checkAgreedTo(opened.row, planned, request);
    checkPlan(planned, request);
  } else await agreed();
  await inTurn(store, decidingTurns(opened.row), async (tx) => {
    if (isDoneAsAsked(await requestOf(tx, requestId), by, request)) return;
    const row = await take(ports, tx, requestId, by);
    const nowMs = clock.now();
    await checkUndecided(tx, opened.row, row, planned && { keeps: planned.penalty_amount });
    const isFirst = row.state === 'received';
    await tx
      .updateTable('refund_requests')
      .set((column) => ({
        ...movedTo(row, 'approved', 'operator'),
        attempts: 0,
        due_at_ms: nowMs,
        updated_at_ms: nowMs,
        ...(planned && {
          payout_amount: planned.payout_amount,
          penalty_amount: planned.penalty_amount,
          agreed: JSON.stringify(agreementOn(planned)),
          decided_by_name: by.operator.name,
          decided_at_ms: nowMs,
          last_error: null,
          ...(isFirst ? {} : { fence: column('fence', '+', 1) }),
          ...(request.note === undefined
            ? {}
            : { decision_sealed: secrets.encrypt(decisionPlace(requestId), request.note) }),
        }),
      }))
      .where('request_id', '=', requestId)
      .execute();
    await audit(ports, tx, by, isFirst ? 'approve' : planned ? 'change' : 'resume', requestId, {
      intent_id: row.intent_id,
      payout_amount: planned?.payout_amount ?? row.payout_amount,
      penalty_amount: planned?.penalty_amount ?? row.penalty_amount,
      overridden: planned?.overridden ?? false,
      ...(planned && agreementOn(planned)),
      ...(planned && !isFirst ? { before: decisionOn(row) } : {}),
    });
  });
  const { createRefundPayouts } = await import('./carry-out.ts');
  await createRefundPayouts(ports).carryOutNow(requestId);
  await checkTaken(ports, requestId);
}

const isSameAmount = (row: RefundRequestRow, request: ApproveRequest): boolean =>
  [request.payout_amount, request.expected_payout_amount].every(
    (amount) => amount === undefined || amount === row.payout_amount,
  );

const agreementOn = ({ airline_quote, cancelled_by }: RefundPlan): Agreement => ({ airline_quote, cancelled_by });

const decisionOn = (row: RefundRequestRow) => ({
  payout_amount: row.payout_amount,
  decided_by: row.decided_by_name,
  ...agreementOf(row),
});

/** @throws Problem `plan_changed` if the amount differs from the approved one and the operator did not name it */
function checkAgreedTo(row: RefundRequestRow, planned: RefundPlan, request: ApproveRequest): void {
  const named = request.payout_amount ?? request.expected_payout_amount;
  if (row.state === 'received' || named !== undefined || planned.payout_amount === row.payout_amount) return;
  throw problem('plan_changed', {
    detail: { payout_amount: planned.payout_amount, cancelled_by: planned.cancelled_by },
  });
}

/**
 * Refuses a case that has changed since `seen`, or whose pay-out has begun. @param decides null to keep the decision
 * @throws Problem `case_already_decided`
 */
async function checkUndecided(
  tx: Tx,
  seen: RefundRequestRow,
  row: RefundRequestRow,
  decides: { readonly keeps: number | null } | null,
): Promise<void> {
  const isSame =
    isGranted(seen) === isGranted(row) &&
    (['payout_amount', 'agreed', 'decided_at_ms'] as const).every((column) => seen[column] === row[column]);
  if (!isSame) throw alreadyDecided(row);
  if (decides === null) return;
  if (await liveAttempt(tx, 'payout', subjectOf(row))) throw alreadyDecided(row);
  // A capture of another amount is under way or done.
  const takes = (await liveAttempt(tx, 'capture', row.intent_id))?.reference ?? null;
  if (takes !== null && takes !== String(decides.keeps)) throw alreadyDecided(row);
}

/** @throws Problem `plan_changed` with the airline's new answer if the agreement is void. Nothing was paid then. */
async function checkTaken(ports: FlightsPorts, requestId: string): Promise<void> {
  const row = await requestOf(ports.store, requestId);
  if (row.state !== 'stuck' || row.last_error !== QUOTE_GONE) return;
  const endedBy = await cancelledBy(ports.store, row.intent_id);
  throw planChanged(endedBy === null ? { airline_quote: await freshQuote(ports, row) } : { cancelled_by: endedBy });
}

const isDoneAsAsked = (row: RefundRequestRow, by: By, request: ApproveRequest): boolean =>
  row.state === 'refunded' &&
  (row.claimed_by === by.operator.keyId || row.decided_by_name === by.operator.name) &&
  isSameAmount(row, request);

export async function planRejection(
  ports: FlightsPorts,
  { row }: OpenedCase,
  by: By,
  reason: string,
): Promise<RejectionPlan> {
  await checkRejectable(ports, row, by);
  const booking = await bookingOf(ports.store, row.intent_id);
  const reference = referenceIn((await orderOf(ports.store, row.intent_id))?.document);
  const { mailText } = await loadNotifyMails();
  return {
    request_id: row.request_id,
    intent_id: row.intent_id,
    dry_run: true,
    mail: booking?.passengers_sealed ? mailText('…', row.intent_id, rejection(reason), reference) : null,
  };
}

/** Checks that the ticket exists: a rejected booking goes on. @throws `case_already_…`, `ticket_already_cancelled` */
async function checkRejectable(ports: FlightsPorts, row: RefundRequestRow, by: By): Promise<void> {
  checkHolder(row, by);
  const { isMarked } = await import('./payouts.ts');
  // A restored database may lack the pay-out; the chain does not.
  if (await isMarked(ports, subjectOf(row))) {
    throw problem('case_already_decided', {
      message: 'The chain shows that this refund was paid. Approve it to record the payment.',
      detail: { status: row.state },
    });
  }
  const { mayBeCancelled } = await import('./carry-out.ts');
  const isCancelled = (await cancelledBy(ports.store, row.intent_id)) !== null;
  if (isCancelled || (await mayBeCancelled(ports, row))) throw ticketCancelled(row);
}

const ticketCancelled = ({ state }: RefundRequestRow) =>
  problem('ticket_already_cancelled', { detail: { status: state } });

const rejection = (reason: string) => ({ kind: 'refund_request_rejected', reason }) as const;

/** Rejects a request, even an approved one until its ticket is cancelled. @throws Problem as `checkRejectable` */
export async function reject(ports: FlightsPorts, id: string, by: By, reason: string): Promise<void> {
  const { store, clock, secrets } = ports;
  const { row } = await openCase(ports, id);
  await checkRejectable(ports, row, by);
  const booking = await bookingOf(store, row.intent_id);
  const tell = await createMails(ports).about(booking, rejection(reason), row.request_id);
  await inTurn(store, decidingTurns(row), async (tx) => {
    const held = await take(ports, tx, row.request_id, by);
    await checkUndecided(tx, row, held, { keeps: null });
    const nowMs = clock.now();
    await callOffCancellation(tx, row, held, nowMs);
    await tx
      .updateTable('refund_requests')
      .set((column) => ({
        ...movedTo(held, 'rejected', 'operator'),
        // Frees the intent: new facts may be sent with a new request.
        open_key: null,
        payout_amount: null,
        penalty_amount: null,
        agreed: null,
        // Stops a worker that is about to cancel.
        fence: column('fence', '+', 1),
        decided_by_name: by.operator.name,
        decided_at_ms: nowMs,
        decision_sealed: secrets.encrypt(decisionPlace(row.request_id), reason),
        updated_at_ms: nowMs,
      }))
      .where('request_id', '=', row.request_id)
      .execute();
    await audit(ports, tx, by, 'reject', row.request_id, {
      intent_id: row.intent_id,
      ...(isGranted(held) ? { before: decisionOn(held) } : {}),
    });
    await tell(tx);
  });
}

/** Ends an attempt that cancelled nothing. @throws `ticket_already_cancelled` if a worker took the case up since */
async function callOffCancellation(
  tx: Tx,
  asked: RefundRequestRow,
  { fence }: RefundRequestRow,
  nowMs: number,
): Promise<void> {
  const subject = subjectOf(asked);
  if (!(await liveAttempt(tx, 'airline_cancel', subject))) return;
  const ended = await tx
    .updateTable('effects')
    .set({ state: 'failed', live_key: null, error: 'never_made', updated_at_ms: nowMs })
    .where('live_key', '=', liveKey('airline_cancel', subject))
    .where('state', '=', 'sent')
    .executeTakeFirst();
  if (ended.numUpdatedRows === 0n || asked.fence !== fence) throw ticketCancelled(asked);
}

/**
 * Plans an approval of the operator's amount, else the approved one, else that of the fare rule (atomic units). Asks
 * for the airline's quote last, after all checks. @throws Problem `case_already_decided`, `payout_undecided`, …
 */
async function planRefund(
  ports: FlightsPorts,
  { row, intent }: OpenedCase,
  request: ApproveRequest,
  quoteOf: () => Promise<AirlineQuote | null>,
): Promise<RefundPlan> {
  const captured = await mostToPay(ports, { row, intent });
  const endedBy = await cancelledByNow(ports, intent.intent_id);
  const { payout, overridden } = payoutOf({ row, intent }, captured, request, endedBy);
  const { associatedTokenAddress } = await loadToken();
  const treasuryAccount = await associatedTokenAddress(ports.treasury, ports.mint);
  const order = await orderOf(ports.store, intent.intent_id);
  // An escrow can release only once. If others stay it is captured: they may be refunded later.
  const isReleased = !leavesOthers(row) && (await releases(ports, createEscrows(ports), intent));
  const quote = await quoteOf();
  return {
    request_id: row.request_id,
    intent_id: intent.intent_id,
    dry_run: true,
    captured_amount: Number(captured),
    penalty_amount: Number(captured - payout),
    payout_amount: Number(payout),
    overridden,
    paid_from: isReleased ? 'escrow' : 'treasury',
    cancelled_by: endedBy,
    treasury_wallet: ports.treasury,
    // A price that the escrow cannot release is captured into the treasury before the pay-out.
    treasury_amount:
      Number((await ports.cluster.tokenBalance(treasuryAccount)) ?? 0n) +
      (isHeld(intent) && !isReleased ? intent.amount : 0),
    refund_wallet: intent.refund_wallet,
    mint: ports.mint,
    airline_quote: quote,
    steps: stepsOf(ports, { row, intent }, payout, { order, quote, endedBy, isReleased, captured }),
  };
}

/** The price share of the request's travellers, but no more than earlier refunds have left. */
async function mostToPay({ store }: FlightsPorts, { row, intent }: OpenedCase): Promise<bigint> {
  const price = BigInt(intent.amount);
  const stake = stakeOf(partOf(row), price);
  const { paid } = await store
    .selectFrom('refund_requests')
    .select((column) => column.fn.sum('payout_amount').as('paid'))
    .where('intent_id', '=', intent.intent_id)
    .where('request_id', '<>', row.request_id)
    .where('state', '=', 'refunded')
    .executeTakeFirstOrThrow();
  const left = price - BigInt(paid ?? 0);
  return stake < left ? stake : left;
}

function payoutOf({ row, intent }: OpenedCase, captured: bigint, request: ApproveRequest, endedBy: CancelledBy) {
  const approved = row.state === 'received' ? null : row.payout_amount;
  if (request.payout_amount !== undefined && request.payout_amount !== approved) {
    checkOverride(request, captured);
    return { payout: BigInt(request.payout_amount), overridden: true };
  }
  // If the airline has cancelled since the approval, another rule applies.
  const isOvertaken = endedBy !== null && agreementOf(row)?.cancelled_by !== endedBy;
  if (approved !== null && !isOvertaken) return { payout: BigInt(approved), overridden: false };
  const { payout } = partRuleOf(partOf(row), lockedOffer(intent), BigInt(intent.amount), endedBy);
  if (payout === null) throw problem('payout_undecided');
  return { payout: payout < captured ? payout : captured, overridden: false };
}

interface AirlineFacts {
  readonly order: KeptOrder | undefined;
  readonly quote: AirlineQuote | null;
  readonly endedBy: CancelledBy;
  /** The refund comes out of the escrow. */
  readonly isReleased: boolean;
  /** The most that may be paid. */
  readonly captured: bigint;
}

function stepsOf({ treasury }: FlightsPorts, { row, intent }: OpenedCase, payout: bigint, facts: AirlineFacts) {
  const part = partOf(row);
  const byRule = partRuleOf(part, lockedOffer(intent), BigInt(intent.amount), facts.endedBy).payout;
  return [
    cancelStep(row, facts),
    ...quoteSteps(payout, byRule, facts.quote),
    ...(isHeld(intent) && !facts.isReleased
      ? [`Capture the ${formatUsdc(BigInt(intent.amount))} USDC in escrow.`]
      : []),
    facts.isReleased
      ? releaseStep(intent, payout)
      : `Pay ${formatUsdc(payout)} USDC from the treasury ${treasury} to the refund wallet ${intent.refund_wallet}.`,
    keptStep(part, facts.captured, payout, byRule),
    leavesOthers(row)
      ? 'Keep the booking of the other travellers, and e-mail the lead passenger.'
      : 'End the intent as refunded, and e-mail the lead passenger.',
  ];
}

function releaseStep({ amount, refund_wallet }: IntentRow, payout: bigint): string {
  const price = BigInt(amount);
  return payout === price
    ? `Release the ${formatUsdc(price)} USDC in escrow to the refund wallet ${refund_wallet}.`
    : `Capture ${formatUsdc(price - payout)} of the ${formatUsdc(price)} USDC in escrow and release ${formatUsdc(payout)} to the refund wallet ${refund_wallet}, in one transaction.`;
}

function cancelStep(row: RefundRequestRow, { order, quote, endedBy }: AirlineFacts): string {
  const id = order?.order_id ?? '–';
  if (endedBy !== 'airline' && leavesOthers(row)) {
    return `Cancel ${travellersNamed(passengersIn(row))} of order ${id} with the airline (${order?.provider_order_id ?? '–'}).`;
  }
  if (endedBy === 'airline') return `Cancel nothing: the airline has cancelled order ${id} itself. It keeps nothing.`;
  return isDeskOrder(order?.provider_order_id ?? '') || quote?.quote_id === null
    ? `Wait for you to cancel order ${id} with the airline: then farelock stuck resolve ${row.request_id} cancelled.`
    : `Cancel order ${id} with the airline (${order?.provider_order_id ?? '–'}).`;
}

/** Compares the airline's refund with the pay-out, if both are known. */
function quoteSteps(payout: bigint, byRule: bigint | null, quote: AirlineQuote | null): string[] {
  if (quote === null || quote.quote_id === null) return [];
  const told = `Get back from the airline: ${quoteText(quote)}.`;
  if (quote.refund_to !== null && !isMoney(quote)) {
    const lost = `Lose ${formatUsdc(payout)} USDC: what the airline gives back is not money.`;
    return payout === 0n ? [told] : [told, lost];
  }
  const dollars = quotedDollars(quote);
  if (dollars === null) return [told];
  const back = parseUsdc(dollars);
  if (back < payout) {
    const lost = formatUsdc(payout - back);
    return [told, `Lose ${lost} USDC: the pay-out is more than the airline gives back.`];
  }
  if (back === payout) return [told];
  const moreThanRule =
    byRule !== null && back > byRule
      ? ` The fare rule gives ${formatUsdc(byRule)}: the ticket may still be in its void window, in which airlines charge no penalty.`
      : '';
  return [
    told,
    `Gain ${formatUsdc(back - payout)} USDC: the airline gives back more than the pay-out.${moreThanRule} To pass it on: --amount ${dollars} --note <text>.`,
  ];
}

/** Explains the amount that is not paid out: the carrier's penalty, or the rest of a partial pay-out. */
function keptStep(part: Part | null, captured: bigint, payout: bigint, byRule: bigint | null): string {
  if (payout === captured) return `Keep nothing: the whole ${part ? 'share' : 'price'} goes back.`;
  const kept = `Keep ${formatUsdc(captured - payout)} USDC of ${formatUsdc(captured)}`;
  return payout === byRule
    ? `${kept}: the penalty of the fare rule.`
    : `${kept}: this is a partial pay-out${byRule === null ? '' : `, and the fare rule gives ${formatUsdc(byRule)}`}.`;
}

const alreadyDecided = (row: RefundRequestRow) =>
  problem('case_already_decided', {
    detail: { status: row.state, ...(row.decided_by_name ? { decided_by: row.decided_by_name } : {}) },
  });

function checkOverride(request: ApproveRequest, captured: bigint): void {
  const issues = [
    ...(BigInt(request.payout_amount ?? 0) > captured
      ? [{ path: 'payout_amount', message: `is more than the ${formatUsdc(captured)} USDC that was paid.` }]
      : []),
    ...(request.note === undefined ? [{ path: 'note', message: 'is required when you set the amount yourself.' }] : []),
  ];
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}

function checkPlan(planned: RefundPlan, request: ApproveRequest): void {
  const expected = request.expected_payout_amount;
  if (expected !== undefined && expected !== planned.payout_amount) {
    throw problem('plan_changed', { detail: { expected, payout_amount: planned.payout_amount } });
  }
  if (planned.payout_amount === 0) throw nothingToPay(planned.airline_quote);
  if (planned.paid_from === 'treasury' && planned.treasury_amount < planned.payout_amount) {
    const { treasury_amount, payout_amount } = planned;
    throw problem('treasury_insufficient', { detail: { treasury_amount, payout_amount } });
  }
}
