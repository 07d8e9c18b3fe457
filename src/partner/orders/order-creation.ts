import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { CreateOrderRequest, CreateOrderResponse } from '../../wire/partner/offers.ts';
import { type Call, findRow, type PartnerPorts, type Tx } from '../base/index.ts';
import { createStanding, requireCompliant, type WantedOrder } from '../compliance/index.ts';
import { creationsIn, LONGEST_WAIT_MS } from './creation-due.ts';
import { beginCreation, knownCreation, noteOf, openCreations, reopenCreation } from './creations.ts';
import { drive, partnerOf } from './drive.ts';
import { type OrderRow, openColumn, orderRecord } from './order-record.ts';
import { checkedOrder } from './order-request.ts';

/** How long a call waits for another call or process that drives the same creation. */
const LONGEST_CALL_MS = 14_000;

const LOOK_AGAIN_MS = 100;
const MOST_PER_RUN = 20;

/**
 * Creates an order (CONTRACT, section 12): writes its row, asks the platform with the row's id as the idempotency key,
 * then saves the answer in one transaction. After a crash the platform is asked again with the same id, for the same
 * order. The same Idempotency-Key continues a begun creation.
 * @throws Problem `partner_not_found`, `invalid_request`, `compliance_required`, `idempotency_key_reused`,
 *   `partner_refused`, `partner_unavailable`, `partner_answer_invalid`
 */
export async function createOrder(
  ports: PartnerPorts,
  call: Call,
  input: CreateOrderRequest,
): Promise<CreateOrderResponse> {
  const { customerId } = call;
  if (customerId === null) throw problem('customer_token_required');
  const known = await knownCreation(ports, call.idempotency);
  if (known?.creation === 'failed' && noteOf(ports.secrets, known).ended?.kind === 'again') {
    const partner = await partnerOf(ports, known.partner_id);
    // If the partner's type has changed, its new address takes other requests.
    const platformUrl = partner?.type === known.begun_as ? partner.platform_url : known.platform_url;
    // The customer may have ordered more since, or may no longer be compliant.
    await reopenCreation(ports, known, platformUrl, await cleared(ports, customerId, known));
  }
  const { order_id } = known ?? (await begun(ports, customerId, call, input));
  return answered(ports, await driven(ports, order_id, call.requestId));
}

/** Writes the row of an allowed creation, or finds that of a concurrent call with the same key. */
async function begun(
  ports: PartnerPorts,
  customerId: string,
  { idempotency }: Call,
  input: CreateOrderRequest,
): Promise<OrderRow> {
  const partner = await partnerOf(ports, input.partnerId);
  if (partner?.enabled !== 1) throw problem('partner_not_found');
  const wanted = await checkedOrder(ports, customerId, partner, input);
  try {
    return await beginCreation(ports, idempotency, wanted, await cleared(ports, customerId, wanted.columns));
  } catch (error) {
    // Another call with the same key wrote this very order, which counted against the limits.
    const twin = isProblem(error, 'compliance_required') ? await knownCreation(ports, idempotency) : null;
    if (!twin) throw error;
    return twin;
  }
}

/** Checks compliance now, and returns the check to repeat in the order's transaction, against concurrent orders. */
async function cleared(ports: PartnerPorts, customerId: string, wanted: WantedOrder) {
  const standing = createStanding(ports);
  await requireCompliant(standing, customerId, wanted);
  return (tx: Tx): Promise<void> => requireCompliant(standing, customerId, wanted, tx);
}

/** Drives a creation, or waits while another process does. @returns the row afterwards */
async function driven(ports: PartnerPorts, order_id: string, requestId: string): Promise<OrderRow> {
  const { store, clock } = ports;
  const creations = openCreations(ports);
  const untilMs = clock.now() + LONGEST_CALL_MS;
  for (;;) {
    const claimed = await creations.queue.claimRow(order_id);
    if (claimed) await drive(creations, claimed, requestId);
    const row = await findRow(store, 'partner_orders', { order_id });
    if (!row) throw problem('order_not_found');
    if (claimed || row.creation !== 'creating' || clock.now() >= untilMs) return row;
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

/** Continues creations that a crash, a lost answer or an outage left open. Several workers may run at once. */
export async function runCreations(ports: PartnerPorts): Promise<number> {
  const creations = openCreations(ports);
  const { queue } = creations;
  const work = {
    perform: (row: OrderRow) => drive(creations, row, 'worker'),
    // An unforeseen error of one order must not hold up the others.
    failed: (row: OrderRow, error: unknown) =>
      queue.postpone(row, error, ({ code }) => ({
        change: { last_error: code },
        log: () => ports.log('error', 'order_creation_failed', { order_id: row.order_id, error_name: code }),
      })),
  };
  return (await queue.runDue(work, MOST_PER_RUN, [creationsIn(ports.environment)])).worked;
}

/** The Retry-After for a customer if the partner gave none. */
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

/** `Retry-After` is the partner's own, or the time until the worker's next try; at most ten minutes. */
function unavailable({ secrets, clock }: PartnerPorts, row: OrderRow): Problem {
  const ended = noteOf(secrets, row).ended;
  const atMs = ended?.kind === 'again' ? ended.retryAtMs : (row.due_at_ms ?? undefined);
  const waitMs = Math.min(LONGEST_WAIT_MS, (atMs ?? 0) - clock.now());
  const retryAfter = atMs === undefined ? RETRY_AFTER_S : Math.max(1, Math.ceil(waitMs / 1000));
  return problem('partner_unavailable', { detail: names(row), retryAfter });
}

/** The ids by which the outbound log is searched. */
const names = (row: OrderRow) => ({ partnerId: row.partner_id, orderId: row.order_id });
