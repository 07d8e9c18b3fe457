import type { OutboundPartner, OutboundResult } from '../outbound/outbound.ts';
import {
  type CreateOrderAnswer,
  createOrderAnswer,
  faultsOf,
  jsonOf,
  refusalOf,
} from './platform-answers.ts';

/** What the outbound request of an order holds (spec/partner-service.md, Create Order Request). All are required. */
export interface CreateOrderBody {
  readonly orderId: string;
  readonly customerId: string;
  readonly fromCurrency: string;
  readonly toCurrency: string;
  readonly fromAmount: string;
  readonly type: 'ONRAMP' | 'OFFRAMP';
  readonly paymentMethod: string;
  readonly customerPaymentDetailsDataId: string;
  readonly customerWalletDataId: string;
  readonly network: string;
}

export type { OutboundPartner };

/**
 * What a platform's answer means for an order.
 * `refused`: the platform did not take it, for a reason of its own. `not_taken`: it did not take it, and ought to be
 * asked again or not at all. `unknown`: it may have taken it. `faulty`: it took it, and said so in a way that cannot
 * be used.
 */
export type Outcome<T> =
  | { readonly kind: 'taken'; readonly answer: T }
  | { readonly kind: 'refused'; readonly reason: string | null; readonly customerFacingReason: string | null }
  | { readonly kind: 'not_taken'; readonly retryAfterMs: number | null; readonly fault: string | null }
  | { readonly kind: 'unknown'; readonly retryAfterMs: number | null; readonly fault: string }
  | { readonly kind: 'faulty'; readonly fault: string };

interface AnswerSchema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: Parameters<typeof faultsOf>[0] };
}

export const outcomeOfCreation = (result: OutboundResult): Outcome<CreateOrderAnswer> =>
  outcomeOf(result, createOrderAnswer);

/** Reads the result of a call by its status, then its body by the schema. */
export function outcomeOf<T>(result: OutboundResult, schema: AnswerSchema<T>): Outcome<T> {
  if (result.kind === 'unavailable') {
    const { retryAfterMs } = result;
    return result.mayHaveActed
      ? { kind: 'unknown', retryAfterMs, fault: 'the platform did not answer' }
      : { kind: 'not_taken', retryAfterMs, fault: null };
  }
  const { status } = result;
  if (status === 400 || status === 422)
    return { kind: 'refused', ...(result.kind === 'answer' ? refusalOf(result.body) : NO_WORDS) };
  // An error inside the platform: its books may hold the order.
  const retryAfterMs = result.kind === 'answer' ? result.retryAfterMs : null;
  if (status >= 500) return { kind: 'unknown', retryAfterMs, fault: `the platform answered ${status}` };
  if (status < 200 || status >= 300) {
    const fault = `the platform answered ${status}`;
    // It says so of this try alone: one before it may have been taken, and its answer lost.
    if (result.mayHaveActed) return { kind: 'unknown', retryAfterMs, fault };
    return { kind: 'not_taken', retryAfterMs, fault: status === 429 ? null : fault };
  }
  if (result.kind === 'oversized') return { kind: 'faulty', fault: 'the answer is too large' };
  const value = jsonOf(result.body);
  if (value === undefined) return { kind: 'faulty', fault: 'the answer is not JSON' };
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { kind: 'taken', answer: parsed.data }
    : { kind: 'faulty', fault: faultsOf(parsed.error) };
}

const NO_WORDS = { reason: null, customerFacingReason: null };
