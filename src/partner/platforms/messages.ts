import * as z from 'zod';
import { DEPOSIT_SYNONYMS } from '../../kernel/domain/order-moves.ts';
import { isBlank } from '../../kernel/texts.ts';
import { decimalString, text } from '../../wire/partner/parts.ts';
import {
  depositInstructions,
  depositInstructionsInput,
  orderStatus,
  transactionType,
} from '../../wire/partner/schema.ts';

/**
 * Requests to partners' platforms and their answers (spec/partner-service.md, Outbound). Fields of an answer that the
 * specification does not have are ignored.
 */

export type OutboundOperation = 'create-order' | 'redirect-order';

/** A Create Order Request. All fields are required. */
export const createOrderBody = z.strictObject({
  orderId: z.string(),
  customerId: z.string(),
  fromCurrency: z.string(),
  toCurrency: z.string(),
  fromAmount: decimalString,
  type: transactionType,
  paymentMethod: z.string(),
  customerPaymentDetailsDataId: z.string(),
  customerWalletDataId: z.string(),
  network: z.string(),
});
export type CreateOrderBody = z.output<typeof createOrderBody>;

export const redirectOrderBody = z.strictObject({
  countryCode: z.string().regex(/^[A-Z]{3}$/),
  rampType: transactionType,
  fromCurrency: z.string(),
  toCurrency: z.string(),
  network: z.string(),
  paymentMethod: z.string(),
  fromAmount: decimalString,
  walletAddress: z.string().optional(),
});
export type RedirectOrderBody = z.output<typeof redirectOrderBody>;

/** The statuses in which an order can begin. */
const STARTS = ['AWAITING_FUNDS', 'IN_REVIEW', 'FUNDS_RECEIVED', 'PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED'];

const DEPOSIT_FIELDS = new Set([...Object.keys(depositInstructions.shape), ...Object.keys(DEPOSIT_SYNONYMS)]);

/** Drops unknown, unset and blank fields, then applies the rules of UpdateOrder. */
const givenInstructions = z.preprocess((given) => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const isUnset = (value: unknown) => value === null || (typeof value === 'string' && isBlank(value));
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => DEPOSIT_FIELDS.has(name) && !isUnset(value)),
  );
}, depositInstructionsInput);

const amount = decimalString.refine((given) => /[1-9]/.test(given), 'must be more than zero.');

export const createOrderAnswer = z
  .object({
    externalOrderId: text(200),
    status: orderStatus
      .refine((status) => STARTS.includes(status), 'is not a status that an order can begin with.')
      .meta({ enum: [...STARTS] }),
    toAmount: amount,
    depositInstructions: givenInstructions.nullish(),
  })
  .superRefine(({ status, depositInstructions: given }, context) => {
    if (status !== 'AWAITING_FUNDS' || (given && Object.keys(given).length > 0)) return;
    context.addIssue({
      code: 'custom',
      path: ['depositInstructions'],
      message: 'is required when the status is AWAITING_FUNDS.',
    });
  });
export type CreateOrderAnswer = z.output<typeof createOrderAnswer>;

