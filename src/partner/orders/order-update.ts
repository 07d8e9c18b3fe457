import { refuse } from '../../http/index.ts';
import {
  allowedFrom,
  changedDetails,
  lacksReason,
  type MoveRefusal,
  type OrderStanding,
  refusalOf,
  standingAfter,
} from '../../kernel/domain/order-moves.ts';
import { headerOf } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import type { OrderStatus, UpdateOrderRequest, UpdateOrderResponse } from '../../wire/partner/schema.ts';
import type { Call, PartnerPorts, SealedColumn } from '../base/index.ts';
import { contentOf, type OrderRow, orderRecord, ordersRow, recordChange, sealColumn } from './order-record.ts';

type Content = ReturnType<typeof contentOf>;

const standingOf = (row: OrderRow, content: Content): OrderStanding => ({
  status: row.status as OrderStatus,
  funds: row.funds_seen === 1,
  paymentProcessed: row.payment_processed === 1,
  sourceTransactionId: row.source_transaction_id,
  destinationTransactionId: row.destination_transaction_id,
  returned: row.return_details_sealed !== null,
  details: {
    sourceAmount: row.source_amount,
    sourceCurrency: row.source_currency,
    toAmount: row.destination_amount,
    depositInstructions: content.depositInstructions,
    returnDetails: content.returnDetails,
  },
});

export const allowedOf = (row: OrderRow): OrderStatus[] =>
  allowedFrom({ status: row.status as OrderStatus, funds: row.funds_seen === 1 });

/**
 * Changes an order's status or adds details (CONTRACT, section 11): one compare-and-set on its version inside one
 * immediate transaction, with a row in the history. Values that are already stored change nothing.
 * @throws Problem `order_not_found`, `order_in_doubt`, `order_version_mismatch`, `invalid_status_transition`,
 *   `transaction_id_fixed`, `order_finished`, `invalid_request` for data that the step needs
 */
export async function updateOrder(
  ports: PartnerPorts,
  call: Call,
  input: UpdateOrderRequest,
): Promise<UpdateOrderResponse> {
  if (lacksReason(input)) refuse([{ path: 'reason', message: 'is required when status is ERROR.' }]);
  const expected = ifMatch(headerOf(call, 'if-match'));
  return call.write([`partner_orders:${input.orderId}`], async (tx) => {
    const { secrets } = ports;
    const row = await ordersRow(ports, tx, call.partner.partnerId, input.orderId);
    if (expected !== null && !expected.includes(row.version)) {
      throw problem('order_version_mismatch', { detail: { expected: expected[0], version: row.version } });
    }
    const content = contentOf(secrets, row);
    const refusal = refusalOf(standingOf(row, content), input);
    if (refusal) refused(refusal);
    const { set, fields, previous } = changesOf(ports, row, content, input);
    const shown = (changed: OrderRow): UpdateOrderResponse => ({
      order: orderRecord(secrets, changed, 'partner'),
      allowedStatuses: allowedOf(changed),
    });
    if (fields.length === 0) return shown(row);

    // Even if the clock was set back, an update must not be dated before the previous one.
    const atMs = Math.max(call.nowMs, row.updated_at_ms);
    const next: OrderRow = { ...row, ...set, version: row.version + 1, updated_at_ms: atMs };
    const { numUpdatedRows } = await tx
      .updateTable('partner_orders')
      .set({ ...set, version: next.version, updated_at_ms: atMs })
      .where('order_id', '=', row.order_id)
      .where('version', '=', row.version)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new Error('an order changed inside its own transaction');
    await recordChange(ports, tx, {
      order: row,
      version: next.version,
      from: row.status as OrderStatus,
      to: next.status as OrderStatus,
      fields,
      previous,
      actor: `key:${call.partner.keyId}`,
      requestId: call.requestId,
      atMs,
    });
    return shown(next);
  });
}

function refused(refusal: MoveRefusal): never {
  switch (refusal.kind) {
    case 'fixed':
      throw problem('transaction_id_fixed', { detail: { field: refusal.field } });
    case 'finished':
      throw problem('order_finished', { detail: { field: refusal.field } });
    case 'deposit':
      return refuse(refusal.faults.map(({ field, message }) => ({ path: `depositInstructions.${field}`, message })));
    case 'required':
      return refuse([{ path: refusal.field, message: `is required to go from ${refusal.from} to ${refusal.to}.` }]);
    case 'transition': {
      const { from, to, allowed, funds } = refusal;
      const because = funds === null ? '' : funds ? ': its funds were seen' : ': its funds were not seen';
      throw problem('invalid_status_transition', {
        message: `The order cannot go from ${from} to ${to}${because}.`,
        detail: { from, to, allowed },
      });
    }
  }
}

/** Finds the columns to set, the names of the changed fields, and their previous values. */
function changesOf({ secrets }: PartnerPorts, row: OrderRow, content: Content, input: UpdateOrderRequest) {
  const set: { -readonly [K in keyof OrderRow]?: OrderRow[K] } = {};
  const fields: string[] = [];
  const previous: Record<string, unknown> = {};
  const standing = standingOf(row, content);
  const details: readonly string[] = standing.details ? changedDetails(standing.details, input) : [];
  const seal = (column: SealedColumn, value: unknown) => sealColumn(secrets, column, row.order_id, value);
  const change = <K extends keyof typeof set>(field: string, before: unknown, column: K, after: OrderRow[K]) => {
    fields.push(field);
    if (before !== null && before !== undefined) previous[field] = before;
    set[column] = after;
  };

  if (input.status !== undefined && input.status !== row.status) {
    change('status', null, 'status', input.status);
    // The fault that the service noted is over once the partner moves the order.
    set.last_error = null;
  }
  for (const [field, column] of [
    ['sourceTransactionId', 'source_transaction_id'],
    ['destinationTransactionId', 'destination_transaction_id'],
  ] as const) {
    const given = input[field];
    if (given !== undefined && given !== row[column]) change(field, row[column], column, given);
  }
  if (details.includes('toAmount'))
    change('toAmount', row.destination_amount, 'destination_amount', input.toAmount ?? null);
  for (const [field, column] of [
    ['depositInstructions', 'deposit_instructions_sealed'],
    ['reason', 'reason_sealed'],
    ['customerFacingReason', 'customer_facing_reason_sealed'],
    ['returnDetails', 'return_details_sealed'],
  ] as const) {
    const given = input[field];
    const isNew = typeof given === 'string' ? given !== content[field] : details.includes(field);
    if (isNew) change(field, content[field], column, seal(column, given));
  }
  const after = standingAfter(standing, input);
  if (after.funds && row.funds_seen !== 1) set.funds_seen = 1;
  if (after.paymentProcessed && row.payment_processed !== 1) set.payment_processed = 1;
  return { set, fields, previous };
}

/** The versions of an If-Match header; null without one, or for `*`. */
function ifMatch(header: string | null): number[] | null {
  const text = header?.trim();
  if (!text || text === '*') return null;
  return text.split(',').map((part) => {
    const match = /^(?:W\/)?(?:"(\d{1,15})"|(\d{1,15}))$/.exec(part.trim());
    if (!match) return refuse([{ path: 'If-Match', message: 'must be a version of the order, such as "3".' }]);
    return Number(match[1] ?? match[2]);
  });
}
