import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { Call } from '../call.ts';
import { createComplianceGate, type WantedOrder } from '../compliance/compliance-gate.ts';
import { createStanding } from '../compliance/standing.ts';
import type { CreateOrderRequest, CreateOrderResponse } from '../offers/offer-schema.ts';
import { type OrderRow, openColumn, orderRecord } from '../orders/order-record.ts';
import { openOutbound, outboundPartner, type PartnerRow } from '../outbound/outbound-partner.ts';
import type { PartnerPorts } from '../ports.ts';
import { type CreateOrderBody, type Outcome, outcomeOfCreation } from './create-order.ts';
import { LONGEST_WAIT_MS } from './creation-due.ts';
import { createCreationEnds } from './creation-ends.ts';
import { type CreationEnd, createCreations, GIVE_UP_MS, noteOf } from './creations.ts';
import { checkedOrder, unsendable } from './order-request.ts';
import { forwardedFor, outcomeOfRedirection, type RedirectOrderBody } from './redirect-order.ts';

/** How long a call waits for another one, or another process, that drives the same creation. */
const LONGEST_CALL_MS = 14_000;
const LOOK_AGAIN_MS = 100;
const MOST_PER_RUN = 20;
/** What a customer is told where the partner said nothing of when. */
const RETRY_AFTER_S = 5;
/** For the row: the partner's own words may speak of the customer, and are sealed. */
const REFUSED = 'the platform refused the order';

/**
 * CreateOrder *(ours)* and what stands behind it (CONTRACT, section 12). The order's row is written first, then its
 * platform is asked with the row's id as the key, then the answer is kept in one transaction. Whatever dies in between,
 * the row tells what to ask, and asking again is the same order.
 */
