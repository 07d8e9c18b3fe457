import * as z from 'zod';
import { DEPOSIT_SYNONYMS } from '../../kernel/domain/order-moves.ts';
import { isBlank } from '../../kernel/texts.ts';
import { decimalString, text } from '../../wire/partner/parts.ts';
import { depositInstructions, depositInstructionsInput, orderStatus } from '../../wire/partner/schema.ts';

/**
 * What a partner's platform may answer (spec/partner-service.md, Outbound), field by field. Fields beyond the
 * specification's are passed over; those of it have to be right.
 */

/** Where an order can begin. One that starts refunded, cancelled or failed is no order. */
const STARTS: readonly string[] = [
  'AWAITING_FUNDS',
  'IN_REVIEW',
  'FUNDS_RECEIVED',
  'PAYMENT_SUBMITTED',
  'PAYMENT_PROCESSED',
];

const DEPOSIT_FIELDS = new Set([...Object.keys(depositInstructions.shape), ...Object.keys(DEPOSIT_SYNONYMS)]);

/** Known fields alone, unset and blank ones left out: then the rules of UpdateOrder count here too. */
const givenInstructions = z.preprocess(
  (given) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.fromEntries(
          Object.entries(given).filter(
            ([name, value]) =>
              DEPOSIT_FIELDS.has(name) && value !== null && !(typeof value === 'string' && isBlank(value)),
          ),
        )
      : given,
  depositInstructionsInput,
);

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

/** The customer's browser is sent there at once: https, without credentials, and nothing that a header could not hold. */
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
export type RedirectOrderAnswer = z.output<typeof redirectOrderAnswer>;

/** Each request has an error form of its own. A gateway's `{"error":"Forbidden"}` is not that of an order. */
export const ERRORS = {
  'create-order': z
    .object({ error: z.object({ reason: z.string(), customerFacingReason: z.string() }) })
    .transform(({ error }) => error),
  'redirect-order': z
    .object({ error: z.string() })
    .transform(({ error }) => ({ reason: error, customerFacingReason: error })),
};

interface PlatformRefusal {
  /** For the log of the operator; sealed where it is kept. */
  readonly reason: string | null;
  /** For the customer. */
  readonly customerFacingReason: string | null;
}

/** Reads the specification's error body; null: the body has another form, so the platform itself said nothing. */
export function refusalOf(operation: keyof typeof ERRORS, body: Uint8Array): PlatformRefusal | null {
  const parsed = ERRORS[operation].safeParse(jsonOf(body));
  if (!parsed.success) return null;
  const { reason, customerFacingReason } = parsed.data;
  return { reason: shown(reason), customerFacingReason: shown(customerFacingReason) };
}

/** The partner's words are shown to people: one line, with an end, and no characters that move a terminal. */
const shown = (words: string): string | null => {
  const line = words.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line === '' ? null : line.slice(0, 300);
};

/** The JSON of an answer; undefined when it is none. */
export function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** Which fields of an answer are not right, and why; values are never repeated. */
export const faultsOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map(({ path, message }) =>
      path.length === 0 ? 'the answer is not a JSON object' : `${path.join('.')} ${message}`,
    )
    .join('; ');
