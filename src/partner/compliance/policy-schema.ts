import * as z from 'zod';
import { isCountry } from '../../domain/countries.ts';
import { WALLET_TYPES } from '../../domain/exchange-codes.ts';
import { DECIMAL_FORM } from '../../kernel/decimal.ts';
import { ATTESTATION_TYPES, DATA_TYPES } from '../../wire/partner/kinds.ts';
import { MOST_AGE_DAYS } from '../../wire/partner/requirements.ts';

const maxAgeDaysSchema = z.int().min(1).max(MOST_AGE_DAYS);

/** In a rule, the network of the order that is asked about. */
export const ORDER_NETWORK = 'order';

const decimal = z.string().regex(DECIMAL_FORM, 'must be a decimal in a string.');
const positive = decimal.refine((text) => /[1-9]/.test(text), 'must be more than zero.');
const address = z
  .url({ protocol: /^https$/, error: 'must be an https address.' })
  .max(500)
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', 'must be an https address.');
const country = z
  .string()
  .refine((code) => code.length === 3 && isCountry(code), 'must be an ISO 3166-1 alpha-3 country.');

const askedSchema = z
  .strictObject({
    data: z.enum(DATA_TYPES).optional(),
    attestation: z.enum(ATTESTATION_TYPES).optional(),
    maxAgeDays: maxAgeDaysSchema.optional(),
    /** Of a wallet: a network, or `order` for that of the order. */
    network: z.enum([...WALLET_TYPES, ORDER_NETWORK]).optional(),
  })
  .refine((asked) => (asked.data === undefined) !== (asked.attestation === undefined), {
    error: 'must have exactly one of data and attestation.',
  })
  .refine(
    (asked) =>
      asked.network === undefined ||
      asked.data === 'CRYPTO_WALLET' ||
      asked.attestation === 'VALIDATED_CRYPTO_WALLET',
    { path: ['network'], error: 'is for CRYPTO_WALLET and VALIDATED_CRYPTO_WALLET only.' },
  );

const ruleSchema = z.strictObject({
  /** For people: it is shown in no answer. */
  name: z.string().min(1).max(100),
  /** The rule is for customers of these countries; absent, for all. */
  countries: z.array(country).min(1).optional(),
  /** The rule is for orders in this direction; absent, also for whoever has not ordered yet. */
  rampTypes: z
    .array(z.enum(['ONRAMP', 'OFFRAMP']))
    .min(1)
    .optional(),
  /** The rule is for orders of this amount or more, in US dollars. */
  fromUsd: positive.optional(),
  require: z.array(askedSchema).min(1),
});

/** The policy file (docs/compliance.md). */
export const policySchema = z.strictObject({
  terms: z.strictObject({
    /** A new version asks every customer again. */
    version: z.string().min(1).max(50),
    termsUrl: address,
    privacyPolicyUrl: address,
  }),
  /** What one unit of a currency or asset is worth, to choose rules by. One that is not here meets every amount. */
  usdPerUnit: z.record(z.string().regex(/^[A-Z0-9_]{2,30}$/), positive),
  /** Orders of so many days count together towards `fromUsd`; 0 counts each order alone. */
  amountWindowDays: z.int().min(0).max(366),
  rejection: z.strictObject({
    /** Attestations that nothing the customer sends can reopen: a person decides. */
    final: z.array(z.enum(ATTESTATION_TYPES)),
    /** Rejections of one attestation within 24 hours, after which its data is not taken for a while. */
    mostPerDay: z.int().min(1).max(100),
  }),
  /** Submitted data goes this many days after it was last given or used for an order. */
  retentionDays: z.int().min(1).max(MOST_AGE_DAYS),
  rules: z.array(ruleSchema).min(1),
});

export type Policy = z.output<typeof policySchema>;
export type PolicyRule = Policy['rules'][number];
export type Asked = PolicyRule['require'][number];
