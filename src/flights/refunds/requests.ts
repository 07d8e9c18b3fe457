import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall, Payment } from '../../payments/index.ts';
import type { RefundRequest, RefundRequestResponse } from '../../wire/flights/index.ts';
import {
  createAttempts,
  type FlightsPorts,
  type IntentRow,
  lockedOffer,
  type RefundRequestRow,
  type Store,
  shownIntent,
} from '../base/index.ts';
import {
  holdOrDrop,
  isCodeOf,
  isNameOf,
  leadFamilyName,
  loadBookingsMails,
  normalisedCode,
  supportCodeHmac,
} from '../bookings/index.ts';
import { contactPlace, movedTo, reasonPlace } from './states.ts';

/** Who asks: the two headers, and the client that they came from. */
interface RefundIdentity {
  readonly supportCode: string | null;
  readonly familyName: string | null;
  readonly client: string;
}

/** Refund requests: POST /air/refund-requests. What operators do with them is in operator.ts. */
export function createRefunds(ports: FlightsPorts) {
  const { store, secrets, options } = ports;
  const judge = createAttempts(ports);

  /**
   * The paid request (CONTRACT, sections 2 and 7): check, verify, put on record, settle, show to the operators, page.
   * Problems, all free: `support_code_required`, `family_name_required`, `intent_not_found`, `use_automatic_refund`,
   * `already_refunded`, `identity_mismatch`, `too_many_attempts`, `family_name_unavailable`,
   * `refund_already_requested`. How an intent stands is public, so it is said to anybody; the rest needs the identity.
   */
  function request(body: RefundRequest, who: RefundIdentity, url: string): PaidCall {
    return {
      resource: 'POST /air/refund-requests',
      url,
      // The headers decide the answer, so a payment is bound to them; only their keyed hashes go further.
      request: {
        ...body,
        support_code: supportCodeHmac(secrets, normalisedCode(who.supportCode ?? '')),
        family_name: secrets.hmac('family name', who.familyName ?? ''),
      },
      settle: 'before',
      async check() {
        const { supportCode, familyName } = who;
        if (supportCode === null || supportCode.trim() === '') throw problem('support_code_required');
        if (familyName === null || familyName.trim() === '') throw problem('family_name_required');
        const intent = await shownIntent(store, body.intent_id);
        checkStatus(intent);
        await checkIdentity(ports, judge, intent, { code: supportCode, name: familyName, client: who.client });
        const open = await openRequest(store, intent.intent_id);
        if (open && open.state !== 'settling') throw problem('refund_already_requested');
        return {
          amount: options.refundRequestPrice,
          payTo: ports.treasury,
          asset: ports.mint,
          description: 'File one refund request for manual review',
        };
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

  return { request };
}

function checkStatus(intent: IntentRow): void {
  if (intent.status === 'active') throw problem('use_automatic_refund');
  if (intent.status === 'refunded') throw problem('already_refunded');
}

/** Both are compared whatever the other one is, and the answer does not say which was wrong. */
async function checkIdentity(
  { store, secrets }: FlightsPorts,
  judge: ReturnType<typeof createAttempts>,
  intent: IntentRow,
  { code, name, client }: { readonly code: string; readonly name: string; readonly client: string },
): Promise<void> {
  const booking = await store
    .selectFrom('bookings')
    .select(['intent_id', 'passengers_sealed'])
    .where('intent_id', '=', intent.intent_id)
    .executeTakeFirst();
  const onRecord = leadFamilyName(secrets, booking);
  const isRight = await judge({ intentId: intent.intent_id, client }, () => {
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
      ports.store.transaction().execute(async (tx) => {
        const holder = await openRequest(tx, body.intent_id);
        if (holder) return holder.payment_key === payment.key ? null : holder;
        const intent = await tx
          .selectFrom('intents')
          .selectAll()
          .where('intent_id', '=', body.intent_id)
          .executeTakeFirstOrThrow();
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
): RefundRequestRow {
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
    claimed_by: null,
    claimed_by_name: null,
    claimed_at_ms: null,
    decided_by_name: null,
    decided_at_ms: null,
    decision_sealed: null,
    payout_amount: null,
    penalty_amount: null,
    payout_tx_hash: null,
    airline_quote: null,
    agreed: null,
    due_at_ms: nowMs + options.settlingGraceMs,
    lease_until_ms: 0,
    fence: 0,
    attempts: 0,
    last_error: null,
    updated_at_ms: nowMs,
  };
}

const openRequest = (store: Store, intentId: string) =>
  store.selectFrom('refund_requests').selectAll().where('open_key', '=', intentId).executeTakeFirst();

/**
 * Shows a paid request to the operators, pages them and writes the mail, all in one step; again is harmless.
 * @returns when it was requested, epoch ms
 */
export async function receive(ports: FlightsPorts, row: RefundRequestRow, by: 'payment' | 'runner'): Promise<number> {
  const { store, clock } = ports;
  if (row.state !== 'settling') return row.requested_at_ms;
  const { createMails } = await loadBookingsMails();
  const booking = await store
    .selectFrom('bookings')
    .select(['intent_id', 'passengers_sealed'])
    .where('intent_id', '=', row.intent_id)
    .executeTakeFirstOrThrow();
  const tell = await createMails(ports).about(booking, { kind: 'refund_request_received' }, row.request_id);
  const nowMs = clock.now();
  const received = await store.transaction().execute(async (tx) => {
    const written = await tx
      .updateTable('refund_requests')
      .set({ ...movedTo(row, 'received', by), requested_at_ms: nowMs, updated_at_ms: nowMs })
      .where('request_id', '=', row.request_id)
      .where('state', '=', 'settling')
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n) return false;
    await ports.outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:refund_requested:${row.request_id}`,
      intentId: row.intent_id,
      event: 'refund_requested',
      text: `Refund requested for ${row.intent_id} (journey ${row.journey_date}).`,
      fields: {
        request_id: row.request_id,
        intent_id: row.intent_id,
        journey_date: row.journey_date,
        show: `farelock refund show ${row.request_id}`,
      },
    });
    await tell(tx);
    return true;
  });
  if (received) {
    ports.log('info', 'refund_requested', { request_id: row.request_id, intent_id: row.intent_id });
    return nowMs;
  }
  const now = await store
    .selectFrom('refund_requests')
    .select('requested_at_ms')
    .where('request_id', '=', row.request_id)
    .executeTakeFirstOrThrow();
  return now.requested_at_ms;
}

/** Takes back a request whose payment is certain to have failed. */
export async function dropUnpaidRequest({ store }: Pick<FlightsPorts, 'store'>, paymentKey: string): Promise<void> {
  await store
    .deleteFrom('refund_requests')
    .where('payment_key', '=', paymentKey)
    .where('state', '=', 'settling')
    .execute();
}