/** The customer's browser is sent there at once, so it must be https, without credentials and safe inside a header. */
const redirectUrl = text(2048).refine((given) => {
  if (!/^https:\/\/[\x21-\x7e]+$/i.test(given) || /[\\<>"]/.test(given) || !URL.canParse(given)) return false;
  const url = new URL(given);
  return url.protocol === 'https:' && url.username === '' && url.password === '' && url.hostname.includes('.');
}, 'is not a valid https address.');

export const redirectOrderAnswer = z.object({
  redirectUrl,
  toAmount: amount,
  rawResponse: z.record(z.string(), z.unknown()).nullish(),
});

/** The error body of each operation. A gateway's `{"error":"Forbidden"}` is not that of `create-order`. */
export const ERRORS = {
  'create-order': z
    .object({ error: z.object({ reason: z.string(), customerFacingReason: z.string() }) })
    .transform(({ error }) => error),
  'redirect-order': z
    .object({ error: z.string() })
    .transform(({ error }) => ({ reason: error, customerFacingReason: error })),
};

/** A platform's words. `reason` is for the operator, and sealed when stored. */
interface PlatformRefusal {
  readonly reason: string | null;
  readonly customerFacingReason: string | null;
}

/** Reads the specification's error body. Returns null for any other body, which the platform itself did not write. */
export function refusalOf(operation: OutboundOperation, body: Uint8Array): PlatformRefusal | null {
  const parsed = ERRORS[operation].safeParse(jsonOf(body));
  if (!parsed.success) return null;
  const { reason, customerFacingReason } = parsed.data;
  return { reason: shown(reason), customerFacingReason: shown(customerFacingReason) };
}

/** Makes a partner's words safe to show: one line of limited length, without characters that control a terminal. */
const shown = (words: string): string | null => {
  const line = words.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line === '' ? null : line.slice(0, 300);
};

/** Parses the JSON of an answer; undefined if it is not JSON. */
export function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/**
 * The outcome of a call. `unavailable`: no try got an answer that counts. `oversized`: the answer exceeds the size
 * limit. `mayHaveActed`: the platform may have acted on a try without a clear answer.
 */
export type OutboundResult =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterMs: number | null;
      readonly body: Uint8Array;
      /** About the tries before the one that was answered. */
      readonly mayHaveActed: boolean;
    }
  | { readonly kind: 'unavailable'; readonly mayHaveActed: boolean; readonly retryAfterMs: number | null }
  | { readonly kind: 'oversized'; readonly status: number; readonly mayHaveActed: boolean };

/**
 * The meaning of a platform's answer for an order.
 * `refused`: the platform did not take the order, for a reason of its own. `not_taken`: it did not take the order now,
 * and can be asked again. `unknown`: it may have taken the order. `faulty`: it took the order; its answer is unusable.
 */
type Outcome<T> =
  | { readonly kind: 'taken'; readonly answer: T }
  | NotTaken
  | { readonly kind: 'unknown'; readonly retryAfterMs: number | null; readonly fault: string }
  | { readonly kind: 'faulty'; readonly fault: string };

export type NotTaken =
  | ({ readonly kind: 'refused' } & PlatformRefusal)
  | { readonly kind: 'not_taken'; readonly retryAfterMs: number | null };

interface Answers {
  'create-order': CreateOrderAnswer;
  'redirect-order': z.output<typeof redirectOrderAnswer>;
}

const ANSWERS: { readonly [O in OutboundOperation]: z.ZodType<Answers[O]> } = {
  'create-order': createOrderAnswer,
  'redirect-order': redirectOrderAnswer,
};

/** The statuses with which a platform refuses an order. With 503 it asks to try again later. */
const REFUSES: readonly number[] = [400, 422];

/**
 * Interprets the result of a call. An order is refused only by a status and an error body of the specification, and
 * only if no earlier try may have been taken. Any other answer except a success leaves the order `unknown`: a gateway
 * may have sent it, or the platform may mean only this try ("duplicate").
 * @param actedBefore true if the platform may have taken an earlier try to create this order
 */
export function outcomeOf<O extends OutboundOperation>(
  operation: O,
  result: OutboundResult,
  actedBefore: boolean,
): Outcome<Answers[O]> {
  const mayHaveActed = actedBefore || result.mayHaveActed;
  if (result.kind === 'unavailable') {
    const { retryAfterMs } = result;
    return mayHaveActed
      ? { kind: 'unknown', retryAfterMs, fault: 'the platform did not answer' }
      : { kind: 'not_taken', retryAfterMs };
  }
  const { status } = result;
  if (status >= 200 && status < 300) {
    if (result.kind === 'oversized') return { kind: 'faulty', fault: 'the answer is too large' };
    const value = jsonOf(result.body);
    if (value === undefined) return { kind: 'faulty', fault: 'the answer is not JSON' };
    const parsed = ANSWERS[operation].safeParse(value);
    return parsed.success ? { kind: 'taken', answer: parsed.data } : { kind: 'faulty', fault: faultsOf(parsed.error) };
  }
  const retryAfterMs = result.kind === 'answer' ? result.retryAfterMs : null;
  const isRefusal = result.kind === 'answer' && REFUSES.includes(status) && !mayHaveActed;
  const refusal = isRefusal ? refusalOf(operation, result.body) : null;
  return refusal === null
    ? { kind: 'unknown', retryAfterMs, fault: `the platform answered ${status}` }
    : { kind: 'refused', ...refusal };
}

/** Names the invalid fields of an answer and why they are invalid; never repeats values. */
const faultsOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map(({ path, message }) =>
      path.length === 0 ? 'the answer is not a JSON object' : `${path.join('.')} ${message}`,
    )
    .join('; ');
