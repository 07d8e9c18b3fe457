import { problem } from '../../kernel/problems.ts';
import { type Operator, writeAudit } from '../desk/audit.ts';
import type { FlightsPorts } from '../ports.ts';
import type { RefundRequestRow } from '../rows.ts';
import type { Store, Tx } from '../tables.ts';
import type { ApproveRequest, RefundPlan, RejectionPlan } from '../wire.ts';
import { agreedQuote, freshQuote, QUOTE_GONE, quoteChanged } from './airline-quote.ts';
import type { OpenedCase, RefundCases } from './cases.ts';
import { alreadyDecided, checkPlan, planRefund } from './plan.ts';
import { movedTo } from './states.ts';
import { decisionPlace, notePlace } from './words.ts';

/** Who does it, in which call. */
export interface By {
  readonly operator: Operator;
  readonly requestId: string;
}

/**
 * What operators do with a case. A case belongs to whoever claimed it until it is released; deciding takes a free one.
 * Each act and its row in the audit trail are one transaction.
 */
export function createRefundDecisions(ports: FlightsPorts, cases: RefundCases) {
  const { store } = ports;
  return {
    /** @throws Problem `case_already_claimed` too: who could not do it is not told what it would do */
    async plan(opened: OpenedCase, by: By, request: ApproveRequest): Promise<RefundPlan> {
      checkHolder(opened.row, by);
      return planRefund(ports, opened, request, () => freshQuote(ports, opened.row));
    },

    planRejection: (opened: OpenedCase, by: By, reason: string): Promise<RejectionPlan> =>
      planRejection(ports, opened, by, reason),

    claim: (requestId: string, by: By) =>
      store.transaction().execute(async (tx) => {
        await take(ports, tx, requestId, by);
      }),

    release: (requestId: string, by: By, force: boolean) =>
      store.transaction().execute(async (tx) => {
        if (!force) await take(ports, tx, requestId, by);
        await tx
          .updateTable('refund_requests')
          .set({ claimed_by: null, claimed_by_name: null, claimed_at_ms: null })
          .where('request_id', '=', requestId)
          .execute();
        await audit(ports, tx, by, 'release', requestId, { force });
      }),

    note: (requestId: string, by: By, text: string) =>
      store.transaction().execute((tx) => addNote(ports, tx, requestId, by, text)),

    approve: (id: string, by: By, request: ApproveRequest): Promise<void> =>
      approve(ports, cases, id, by, request),

    reject: (id: string, by: By, reason: string): Promise<void> => reject(ports, cases, id, by, reason),
  };
}

export type RefundDecisions = ReturnType<typeof createRefundDecisions>;

const audit = (
  ports: FlightsPorts,
  tx: Tx,
  by: By,
  action: string,
  subject: string,
  detail: Record<string, unknown> = {},
) => writeAudit(tx, ports, { ...by, action: `refund.${action}`, subject, detail });

/** @throws Problem `case_already_claimed`, with who has it */
function checkHolder(row: RefundRequestRow, { operator }: By): void {
  if (row.claimed_by === null || row.claimed_by === operator.keyId) return;
  throw problem('case_already_claimed', {
    detail: {
      claimed_by: row.claimed_by_name,
      claimed_at: new Date(row.claimed_at_ms ?? 0).toISOString(),
    },
  });
}

/** @throws Problem `case_already_claimed` */
async function take(ports: FlightsPorts, tx: Tx, requestId: string, by: By): Promise<RefundRequestRow> {
  const row = await tx
    .selectFrom('refund_requests')
    .selectAll()
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow();
  checkHolder(row, by);
  if (row.claimed_by === null) {
    await tx
      .updateTable('refund_requests')
      .set({
        claimed_by: by.operator.keyId,
        claimed_by_name: by.operator.name,
        claimed_at_ms: ports.clock.now(),
      })
      .where('request_id', '=', requestId)
      .execute();
    await audit(ports, tx, by, 'claim', requestId);
  }
  return row;
}

async function addNote(ports: FlightsPorts, tx: Tx, requestId: string, by: By, text: string): Promise<void> {
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
}

/**
 * Fixes what is paid out and starts it; the worker finishes it whatever happens to this request. An approved or
 * stuck case is started again, with the amounts of its approval. A treasury that is short before anything is on
 * record refuses the approval; one that is emptied after it leaves the case `approved`, with that as `last_error`,
 * and so does every try until it is filled up. What the same operator approved with the same numbers, and is paid
 * out, is approved: the answer may have been lost.
 * @throws Problem `case_already_claimed`, `case_already_decided`, `payout_undecided`, `payout_is_zero`,
 *   `plan_changed`, `treasury_insufficient`, `invalid_request`: nothing was changed then, but that an approval whose
 *   quote the airline did not take waits for a new one (`stuck`)
 */
