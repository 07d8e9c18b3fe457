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

/** @param mayHaveActed an earlier drive of this order may have reached the platform's books */
export const outcomeOfCreation = (
  result: OutboundResult,
  mayHaveActed: boolean,
): Outcome<CreateOrderAnswer> => outcomeOf(result, createOrderAnswer, mayHaveActed);

/**
 * Reads the result of a call. Only the platform can say that it did not take an order: in its own error form, and only
 * while no earlier try can contradict it. Any other answer but a success leaves the order unknown: a gateway in front of
 * the platform may have sent it, or the platform may mean this try alone ("duplicate").
 */
export function outcomeOf<T>(
  result: OutboundResult,
  schema: AnswerSchema<T>,
  actedBefore: boolean,
): Outcome<T> {
  const mayHaveActed = actedBefore || result.mayHaveActed;
  if (result.kind === 'unavailable') {
    const { retryAfterMs } = result;
    return mayHaveActed
      ? { kind: 'unknown', retryAfterMs, fault: 'the platform did not answer' }
      : { kind: 'not_taken', retryAfterMs, fault: null };
  }
  const { status } = result;
  if (status >= 200 && status < 300) return outcomeOfSuccess(result, schema);
  const retryAfterMs = result.kind === 'answer' ? result.retryAfterMs : null;
  const fault = `the platform answered ${status}`;
  const refusal = result.kind === 'answer' ? refusalOf(result.body) : null;
  // An error inside the platform: its books may hold the order.
  if (refusal === null || mayHaveActed || status >= 500) return { kind: 'unknown', retryAfterMs, fault };
  if (status === 400 || status === 422) return { kind: 'refused', ...refusal };
  return { kind: 'not_taken', retryAfterMs, fault: status === 429 ? null : fault };
}

function outcomeOfSuccess<T>(
  result: Exclude<OutboundResult, { kind: 'unavailable' }>,
  schema: AnswerSchema<T>,
): Outcome<T> {
  if (result.kind === 'oversized') return { kind: 'faulty', fault: 'the answer is too large' };
  const value = jsonOf(result.body);
  if (value === undefined) return { kind: 'faulty', fault: 'the answer is not JSON' };
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { kind: 'taken', answer: parsed.data }
    : { kind: 'faulty', fault: faultsOf(parsed.error) };
}
