import { instant } from '../../kernel/clock.ts';
import { companionFault, type Part } from '../../kernel/domain/part-refunds.ts';
import { travellersNamed } from '../../kernel/domain/payout-names.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall, Payment } from '../../payments/index.ts';
import { inTurn } from '../../store/base/index.ts';
import type { RefundRequest, RefundRequestResponse } from '../../wire/flights/index.ts';
import type { Asked, FlightsPorts, IntentRow, RefundRequestRow, Store } from '../base/index.ts';
import {
  bookingOf,
  createAttempts,
  intentOf,
  leavesOthers,
  lockedOffer,
  orderOf,
  page,
  partsRefunded,
  passengersIn,
  requestOf,
  shownIntent,
  toTreasury,
} from '../base/index.ts';
import {
  cancelsSome,
  createMails,
  holdOrDrop,
  isCodeOf,
  isNameOf,
  leadFamilyName,
  normalisedCode,
  supportCodeHmac,
  travellersOf,
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
    // The headers decide the answer, so a payment is bound to them. Only their keyed hashes are passed on.
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
      await partAsked(ports, store, intent, body.passengers);
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

/**
 * Returns a request's travellers with their shares of the price; null for all travellers of a booking without refunds.
 * @throws Problem `already_refunded`, `passenger_needed`, `passenger_refund_unavailable`, `invalid_request`
 */
async function partAsked(
  { provider, secrets }: FlightsPorts,
  on: Store,
  intent: IntentRow,
  asked: readonly number[] | undefined,
): Promise<Part | null> {
  const { intent_id, passenger_count: count } = intent;
  const gone = (await partsRefunded(on, intent_id)).flatMap(passengersIn);
  for (const [at, passenger] of (asked ?? []).entries()) {
    const path = `passengers.${at}`;
    if (passenger > count) {
      const message = `is no traveller of this booking, which is for ${count}.`;
      throw problem('invalid_request', { detail: { issues: [{ path, message }] } });
    }
    if (gone.includes(passenger)) {
      throw problem('already_refunded', {
        message: `Traveller ${passenger} was refunded before.`,
        detail: { passenger },
      });
    }
  }
  const all = Array.from({ length: count }, (_, index) => index + 1).filter((passenger) => !gone.includes(passenger));
  const leaving = all.filter((passenger) => asked?.includes(passenger) ?? true);
  const ends = leaving.length === all.length;
  if (ends && gone.length === 0) return null;
  if (!ends && !cancelsSome(provider, await orderOf(on, intent_id))) throw problem('passenger_refund_unavailable');
  const travellers = travellersOf(secrets, intent, await bookingOf(on, intent_id));
  const { shares, ages } = travellers ?? { shares: null, ages: [] };
  if (shares === null) {
    throw problem('passenger_refund_unavailable', {
      message: 'The seller of this fare does not tell what each traveller paid.',
    });
  }
  const fault = companionFault(ages.filter((_, index) => all.includes(index + 1) && !leaving.includes(index + 1)));
  if (fault !== null) throw problem('passenger_needed', { message: fault, detail: { passengers: leaving } });
  return { ends, of: shares.filter(({ passenger }) => leaving.includes(passenger)) };
}

/** Always compares both the code and the name, and never says which was wrong. */
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

/** Records a request for its payment. Its unique open key allows one open request per intent. */
const record = (ports: FlightsPorts, body: RefundRequest, payment: Payment): Promise<void> =>
  holdOrDrop<RefundRequestRow>({
    insertUnlessHeld: () =>
      inTurn(ports.store, [`intents:${body.intent_id}`], async (tx) => {
        const holder = await openRequest(tx, body.intent_id);
        if (holder) return holder.payment_key === payment.key ? null : holder;
        const intent = await intentOf(tx, body.intent_id);
        checkStatus(intent);
        const part = await partAsked(ports, tx, intent, body.passengers);
        await tx
          .insertInto('refund_requests')
          .values(newRequest(ports, body, intent, payment, part))
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
  part: Part | null,
) {
  const requestId = ids.next('ref');
  const nowMs = clock.now();
  return {
    request_id: requestId,
    intent_id: intent.intent_id,
    open_key: intent.intent_id,
    passengers: part && JSON.stringify(part),
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

/** Shows a paid request to operators, pages them and queues a mail, once. @returns when it was received, epoch ms */
export async function receive(ports: FlightsPorts, row: RefundRequestRow, by: 'payment' | 'runner'): Promise<number> {
  const { store, clock } = ports;
  const { request_id, intent_id, journey_date } = row;
  if (row.state !== 'settling') return row.requested_at_ms;
  const booking = await bookingOf(store, intent_id);
  const tell = await createMails(ports).about(booking, { kind: 'refund_request_received' }, request_id);
  const requested = page('refund_requested', request_id, {
    intentId: intent_id,
    text: `Refund requested for ${intent_id}${travellersText(row)} (journey ${journey_date}).`,
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

/** `, traveller 3 alone`; empty for all travellers. */
const travellersText = (row: RefundRequestRow): string =>
  leavesOthers(row) ? `, ${travellersNamed(passengersIn(row))} alone` : '';

export async function dropUnpaidRequest({ store }: FlightsPorts, paymentKey: string): Promise<void> {
  await store
    .deleteFrom('refund_requests')
    .where('payment_key', '=', paymentKey)
    .where('state', '=', 'settling')
    .execute();
}