async function approve(
  ports: FlightsPorts,
  cases: RefundCases,
  id: string,
  by: By,
  request: ApproveRequest,
): Promise<void> {
  const { store, clock, secrets } = ports;
  const opened = await cases.open(id);
  if (isDoneAsAsked(opened.row, by, request)) return;
  const requestId = opened.row.request_id;
  const resumes = ['approved', 'stuck'].includes(opened.row.state);
  const agreed = () => agreedQuote(ports, opened.row, request);
  checkHolder(opened.row, by);
  const planned = resumes ? null : await planRefund(ports, opened, request, agreed);
  if (planned) checkPlan(planned, request);
  const quote = planned ? planned.airline_quote : await agreed();
  await store.transaction().execute(async (tx) => {
    const row = await take(ports, tx, requestId, by);
    const nowMs = clock.now();
    if (isDoneAsAsked(row, by, request)) return;
    const isOpen = row.state === 'received';
    if (!isOpen && !(resumes && ['approved', 'stuck'].includes(row.state))) throw alreadyDecided(row);
    await tx
      .updateTable('refund_requests')
      .set({
        ...movedTo(row, 'approved', 'operator'),
        attempts: 0,
        due_at_ms: nowMs,
        updated_at_ms: nowMs,
        ...(quote && { airline_quote: JSON.stringify(quote), last_error: null }),
        ...(planned
          ? {
              payout_amount: planned.payout_amount,
              penalty_amount: planned.penalty_amount,
              decided_by_name: by.operator.name,
              decided_at_ms: nowMs,
              decision_sealed:
                request.note === undefined ? null : secrets.encrypt(decisionPlace(requestId), request.note),
            }
          : {}),
      })
      .where('request_id', '=', requestId)
      .execute();
    await audit(ports, tx, by, resumes ? 'resume' : 'approve', requestId, {
      intent_id: row.intent_id,
      payout_amount: planned?.payout_amount ?? row.payout_amount,
      penalty_amount: planned?.penalty_amount ?? row.penalty_amount,
      overridden: planned?.overridden ?? false,
      ...(quote && { airline_quote: quote }),
    });
  });
  const { createRefundPayouts } = await import('./refund-payouts.ts');
  await createRefundPayouts(ports).carryOutNow(requestId);
  if (quote) await checkTaken(ports, cases, requestId);
}

/** @throws Problem `plan_changed` with what the airline says now: it did not take the quote, and nothing was paid */
async function checkTaken(ports: FlightsPorts, cases: RefundCases, requestId: string): Promise<void> {
  const { row } = await cases.open(requestId);
  if (row.state === 'stuck' && row.last_error === QUOTE_GONE)
    throw quoteChanged(await freshQuote(ports, row));
}

const isDoneAsAsked = (row: RefundRequestRow, by: By, request: ApproveRequest): boolean =>
  row.state === 'refunded' &&
  row.claimed_by === by.operator.keyId &&
  [request.payout_amount, request.expected_payout_amount].every(
    (amount) => amount === undefined || amount === row.payout_amount,
  );

/** @throws Problem `case_already_claimed`, `case_already_decided` */
async function planRejection(
  { store }: FlightsPorts,
  { row }: OpenedCase,
  by: By,
  reason: string,
): Promise<RejectionPlan> {
  checkHolder(row, by);
  if (row.state !== 'received') throw alreadyDecided(row);
  const { passengers_sealed } = await bookingOf(store, row);
  const { mailText } = await import('../../notify/mails.ts');
  return {
    request_id: row.request_id,
    intent_id: row.intent_id,
    dry_run: true,
    // Operators decide without names: none is shown here either.
    mail: passengers_sealed === '' ? null : mailText('…', row.intent_id, rejection(reason)),
  };
}

const rejection = (reason: string) => ({ kind: 'refund_request_rejected', reason }) as const;

const bookingOf = (store: Store, row: RefundRequestRow) =>
  store
    .selectFrom('bookings')
    .select(['intent_id', 'passengers_sealed'])
    .where('intent_id', '=', row.intent_id)
    .executeTakeFirstOrThrow();

/** @throws Problem `case_already_claimed`, `case_already_decided` */
async function reject(
  ports: FlightsPorts,
  cases: RefundCases,
  id: string,
  by: By,
  reason: string,
): Promise<void> {
  const { store, clock, secrets } = ports;
  const { row } = await cases.open(id);
  const { createMails } = await import('../orders/mails.ts');
  const booking = await bookingOf(store, row);
  const tell = await createMails(ports).about(booking, rejection(reason), row.request_id);
  await store.transaction().execute(async (tx) => {
    const held = await take(ports, tx, row.request_id, by);
    if (held.state !== 'received') throw alreadyDecided(held);
    const nowMs = clock.now();
    await tx
      .updateTable('refund_requests')
      .set({
        ...movedTo(held, 'rejected', 'operator'),
        // Frees the intent: new facts may be sent with a new request.
        open_key: null,
        decided_by_name: by.operator.name,
        decided_at_ms: nowMs,
        decision_sealed: secrets.encrypt(decisionPlace(row.request_id), reason),
        updated_at_ms: nowMs,
      })
      .where('request_id', '=', row.request_id)
      .execute();
    await audit(ports, tx, by, 'reject', row.request_id, { intent_id: row.intent_id });
    await tell(tx);
  });
}
