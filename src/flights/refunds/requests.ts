import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall, Payment } from '../../payments/index.ts';
import { inTurn } from '../../store/base/index.ts';
import type { RefundRequest, RefundRequestResponse } from '../../wire/flights/index.ts';
import type { Asked, FlightsPorts, IntentRow, RefundRequestRow, Store } from '../base/index.ts';
import {
  bookingOf,
  createAttempts,
  intentOf,
  lockedOffer,
  page,
  requestOf,
  shownIntent,
  toTreasury,
} from '../base/index.ts';
import {
  createMails,
  holdOrDrop,
  isCodeOf,
  isNameOf,
  leadFamilyName,
  normalisedCode,
  supportCodeHmac,
} from '../bookings/index.ts';
import { contactPlace, movedTo, reasonPlace } from './states.ts';

/** POST /air/refund-requests (CONTRACT, sections 2 and 7): check, verify, record, settle, show to operators, page. */
export function refundRequestCall(
  ports: FlightsPorts,
  { body, url, client }: Asked<RefundRequest>,
  supportCode: string | null,
  familyName: string | null,
): PaidCall {
  const { store, secrets, options } = ports;
  return {
    resource: 'POST /air/refund-requests',
    url,
    // The headers decide the answer, so a payment is bound to them; only their keyed hashes go further.
    request: {
      ...body,
      support_code: supportCodeHmac(secrets, normalisedCode(supportCode ?? '')),
      family_name: secrets.hmac('family name', familyName ?? ''),
    },
    settle: 'before',
    async check() {
      if (supportCode === null || supportCode.trim() === '') throw problem('support_code_required');
      if (familyName === null || familyName.trim() === '') throw problem('family_name_required');
      // An intent's state is public; every other answer needs the identity.
      const intent = await shownIntent(store, body.intent_id);
      checkStatus(intent);
      await checkIdentity(ports, intent, { code: supportCode, name: familyName, client });
      const open = await openRequest(store, intent.intent_id);
      if (open && open.state !== 'settling') throw problem('refund_already_requested');
      return toTreasury(ports, options.refundRequestPrice, 'File one refund request for manual review');
    },
    prepare: (payment) => record(ports, body, payment),
    async perform(payment) {
      let row = await byPayment(store, payment);
      if (!row) {
        await record(ports, body, payment);
        row = await byPayment(store, payment);
      }
      if (!row) throw new Error('a recorded refund request is gone');
      const requestedAtMs = await receive(ports, row, 'payment');
      const answer: RefundRequestResponse = {
        intent_id: row.intent_id,
        requested_at: instant(requestedAtMs),
        status: 'received',
      };
      return { status: 202, body: answer };
    },
    undo: (payment) => dropUnpaidRequest(ports, payment.key),
  };
}

function checkStatus(intent: IntentRow): void {
  if (intent.status === 'active') throw problem('use_automatic_refund');
  if (intent.status === 'refunded') throw problem('already_refunded');
}

/** Compares both, whatever the other one is; the answer does not say which was wrong. */
async function checkIdentity(
  ports: FlightsPorts,
  intent: IntentRow,
  { code, name, client }: { readonly code: string; readonly name: string; readonly client: string },
): Promise<void> {
  const { store, secrets } = ports;
  const onRecord = leadFamilyName(secrets, await bookingOf(store, intent.intent_id));
  const isRight = await createAttempts(ports)({ intentId: intent.intent_id, client }, () => {
    const codeIsRight = isCodeOf(secrets, intent, code);
    const nameIsRight = isNameOf(onRecord ?? '', name) || onRecord === null;
    return codeIsRight && nameIsRight;
  });
  if (!isRight) throw problem('identity_mismatch');
  if (onRecord === null) throw problem('family_name_unavailable');
}

const byPayment = (store: Store, payment: Payment) =>
  store.selectFrom('refund_requests').selectAll().where('payment_key', '=', payment.key).executeTakeFirst();

/** Puts a request on record for its payment. Its open key is the lock: there is one for each intent. */
const record = (ports: FlightsPorts, body: RefundRequest, payment: Payment): Promise<void> =>
  holdOrDrop<RefundRequestRow>({
    insertUnlessHeld: () =>
      inTurn(ports.store, [`intents:${body.intent_id}`], async (tx) => {
        const holder = await openRequest(tx, body.intent_id);
        if (holder) return holder.payment_key === payment.key ? null : holder;
        const intent = await intentOf(tx, body.intent_id);
        checkStatus(intent);
        await tx
          .insertInto('refund_requests')
          .values(newRequest(ports, body, intent, payment))
          .execute();
        return null;
      }),
    async dropUnpaid({ state, payment_key }) {
      if (state !== 'settling' || (await ports.paywall.outcome(payment_key)) !== 'failed') return false;
      await dropUnpaidRequest(ports, payment_key);
      return true;
    },
    refusal: () => problem('refund_already_requested'),
  });

function newRequest(
  { ids, clock, secrets, options }: FlightsPorts,
  body: RefundRequest,
  intent: IntentRow,
  payment: Payment,
) {
  const requestId = ids.next('ref');
  const nowMs = clock.now();
  return {
    request_id: requestId,
    intent_id: intent.intent_id,
    open_key: intent.intent_id,
    payment_key: payment.key,
    state: 'settling',
    reason_sealed: secrets.encrypt(reasonPlace(requestId), body.reason),
    contact_sealed: body.contact === undefined ? null : secrets.encrypt(contactPlace(requestId), body.contact),
    journey_date: lockedOffer(intent).departing_at.slice(0, 10),
    requested_at_ms: nowMs,
    due_at_ms: nowMs + options.settlingGraceMs,
    lease_until_ms: 0,
    updated_at_ms: nowMs,
  } as const;
}

const openRequest = (store: Store, intentId: string) =>
  store.selectFrom('refund_requests').selectAll().where('open_key', '=', intentId).executeTakeFirst();

/** Shows a paid request, pages and writes the mail in one repeatable step. @returns when it was requested, epoch ms */
export async function receive(ports: FlightsPorts, row: RefundRequestRow, by: 'payment' | 'runner'): Promise<number> {
  const { store, clock } = ports;
  const { request_id, intent_id, journey_date } = row;
  if (row.state !== 'settling') return row.requested_at_ms;
  const booking = await bookingOf(store, intent_id);
  const tell = await createMails(ports).about(booking, { kind: 'refund_request_received' }, request_id);
  const requested = page('refund_requested', request_id, {
    intentId: intent_id,
    text: `Refund requested for ${intent_id} (journey ${journey_date}).`,
    fields: { request_id, intent_id, journey_date, show: `farelock refund show ${request_id}` },
  });
  const nowMs = clock.now();
  const received = await inTurn(store, [`refund_requests:${request_id}`], async (tx) => {
    const written = await tx
      .updateTable('refund_requests')
      .set({ ...movedTo(row, 'received', by), requested_at_ms: nowMs, updated_at_ms: nowMs })
      .where('request_id', '=', request_id)
      .where('state', '=', 'settling')
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n) return false;
    await ports.outbox.enqueue(tx, requested);
    await tell(tx);
    return true;
  });
  if (received) {
    ports.log('info', 'refund_requested', { request_id, intent_id });
    return nowMs;
  }
  return (await requestOf(store, request_id)).requested_at_ms;
}

export async function dropUnpaidRequest({ store }: FlightsPorts, paymentKey: string): Promise<void> {
  await store
    .deleteFrom('refund_requests')
    .where('payment_key', '=', paymentKey)
    .where('state', '=', 'settling')
    .execute();
}
