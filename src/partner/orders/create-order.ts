import * as z from 'zod';
import { decimalString } from '../../wire/partner/parts.ts';
import {
  type CreateOrderAnswer,
  createOrderAnswer,
  faultsOf,
  jsonOf,
  type OutboundOperation,
  type OutboundPartner,
  type OutboundResult,
  type RedirectOrderAnswer,
  redirectOrderAnswer,
  refusalOf,
} from '../platforms/index.ts';

/** What the outbound request of an order holds (spec/partner-service.md, Create Order Request). All are required. */
export const createOrderBody = z.strictObject({
  orderId: z.string(),
  customerId: z.string(),
  fromCurrency: z.string(),
  toCurrency: z.string(),
  fromAmount: decimalString,
  type: z.enum(['ONRAMP', 'OFFRAMP']),
  paymentMethod: z.string(),
  customerPaymentDetailsDataId: z.string(),
  customerWalletDataId: z.string(),
  network: z.string(),
});

export type CreateOrderBody = z.output<typeof createOrderBody>;
export type { OutboundPartner };

/**
 * What a platform's answer means for an order.
 * `refused`: the platform did not take it, for a reason of its own. `not_taken`: it did not take it now, and can be
 * asked again. `unknown`: it may have taken it. `faulty`: it took it, and said so in a way that cannot be used.
 */
type Outcome<T> =
  | { readonly kind: 'taken'; readonly answer: T }
  | { readonly kind: 'refused'; readonly reason: string | null; readonly customerFacingReason: string | null }
  | { readonly kind: 'not_taken'; readonly retryAfterMs: number | null }
  | { readonly kind: 'unknown'; readonly retryAfterMs: number | null; readonly fault: string }
  | { readonly kind: 'faulty'; readonly fault: string };

interface AnswerSchema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: Parameters<typeof faultsOf>[0] };
}

/** @param mayHaveActed an earlier drive of this order may have reached the platform's books */
export const outcomeOfCreation = (result: OutboundResult, mayHaveActed: boolean): Outcome<CreateOrderAnswer> =>
  outcomeOf('create-order', result, createOrderAnswer, mayHaveActed);

/** The statuses by which a platform refuses an order; with 503 it asks for patience. */
const REFUSES: readonly number[] = [400, 422];

/**
 * Reads the result of a call. Only the platform can say that it did not take an order: with a status and in the error
 * form of the specification, and only while no earlier try can contradict it. Any other answer but a success leaves the
 * order unknown: a gateway in front of the platform may have sent it, or the platform may mean this try alone
 * ("duplicate").
 */
function outcomeOf<T>(
  operation: OutboundOperation,
  result: OutboundResult,
  schema: AnswerSchema<T>,
  actedBefore: boolean,
): Outcome<T> {
  const mayHaveActed = actedBefore || result.mayHaveActed;
  if (result.kind === 'unavailable') {
    const { retryAfterMs } = result;
    return mayHaveActed
      ? { kind: 'unknown', retryAfterMs, fault: 'the platform did not answer' }
      : { kind: 'not_taken', retryAfterMs };
  }
  const { status } = result;
  if (status >= 200 && status < 300) return outcomeOfSuccess(result, schema);
  const retryAfterMs = result.kind === 'answer' ? result.retryAfterMs : null;
  const isRefusal = result.kind === 'answer' && REFUSES.includes(status) && !mayHaveActed;
  const refusal = isRefusal ? refusalOf(operation, result.body) : null;
  return refusal === null
    ? { kind: 'unknown', retryAfterMs, fault: `the platform answered ${status}` }
    : { kind: 'refused', ...refusal };
}

function outcomeOfSuccess<T>(
  result: Exclude<OutboundResult, { kind: 'unavailable' }>,
  schema: AnswerSchema<T>,
): Outcome<T> {
  if (result.kind === 'oversized') return { kind: 'faulty', fault: 'the answer is too large' };
  const value = jsonOf(result.body);
  if (value === undefined) return { kind: 'faulty', fault: 'the answer is not JSON' };
  const parsed = schema.safeParse(value);
  return parsed.success ? { kind: 'taken', answer: parsed.data } : { kind: 'faulty', fault: faultsOf(parsed.error) };
}

/** What the outbound request of a redirection holds (spec/partner-service.md, Redirect Order Request). */
export const redirectOrderBody = z.strictObject({
  countryCode: z.string().regex(/^[A-Z]{3}$/),
  rampType: z.enum(['ONRAMP', 'OFFRAMP']),
  fromCurrency: z.string(),
  toCurrency: z.string(),
  network: z.string(),
  paymentMethod: z.string(),
  fromAmount: decimalString,
  walletAddress: z.string().optional(),
});

export type RedirectOrderBody = z.output<typeof redirectOrderBody>;

export const outcomeOfRedirection = (result: OutboundResult): Outcome<RedirectOrderAnswer> =>
  outcomeOf('redirect-order', result, redirectOrderAnswer, false);
