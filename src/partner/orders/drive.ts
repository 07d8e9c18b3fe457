import { depositFaults } from '../../domain/order-moves.ts';
import { isProblem } from '../../kernel/problems.ts';
import { isGivenUp } from '../../store/retry.ts';
import { openOutbound, outboundPartner, type PartnerRow } from '../platforms/outbound-partner.ts';
import type { PartnerPorts } from '../ports.ts';
import { type CreateOrderBody, outcomeOfCreation } from './create-order.ts';
import { SILENT } from './creation-due.ts';
import { createCreationEnds } from './creation-ends.ts';
import { type CreationEnd, createCreations, noteOf } from './creations.ts';
import type { OrderRow } from './order-record.ts';
import { unsendable } from './order-request.ts';
import { outcomeOfRedirection, type RedirectOrderBody } from './redirect-order.ts';

/** For the row: the partner's own words may speak of the customer, and are sealed. */
const REFUSED = 'the platform refused the order';

/** The ports of a drive of a creation. */
export function driveTools(ports: PartnerPorts) {
  const creations = createCreations(ports);
  return { ports, creations, ends: createCreationEnds(ports, creations), outbound: openOutbound(ports) };
}

type DriveTools = ReturnType<typeof driveTools>;

export const partnerOf = (
  { store, environment }: PartnerPorts,
  partnerId: string,
): Promise<PartnerRow | undefined> =>
  store
    .selectFrom('partners')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('environment', '=', environment)
    .executeTakeFirst();

/** One drive: asks the platform, keeps what it says. What it leaves open, the worker takes up. */
export async function drive(tools: DriveTools, row: OrderRow, requestId: string): Promise<void> {
  const { ports, ends } = tools;
  const partner = await partnerOf(ports, row.partner_id);
  if (!partner) throw new Error('an order without its partner');
  const isFirst = row.attempts === 1;
  const wrong = await unsendable(ports, row, noteOf(ports.secrets, row).walletAddress);
  if (wrong !== null) {
    // What was sent before, if anything was, a person has to look for.
    if (isFirst) return ends.failed(row, { kind: 'faulty' }, wrong);
    return ends.faulty(row, wrong, requestId);
  }
  try {
    if (row.begun_as === 'REDIRECT') await redirect(tools, row, partner);
    else await order(tools, row, partner, isFirst, requestId);
  } catch (error) {
    // The guard refused the address: nothing was sent this time, and a person has to correct it.
    if (!isProblem(error, 'partner_url_refused')) throw error;
    const fault = `the address of the platform is refused (${String(error.detail?.reason)})`;
    if (isFirst) await ends.failed(row, { kind: 'again' }, fault);
    else await leaveInDoubt(tools, row, { fault, retryAfterMs: null }, requestId);
  }
}

/** What is asked again later is given to a person after a day. */
async function leaveInDoubt(
  { ports, creations, ends }: DriveTools,
  row: OrderRow,
  { fault, retryAfterMs }: { readonly fault: string; readonly retryAfterMs: number | null },
  requestId: string,
): Promise<void> {
  const ageMs = ports.clock.now() - row.created_at_ms;
  if (!isGivenUp(SILENT, { failures: row.attempts, ageMs }))
    return creations.postpone(row, fault, retryAfterMs);
  const words = `the platform at ${row.platform_url ?? 'its address'} never said whether it took the order; ${fault}`;
  return ends.faulty(row, words, requestId);
}

async function order(
  tools: DriveTools,
  row: OrderRow,
  partner: PartnerRow,
  isFirst: boolean,
  requestId: string,
): Promise<void> {
  const { ports, ends, outbound } = tools;
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
    await outbound.send(outboundPartner(ports, partner, row.platform_url), {
      operation: 'create-order',
      subject: row.order_id,
      body: { ...body },
    }),
    !isFirst,
  );
  if (outcome.kind === 'taken') {
    const order = { sourceAmount: row.source_amount, sourceCurrency: row.source_currency };
    const faults = depositFaults(order, outcome.answer.depositInstructions ?? undefined);
    if (faults.length === 0) return ends.taken(row, outcome.answer, requestId);
    const words = faults.map(({ field, message }) => `depositInstructions.${field} ${message}`).join(' ');
    return ends.faulty(row, words, requestId);
  }
  if (outcome.kind === 'refused') return ends.failed(row, outcome, REFUSED);
  if (outcome.kind === 'faulty') return ends.faulty(row, outcome.fault, requestId);
  if (outcome.kind === 'not_taken') return ends.failed(row, untaken(ports, outcome), null);
  return leaveInDoubt(tools, row, outcome, requestId);
}

/** Nothing is bought by a redirection: one that does not succeed at once is over, and the same key tries anew. */
async function redirect(
  { ports, ends, outbound }: DriveTools,
  row: OrderRow,
  partner: PartnerRow,
): Promise<void> {
  const note = noteOf(ports.secrets, row);
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
    await outbound.send(outboundPartner(ports, partner, row.platform_url), {
      operation: 'redirect-order',
      subject: row.order_id,
      body: { ...body },
      ...(note.forwardedFor === null ? {} : { headers: { 'x-forwarded-for': note.forwardedFor } }),
    }),
  );
  if (outcome.kind === 'taken') return ends.redirected(row, outcome.answer);
  if (outcome.kind === 'refused') return ends.failed(row, outcome, REFUSED);
  return outcome.kind === 'faulty'
    ? ends.failed(row, { kind: 'faulty' }, outcome.fault)
    : ends.failed(row, untaken(ports, outcome), outcome.kind === 'unknown' ? outcome.fault : null);
}

/** The end of a creation that its platform did not take. */
function untaken(
  { clock }: PartnerPorts,
  { retryAfterMs: afterMs }: { readonly retryAfterMs: number | null },
): CreationEnd {
  return { kind: 'again', ...(afterMs === null ? {} : { retryAtMs: clock.now() + afterMs }) };
}
