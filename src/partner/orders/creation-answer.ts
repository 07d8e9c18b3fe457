import { type Problem, problem } from '../../kernel/problems.ts';
import type { CreateOrderResponse } from '../../wire/partner/offers.ts';
import type { PartnerPorts } from '../ports.ts';
import { LONGEST_WAIT_MS } from './creation-due.ts';
import { noteOf } from './creations.ts';
import { type OrderRow, openColumn, orderRecord } from './order-record.ts';

type AnswerPorts = Pick<PartnerPorts, 'secrets' | 'clock'>;

/** What a customer is told where the partner said nothing of when. */
const RETRY_AFTER_S = 5;

/** What the caller is told of a creation as it stands. */
export function answered(at: AnswerPorts, row: OrderRow): CreateOrderResponse {
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

function ending(at: AnswerPorts, row: OrderRow): Problem {
  const ended = noteOf(at.secrets, row).ended;
  if (ended?.kind === 'refused') {
    const words = ended.customerFacingReason;
    return problem('partner_refused', {
      ...(words === null ? {} : { message: `The partner does not accept this order: ${words}` }),
      detail: { ...names(row), ...(words === null ? {} : { customerFacingReason: words }) },
    });
  }
  return ended?.kind === 'faulty'
    ? problem('partner_answer_invalid', { detail: names(row) })
    : unavailable(at, row);
}

/** With `Retry-After`: the partner's own, or when the worker asks it next, up to ten minutes. */
function unavailable({ secrets, clock }: AnswerPorts, row: OrderRow): Problem {
  const ended = noteOf(secrets, row).ended;
  const atMs = ended?.kind === 'again' ? ended.retryAtMs : (row.due_at_ms ?? undefined);
  const waitMs = Math.min(LONGEST_WAIT_MS, (atMs ?? 0) - clock.now());
  const retryAfter = atMs === undefined ? RETRY_AFTER_S : Math.max(1, Math.ceil(waitMs / 1000));
  return problem('partner_unavailable', { detail: names(row), retryAfter });
}

/** By which the operator's log of outbound calls is found. */
const names = (row: OrderRow) => ({ partnerId: row.partner_id, orderId: row.order_id });