export function createOrderCreation(ports: PartnerPorts) {
  const { store, secrets, clock, environment } = ports;
  const creations = createCreations(ports);
  const ends = createCreationEnds(ports);
  const outbound = openOutbound(ports);

  const partnerOf = (partnerId: string): Promise<PartnerRow | undefined> =>
    store
      .selectFrom('partners')
      .selectAll()
      .where('partner_id', '=', partnerId)
      .where('environment', '=', environment)
      .executeTakeFirst();

  /**
   * CreateOrder. The same Idempotency-Key is the same order: it continues what was begun.
   * @throws Problem `partner_not_found`, `invalid_request`, `compliance_required`, `idempotency_key_reused`,
   *   `partner_refused`, `partner_unavailable`, `partner_answer_invalid`
   */
  async function create(call: Call, input: CreateOrderRequest): Promise<CreateOrderResponse> {
    const { customerId } = call;
    if (customerId === null) throw problem('customer_token_required');
    const address = forwardedFor(call.clientAddress);
    const known = await creations.known(call.idempotency);
    if (known) {
      const again = known.creation === 'failed' && noteOf(secrets, known).ended?.kind === 'again';
      if (again) await creations.reopen(known, address);
      return answered(await driven(known.order_id, call.requestId));
    }
    const partner = await partnerOf(input.partnerId);
    if (partner?.enabled !== 1) throw problem('partner_not_found');
    const wanted = await checkedOrder(ports, customerId, partner, input);
    const asked: WantedOrder = {
      partnerId: wanted.partnerId,
      country: wanted.countryCode,
      rampType: wanted.rampType,
      amount: wanted.fromAmount,
      currency: wanted.fromCurrency,
      network: wanted.network,
      walletDataId: wanted.walletDataId,
    };
    const gate = createComplianceGate(ports, createStanding(ports));
    await gate(customerId, asked);
    // Once more with the row: two orders at once that are too much together do not both pass.
    const row = await creations.begin(call.idempotency, wanted, address, (tx) => gate(customerId, asked, tx));
    return answered(await driven(row.order_id, call.requestId));
  }

  /** Drives a creation to its end, or waits for whoever does. @returns the row as it then is */
  async function driven(orderId: string, requestId: string): Promise<OrderRow> {
    const untilMs = clock.now() + LONGEST_CALL_MS;
    for (;;) {
      const claimed = await creations.claim(orderId);
      if (claimed) await drive(claimed, requestId);
      const row = await creations.read(orderId);
      if (!row) throw problem('order_not_found');
      if (claimed || row.creation !== 'creating' || clock.now() >= untilMs) return row;
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }

  /** One drive: asks the platform, keeps what it says. What it leaves open, the worker takes up. */
  async function drive(row: OrderRow, requestId: string): Promise<void> {
    const partner = await partnerOf(row.partner_id);
    if (!partner) throw new Error('an order without its partner');
    const isFirst = row.attempts === 1;
    const wrong = await unsendable(ports, row, noteOf(secrets, row).walletAddress);
    if (wrong !== null) {
      // What was sent before, if anything was, a person has to look for.
      if (isFirst) return ends.failed(row, { kind: 'faulty' }, wrong);
      return ends.faulty(row, wrong, requestId);
    }
    try {
      if (partner.type === 'REDIRECT') await redirect(row, partner);
      else await order(row, partner, isFirst, requestId);
    } catch (error) {
      // The guard refused the address: nothing was sent this time, and a person has to correct it.
      if (!isProblem(error, 'partner_url_refused')) throw error;
      const fault = `the address of the platform is refused (${String(error.detail?.reason)})`;
      if (isFirst) await ends.failed(row, { kind: 'again' }, fault);
      else await creations.postpone(row, fault);
    }
  }

  async function order(
    row: OrderRow,
    partner: PartnerRow,
    isFirst: boolean,
    requestId: string,
  ): Promise<void> {
    const body: CreateOrderBody = {
      orderId: row.order_id,
      customerId: row.customer_id,
      fromCurrency: row.source_currency,
      toCurrency: row.destination_currency,
      fromAmount: row.source_amount,
      type: row.transaction_type,
      paymentMethod: row.payment_method,
      customerPaymentDetailsDataId: row.customer_payment_details_data_id ?? '',
      customerWalletDataId: row.customer_wallet_data_id ?? '',
      network: row.network,
    };
    const outcome = outcomeOfCreation(
      await outbound.send(outboundPartner(ports, partner), {
        operation: 'create-order',
        subject: row.order_id,
        body: { ...body },
      }),
    );
    if (outcome.kind === 'taken') return ends.taken(row, outcome.answer, requestId);
    if (outcome.kind === 'refused') return ends.failed(row, outcome, REFUSED);
    if (outcome.kind === 'faulty') return ends.faulty(row, outcome.fault, requestId);
    if (clock.now() - row.created_at_ms > GIVE_UP_MS)
      return ends.faulty(row, 'the platform never said whether it took the order', requestId);
    // An earlier try may have reached the platform: only its own word about this order ends the matter.
    if (outcome.kind === 'not_taken' && isFirst)
      return ends.failed(row, untaken(outcome, outcome.fault !== null), outcome.fault);
    return creations.postpone(row, outcome.fault ?? 'the platform is not available', outcome.retryAfterMs);
  }

  /** Nothing is bought by a redirection: one that does not succeed at once is over, and the same key tries anew. */
  async function redirect(row: OrderRow, partner: PartnerRow): Promise<void> {
    const note = noteOf(secrets, row);
    const body: RedirectOrderBody = {
      countryCode: row.country_code,
      rampType: row.transaction_type,
      fromCurrency: row.source_currency,
      toCurrency: row.destination_currency,
      network: row.network,
      paymentMethod: row.payment_method,
      fromAmount: row.source_amount,
      ...(note.walletAddress === null ? {} : { walletAddress: note.walletAddress }),
    };
    const outcome = outcomeOfRedirection(
      await outbound.send(outboundPartner(ports, partner), {
        operation: 'redirect-order',
        subject: row.order_id,
        body: { ...body },
        headers: { 'x-forwarded-for': note.forwardedFor },
      }),
    );
    if (outcome.kind === 'taken') return ends.redirected(row, outcome.answer);
    if (outcome.kind === 'refused') return ends.failed(row, outcome, REFUSED);
    const isFault = outcome.kind === 'faulty' || (outcome.kind === 'not_taken' && outcome.fault !== null);
    return ends.failed(row, untaken(outcome, isFault), outcome.fault);
  }

  /** The end of a creation that its platform did not take. */
  function untaken(outcome: Outcome<unknown>, isFault: boolean): CreationEnd {
    if (isFault) return { kind: 'faulty' };
    const afterMs = 'retryAfterMs' in outcome ? outcome.retryAfterMs : null;
    return { kind: 'again', ...(afterMs === null ? {} : { retryAtMs: clock.now() + afterMs }) };
  }

  /** What the caller is told of a creation as it stands. */
  function answered(row: OrderRow): CreateOrderResponse {
    if (row.creation === 'creating') throw unavailable(row);
    if (row.creation === 'failed') throw ending(row);
    if (row.creation === 'redirected')
      return {
        redirectUrl: openColumn(secrets, 'redirect_url_sealed', row) as string,
        ...(row.destination_amount === null ? {} : { toAmount: row.destination_amount }),
        orderId: row.order_id,
      };
    if (row.external_id === null) throw problem('partner_answer_invalid', { detail: names(row) });
    return { order: orderRecord(secrets, row, 'customer') };
  }

  function ending(row: OrderRow): Problem {
    const ended = noteOf(secrets, row).ended;
    if (ended?.kind === 'refused') {
      const words = ended.customerFacingReason;
      return problem('partner_refused', {
        ...(words === null ? {} : { message: `The partner does not take this order: ${words}` }),
        detail: { ...names(row), ...(words === null ? {} : { customerFacingReason: words }) },
      });
    }
    return ended?.kind === 'faulty'
      ? problem('partner_answer_invalid', { detail: names(row) })
      : unavailable(row);
  }

  /** With `Retry-After`: the partner's own, or when the worker asks it next, up to ten minutes. */
  function unavailable(row: OrderRow): Problem {
    const ended = noteOf(secrets, row).ended;
    const atMs = ended?.kind === 'again' ? ended.retryAtMs : (row.due_at_ms ?? undefined);
    const waitMs = Math.min(LONGEST_WAIT_MS, (atMs ?? 0) - clock.now());
    const retryAfter = atMs === undefined ? RETRY_AFTER_S : Math.max(1, Math.ceil(waitMs / 1000));
    return problem('partner_unavailable', { detail: names(row), retryAfter });
  }

  return {
    create,

    /** Takes up what a crash, a lost answer or an outage left open. Several workers at once are safe. */
    async runDue(): Promise<number> {
      const orderIds = await creations.due(MOST_PER_RUN);
      for (const orderId of orderIds) {
        const claimed = await creations.claim(orderId);
        if (!claimed) continue;
        try {
          await drive(claimed, 'worker');
        } catch (error) {
          // One order must not hold up the others: its lease runs out, and it is taken up again.
          const error_name = error instanceof Error ? error.name : 'unknown';
          ports.log('error', 'order_creation_failed', { order_id: orderId, error_name });
        }
      }
      return orderIds.length;
    },
  };
}

/** By which the operator's log of outbound calls is found. */
const names = (row: OrderRow) => ({ partnerId: row.partner_id, orderId: row.order_id });
