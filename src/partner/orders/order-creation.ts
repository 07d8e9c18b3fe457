import { networkNamed } from '../../kernel/domain/exchange-codes.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { CreateOrderRequest, CreateOrderResponse } from '../../wire/partner/offers.ts';
import type { Call, PartnerPorts, Tx } from '../base/index.ts';
import { createComplianceGate, createStanding, type WantedOrder } from '../compliance/index.ts';
import { LONGEST_WAIT_MS } from './creation-due.ts';
import { noteOf } from './creations.ts';
import { drive, driveTools, partnerOf } from './drive.ts';
import { type OrderRow, openColumn, orderRecord } from './order-record.ts';
import { checkedOrder, type OrderRequest } from './order-request.ts';

const wantedAgain = (row: OrderRow): WantedOrder => ({
  orderId: row.order_id,
  partnerId: row.partner_id,
  country: row.country_code,
  rampType: row.transaction_type,
  amount: row.source_amount,
  currency: row.source_currency,
  network: networkNamed(row.network),
  walletDataId: row.customer_wallet_data_id,
});

/** The longest wait of a call for another one, or another process, that drives the same creation. */
const LONGEST_CALL_MS = 14_000;

const LOOK_AGAIN_MS = 100;
const MOST_PER_RUN = 20;

/**
 * CreateOrder *(ours)* and what stands behind it (CONTRACT, section 12). The order's row is written first, then its
 * platform is asked with the row's id as the key, then the answer is kept in one transaction. Whatever dies in between,
 * the row tells what to ask, and asking again is the same order.
 */
export function createOrderCreation(ports: PartnerPorts) {
  const { secrets, clock } = ports;
  const tools = driveTools(ports);
  const { creations } = tools;

  /** Clears an order now, and returns the check for the transaction of its row: two orders at once may be too much. */
  async function cleared(customerId: string, asked: WantedOrder): Promise<(tx: Tx) => Promise<void>> {
    const gate = createComplianceGate(ports, createStanding(ports));
    await gate(customerId, asked);
    return (tx) => gate(customerId, asked, tx);
  }

  /**
   * CreateOrder. The same Idempotency-Key is the same order: it continues what was begun.
   * @throws Problem `partner_not_found`, `invalid_request`, `compliance_required`, `idempotency_key_reused`,
   *   `partner_refused`, `partner_unavailable`, `partner_answer_invalid`
   */
  async function create(call: Call, input: CreateOrderRequest): Promise<CreateOrderResponse> {
    const { customerId } = call;
    if (customerId === null) throw problem('customer_token_required');
    const known = await creations.known(call.idempotency);
    if (known) {
      const again = known.creation === 'failed' && noteOf(secrets, known).ended?.kind === 'again';
      // Its customer may have ordered more since, or be cleared no longer.
      if (again) {
        const partner = await partnerOf(ports, known.partner_id);
        // As another type the partner takes other requests at its new address.
        const isSame = partner?.type === known.begun_as;
        const platformUrl = isSame ? partner.platform_url : known.platform_url;
        await creations.reopen(known, platformUrl, await cleared(customerId, wantedAgain(known)));
      }
      return answered(ports, await driven(known.order_id, call.requestId));
    }
    const partner = await partnerOf(ports, input.partnerId);
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
    const row = await begun(call, asked, wanted);
    return answered(ports, await driven(row.order_id, call.requestId));
  }

  /** The row of a creation that is allowed, written now, or by another call with the same key meanwhile. */
  async function begun({ idempotency }: Call, asked: WantedOrder, wanted: OrderRequest): Promise<OrderRow> {
    try {
      const allowed = await cleared(wanted.customerId, asked);
      return await creations.begin(idempotency, wanted, allowed);
    } catch (error) {
      // The row that the other call wrote counted against this one, which is the same order.
      const twin = isProblem(error, 'compliance_required') ? await creations.known(idempotency) : null;
      if (!twin) throw error;
      return twin;
    }
  }

  /** Drives a creation to its end, or waits for another driver. @returns the row as it then is */
  async function driven(orderId: string, requestId: string): Promise<OrderRow> {
    const untilMs = clock.now() + LONGEST_CALL_MS;
    for (;;) {
      const claimed = await creations.claim(orderId);
      if (claimed) await drive(tools, claimed, requestId);
      const row = await creations.read(orderId);
      if (!row) throw problem('order_not_found');
      if (claimed || row.creation !== 'creating' || clock.now() >= untilMs) return row;
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }

  return {
    create,

    /** Takes up what a crash, a lost answer or an outage left open. Several workers at once are safe. */
    runDue: (): Promise<number> => creations.runDue((row) => drive(tools, row, 'worker'), MOST_PER_RUN),
  };
}

/** The Retry-After for a customer where the partner gave none. */
const RETRY_AFTER_S = 5;

function answered(at: PartnerPorts, row: OrderRow): CreateOrderResponse {
  if (row.creation === 'creating') throw unavailable(at, row);
  if (row.creation === 'failed') throw ending(at, row);
  if (row.creation === 'redirected')
    return {
      redirectUrl: openColumn(at.secrets, 'redirect_url_sealed', row) as string,
      ...(row.destination_amount === null ? {} : { toAmount: row.destination_amount }),
      orderId: row.order_id,
    };
  if (row.external_id === null) throw problem('partner_answer_invalid', { detail: names(row) });
  return { order: orderRecord(at.secrets, row, 'customer') };
}

function ending(at: PartnerPorts, row: OrderRow): Problem {
  const ended = noteOf(at.secrets, row).ended;
  if (ended?.kind === 'refused') {
    const words = ended.customerFacingReason;
    return problem('partner_refused', {
      ...(words === null ? {} : { message: `The partner does not accept this order: ${words}` }),
      detail: { ...names(row), ...(words === null ? {} : { customerFacingReason: words }) },
    });
  }
  return ended?.kind === 'faulty' ? problem('partner_answer_invalid', { detail: names(row) }) : unavailable(at, row);
}

/** Its `Retry-After` is the partner's own, or the worker's next try, up to ten minutes. */
function unavailable({ secrets, clock }: PartnerPorts, row: OrderRow): Problem {
  const ended = noteOf(secrets, row).ended;
  const atMs = ended?.kind === 'again' ? ended.retryAtMs : (row.due_at_ms ?? undefined);
  const waitMs = Math.min(LONGEST_WAIT_MS, (atMs ?? 0) - clock.now());
  const retryAfter = atMs === undefined ? RETRY_AFTER_S : Math.max(1, Math.ceil(waitMs / 1000));
  return problem('partner_unavailable', { detail: names(row), retryAfter });
}

/** The keys of the operator's log of outbound calls. */
const names = (row: OrderRow) => ({ partnerId: row.partner_id, orderId: row.order_id });
