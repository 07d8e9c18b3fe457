import type { Updateable } from 'kysely';
import { depositFaults, FUNDED } from '../../kernel/domain/order-moves.ts';
import { isProblem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import { isGivenUp, unlessLost } from '../../store/index.ts';
import type { OrderStatus } from '../../wire/partner/schema.ts';
import {
  findRow,
  linkCustomer,
  type PartnerOrderTable,
  type PartnerPorts,
  pageOperator,
  type Tx,
} from '../base/index.ts';
import {
  type CreateOrderAnswer,
  type CreateOrderBody,
  type NotTaken,
  outboundPartner,
  outcomeOf,
  type PartnerRow,
  type RedirectOrderBody,
} from '../platforms/index.ts';
import { SILENT } from './creation-due.ts';
import { type CreationEnd, type Creations, noteOf, sealNote } from './creations.ts';
import { type OrderRow, recordChange, sealColumn } from './order-record.ts';
import { unsendable } from './order-request.ts';

type Drive = Creations & { readonly row: OrderRow; readonly requestId: string };

/** An unsealed fault: the partner's own words may speak of the customer, and are sealed. */
const REFUSED = 'the platform refused the order';

export const partnerOf = ({ store, environment }: PartnerPorts, partner_id: string): Promise<PartnerRow | undefined> =>
  findRow(store, 'partners', { partner_id, environment });

/** Asks the platform, and saves its answer. The worker continues creations that stay open. */
export async function drive(creations: Creations, row: OrderRow, requestId: string): Promise<void> {
  const it: Drive = { ...creations, row, requestId };
  const partner = await partnerOf(it, row.partner_id);
  if (!partner) throw new Error('an order without its partner');
  const isFirst = row.attempts === 1;
  const wrong = await unsendable(it, row, noteOf(it.secrets, row).walletAddress);
  // An earlier try may have reached the platform, so an operator has to look for the order there.
  if (wrong !== null) return isFirst ? failed(it, { kind: 'faulty' }, wrong) : faulty(it, wrong);
  try {
    await (row.begun_as === 'REDIRECT' ? redirect : order)(it, partner);
  } catch (error) {
    // The guard refused the address: nothing was sent this time, and an operator has to correct it.
    if (!isProblem(error, 'partner_url_refused')) throw error;
    const fault = `the address of the platform is refused (${String(error.detail?.reason)})`;
    if (isFirst) await failed(it, { kind: 'again' }, fault);
    else await leaveInDoubt(it, fault, null);
  }
}

/** Asks again later with the same id, no sooner than the platform said; after a day an operator has to. */
async function leaveInDoubt(it: Drive, fault: string, atLeastMs: number | null): Promise<void> {
  const { row, queue, clock } = it;
  if (!isGivenUp(SILENT, { failures: row.attempts, ageMs: clock.now() - row.created_at_ms }))
    return queue.postpone(row, null, () => ({ change: { last_error: fault }, atLeastMs, log: () => undefined }));
  const where = row.platform_url ?? 'its address';
  return faulty(it, `the platform at ${where} never said whether it took the order; ${fault}`);
}

async function order(it: Drive, partner: PartnerRow): Promise<void> {
  const { row } = it;
  const body = {
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
  } satisfies CreateOrderBody;
  const call = { operation: 'create-order', subject: row.order_id, body } as const;
  const result = await it.platforms.send(outboundPartner(it, partner, row.platform_url), call);
  const outcome = outcomeOf('create-order', result, row.attempts !== 1);
  if (outcome.kind === 'taken') return taken(it, outcome.answer);
  if (outcome.kind === 'faulty') return faulty(it, outcome.fault);
  if (outcome.kind === 'unknown') return leaveInDoubt(it, outcome.fault, outcome.retryAfterMs);
  return notTaken(it, outcome);
}

/** A redirection buys nothing, so an unknown outcome ends it, and the same key tries again. */
async function redirect(it: Drive, partner: PartnerRow): Promise<void> {
  const { row, secrets } = it;
  const { walletAddress, forwardedFor } = noteOf(secrets, row);
  const body = {
    countryCode: row.country_code,
    rampType: row.transaction_type,
    fromCurrency: row.source_currency,
    toCurrency: row.destination_currency,
    network: row.network,
    paymentMethod: row.payment_method,
    fromAmount: row.source_amount,
    ...(walletAddress === null ? {} : { walletAddress }),
  } satisfies RedirectOrderBody;
  const result = await it.platforms.send(outboundPartner(it, partner, row.platform_url), {
    operation: 'redirect-order',
    subject: row.order_id,
    body,
    ...(forwardedFor === null ? {} : { headers: { 'x-forwarded-for': forwardedFor } }),
  });
  const outcome = outcomeOf('redirect-order', result, false);
  if (outcome.kind === 'faulty') return failed(it, { kind: 'faulty' }, outcome.fault);
  if (outcome.kind === 'unknown') return notTaken(it, { ...outcome, kind: 'not_taken' }, outcome.fault);
  if (outcome.kind !== 'taken') return notTaken(it, outcome);
  const { toAmount, redirectUrl } = outcome.answer;
  return end(it, async () => ({
    creation: 'redirected',
    destination_amount: toAmount,
    redirect_url_sealed: sealColumn(secrets, 'redirect_url_sealed', row.order_id, redirectUrl),
    last_error: null,
  }));
}

/** Ends a creation that the platform refused or could not take now. */
function notTaken(it: Drive, outcome: NotTaken, fault: string | null = null): Promise<void> {
  if (outcome.kind === 'refused') return failed(it, outcome, REFUSED);
  const { retryAfterMs } = outcome;
  const retryAt = retryAfterMs === null ? {} : { retryAtMs: it.clock.now() + retryAfterMs };
  return failed(it, { kind: 'again', ...retryAt }, fault);
}

type Columns = Updateable<PartnerOrderTable>;

/**
 * Ends a creation in one transaction that checks the row's fence. If two processes drive a creation, the later one's
 * answer is saved and the earlier one's is dropped; the platform gives both the same answer.
 */
const end = ({ store, clock, queue, row }: Drive, work: (tx: Tx, nowMs: number) => Promise<Columns>): Promise<void> =>
  unlessLost(() =>
    inTurn(store, [`partner_orders:${row.order_id}`, `partners:${row.partner_id}`], async (tx) => {
      const nowMs = Math.max(clock.now(), row.created_at_ms);
      await queue.check(row, tx);
      const columns = await work(tx, nowMs);
      await queue.finish(row, { ...columns, due_at_ms: null, updated_at_ms: nowMs }, tx);
    }),
  );

const failed = (it: Drive, ended: CreationEnd, fault: string | null): Promise<void> =>
  end(it, async () => ({
    creation: 'failed',
    creation_sealed: sealNote(it.secrets, it.row.order_id, { ...noteOf(it.secrets, it.row), ended }),
    last_error: fault?.slice(0, 300) ?? null,
  }));

/** Ends a creation for an operator to look at: the platform took the order or may have, so it exists in ERROR. */
const faulty = (it: Drive, fault: string): Promise<void> => end(it, (tx, nowMs) => inError(it, tx, nowMs, fault));

async function inError(it: Drive, tx: Tx, nowMs: number, fault: string): Promise<Columns> {
  const { order_id, partner_id } = it.row;
  await beginOrder(it, tx, 'ERROR', nowMs);
  it.log('error', 'partner_order_error', { order_id, partner_id });
  await pageOperator(it, tx, {
    event: 'partner_order_error',
    subject: order_id,
    text: `Order ${order_id} of partner ${partner_id} is in ERROR: ${fault}. Ask the partner whether its platform has it.`,
    fields: { order_id, partner_id },
  });
  return {
    creation: 'created',
    status: 'ERROR',
    reason_sealed: sealColumn(it.secrets, 'reason_sealed', order_id, `Create Order: ${fault}.`.slice(0, 1000)),
    creation_sealed: null,
    last_error: fault.slice(0, 300),
  };
}

const DEPOSIT = 'deposit_instructions_sealed';

async function taken(it: Drive, answer: CreateOrderAnswer): Promise<void> {
  const { row, secrets } = it;
  const { status, externalOrderId, depositInstructions } = answer;
  const asked = { sourceAmount: row.source_amount, sourceCurrency: row.source_currency };
  const faults = depositFaults(asked, depositInstructions ?? undefined);
  if (faults.length > 0)
    return faulty(it, faults.map(({ field, message }) => `depositInstructions.${field} ${message}`).join(' '));
  return end(it, async (tx, nowMs) => {
    // With a shared id, updates about one order would move the other's money.
    if (await findRow(tx, 'partner_orders', { partner_id: row.partner_id, external_id: externalOrderId }))
      return inError(it, tx, nowMs, 'externalOrderId belongs to another order');
    await beginOrder(it, tx, status, nowMs);
    return {
      creation: 'created',
      status,
      external_id: externalOrderId,
      destination_amount: answer.toAmount,
      ...(depositInstructions && { [DEPOSIT]: sealColumn(secrets, DEPOSIT, row.order_id, depositInstructions) }),
      funds_seen: FUNDED.has(status) ? 1 : 0,
      payment_processed: status === 'PAYMENT_PROCESSED' ? 1 : 0,
      creation_sealed: null,
      last_error: null,
    };
  });
}

/** Begins an order's history, and links its customer to the partner. */
async function beginOrder(it: Drive, tx: Tx, to: OrderStatus, atMs: number): Promise<void> {
  const { row, requestId } = it;
  const change = { version: row.version, from: null, to, fields: ['status'], actor: 'platform', requestId, atMs };
  await recordChange(it, tx, { order: row, ...change });
  await linkCustomer(tx, row.customer_id, row.partner_id, atMs);
}
