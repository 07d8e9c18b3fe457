import type { Updateable } from 'kysely';
import { depositFaults, FUNDED } from '../../kernel/domain/order-moves.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
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
  openOutbound,
  outboundPartner,
  outcomeOfCreation,
  outcomeOfRedirection,
  type PartnerRow,
  type RedirectOrderAnswer,
  type RedirectOrderBody,
} from '../platforms/index.ts';
import { SILENT } from './creation-due.ts';
import { type CreationEnd, type Creations, createCreations, noteOf, sealNote } from './creations.ts';
import { type OrderRow, recordChange, sealColumn } from './order-record.ts';
import { unsendable } from './order-request.ts';

/** The row's fault: the partner's own words may speak of the customer, and are sealed. */
const REFUSED = 'the platform refused the order';

export function driveTools(ports: PartnerPorts) {
  const creations = createCreations(ports);
  return { ports, creations, ends: createCreationEnds(ports, creations), outbound: openOutbound(ports) };
}

type DriveTools = ReturnType<typeof driveTools>;

export const partnerOf = ({ store, environment }: PartnerPorts, partner_id: string): Promise<PartnerRow | undefined> =>
  findRow(store, 'partners', { partner_id, environment });

/** Asks the platform, and keeps its answer. The worker takes up what stays open. */
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

/** Asks again later; after a day a person does. */
async function leaveInDoubt(
  { ports, creations, ends }: DriveTools,
  row: OrderRow,
  { fault, retryAfterMs }: { readonly fault: string; readonly retryAfterMs: number | null },
  requestId: string,
): Promise<void> {
  const ageMs = ports.clock.now() - row.created_at_ms;
  if (!isGivenUp(SILENT, { failures: row.attempts, ageMs })) return creations.postpone(row, fault, retryAfterMs);
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

/** A redirection buys nothing: one that fails is over, and the same key tries again. */
async function redirect({ ports, ends, outbound }: DriveTools, row: OrderRow, partner: PartnerRow): Promise<void> {
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

type Columns = Updateable<PartnerOrderTable>;

const EXTERNAL_ID_TAKEN = 'externalOrderId belongs to another order';

/**
 * How a creation ends. Each end is one transaction that holds the row's fence: of two drives of one creation, the
 * later one's answer counts, and the earlier one's is dropped. The platform gives both the same answer.
 */
function createCreationEnds(ports: PartnerPorts, { queue }: Creations) {
  const { store, secrets, clock } = ports;
  const end = (row: OrderRow, work: (tx: Tx, nowMs: number) => Promise<Columns>): Promise<void> =>
    unlessLost(() =>
      store.transaction().execute(async (tx) => {
        const nowMs = Math.max(clock.now(), row.created_at_ms);
        await queue.check(row, tx);
        const columns = await work(tx, nowMs);
        await queue.finish(row, { ...columns, due_at_ms: null, updated_at_ms: nowMs }, tx);
      }),
    );

  const seal = (row: OrderRow, column: Parameters<typeof sealColumn>[1], value: unknown) =>
    sealColumn(secrets, column, row.order_id, value);

  /** The platform took the order, or may have, and a person has to look: the order exists, in ERROR, with the reason. */
  const faulty = (row: OrderRow, fault: string, requestId: string): Promise<void> =>
    end(row, async (tx, nowMs) => {
      await beginOrder(ports, tx, row, 'ERROR', requestId, nowMs);
      await pageError(ports, tx, row, fault);
      return {
        creation: 'created',
        status: 'ERROR',
        reason_sealed: seal(row, 'reason_sealed', `Create Order: ${fault}.`.slice(0, 1000)),
        creation_sealed: null,
        last_error: fault.slice(0, 300),
      };
    });

  return {
    faulty,

    async taken(row: OrderRow, answer: CreateOrderAnswer, requestId: string): Promise<void> {
      const { status, depositInstructions } = answer;
      try {
        await end(row, async (tx, nowMs) => {
          const twin = await tx
            .selectFrom('partner_orders')
            .select('order_id')
            .where('partner_id', '=', row.partner_id)
            .where('external_id', '=', answer.externalOrderId)
            .executeTakeFirst();
          // Updates about one order would move the other one's money.
          if (twin) throw problem('partner_answer_invalid');
          await beginOrder(ports, tx, row, status, requestId, nowMs);
          return {
            creation: 'created',
            status,
            external_id: answer.externalOrderId,
            destination_amount: answer.toAmount,
            ...(depositInstructions && {
              deposit_instructions_sealed: seal(row, 'deposit_instructions_sealed', depositInstructions),
            }),
            funds_seen: FUNDED.has(status) ? 1 : 0,
            payment_processed: status === 'PAYMENT_PROCESSED' ? 1 : 0,
            creation_sealed: null,
            last_error: null,
          };
        });
      } catch (error) {
        if (!isProblem(error, 'partner_answer_invalid')) throw error;
        await faulty(row, EXTERNAL_ID_TAKEN, requestId);
      }
    },

    redirected: (row: OrderRow, answer: RedirectOrderAnswer): Promise<void> =>
      end(row, async () => ({
        creation: 'redirected',
        destination_amount: answer.toAmount,
        redirect_url_sealed: seal(row, 'redirect_url_sealed', answer.redirectUrl),
        last_error: null,
      })),

    failed: (row: OrderRow, ended: CreationEnd, fault: string | null): Promise<void> =>
      end(row, async () => ({
        creation: 'failed',
        creation_sealed: sealNote(secrets, row.order_id, { ...noteOf(secrets, row), ended }),
        last_error: fault?.slice(0, 300) ?? null,
      })),
  };
}

/** Begins an order's history, and links its customer to the partner. */
async function beginOrder(
  ports: PartnerPorts,
  tx: Tx,
  row: OrderRow,
  to: OrderStatus,
  requestId: string,
  atMs: number,
): Promise<void> {
  await recordChange(ports, tx, {
    order: row,
    version: row.version,
    from: null,
    to,
    fields: ['status'],
    actor: 'platform',
    requestId,
    atMs,
  });
  await linkCustomer(tx, row.customer_id, row.partner_id, atMs);
}

async function pageError(ports: PartnerPorts, tx: Tx, row: OrderRow, fault: string): Promise<void> {
  const ids = { order_id: row.order_id, partner_id: row.partner_id };
  ports.log('error', 'partner_order_error', ids);
  await pageOperator(ports, tx, {
    event: 'partner_order_error',
    subject: row.order_id,
    text: `Order ${row.order_id} of partner ${row.partner_id} is in ERROR: ${fault}. Ask the partner whether its platform has it.`,
    fields: ids,
  });
}
