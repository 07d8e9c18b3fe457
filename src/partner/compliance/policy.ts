import * as z from 'zod';
import { readBounded } from '../../kernel/bounded-file.ts';
import { isCountry } from '../../kernel/domain/countries.ts';
import { WALLET_TYPES, type WalletType } from '../../kernel/domain/exchange-codes.ts';
import { DECIMAL_FORM, decimalOf, unitsOf } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { ATTESTATION_TYPES, DATA_TYPES } from '../../wire/partner/kinds.ts';
import { MOST_AGE_DAYS } from '../../wire/partner/requirements.ts';
import type { Requirement } from './compliance.ts';
import shipped from './default-policy.json' with { type: 'json' };

/** Values in US dollars have as many decimals as an amount and a rate together, so that all arithmetic is exact. */
const WORTH_DECIMALS = 36;

const worthOf = (decimal: string): bigint => unitsOf(decimal, WORTH_DECIMALS);

export const sum = (decimals: readonly string[]): string =>
  decimalOf(
    decimals.reduce((total, one) => total + worthOf(one), 0n),
    WORTH_DECIMALS,
  );

export const times = (a: string, b: string): string => decimalOf(unitsOf(a) * unitsOf(b), WORTH_DECIMALS);

export const atLeast = (a: string, b: string): boolean => worthOf(a) >= worthOf(b);

/** In a rule: the network of the order in question. */
const ORDER_NETWORK = 'order';

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
    maxAgeDays: z.int().min(1).max(MOST_AGE_DAYS).optional(),
    /** The network of a wallet, or `order` for the network of the order. */
    network: z.enum([...WALLET_TYPES, ORDER_NETWORK]).optional(),
  })
  .refine((asked) => (asked.data === undefined) !== (asked.attestation === undefined), {
    error: 'must have exactly one of data and attestation.',
  })
  .refine(
    (asked) =>
      asked.network === undefined || asked.data === 'CRYPTO_WALLET' || asked.attestation === 'VALIDATED_CRYPTO_WALLET',
    { path: ['network'], error: 'is for CRYPTO_WALLET and VALIDATED_CRYPTO_WALLET only.' },
  );

const ruleSchema = z.strictObject({
  /** For readers of the policy; no answer shows it. */
  name: z.string().min(1).max(100),
  /** Countries of the customer or the order in which the rule applies; all if absent. */
  countries: z.array(country).min(1).optional(),
  /** Applies to orders in these directions; if absent, also before the first order. */
  rampTypes: z
    .array(z.enum(['ONRAMP', 'OFFRAMP']))
    .min(1)
    .optional(),
  /** Applies to orders of this amount or more, in US dollars. */
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
  /** One unit of a currency or asset in US dollars. An order in an unlisted currency reaches every `fromUsd`. */
  usdPerUnit: z.record(z.string().regex(/^[A-Z0-9_]{2,30}$/), positive),
  /** The orders of this many days count together towards `fromUsd`; 0 counts each order alone. */
  amountWindowDays: z.int().min(0).max(366),
  rejection: z.strictObject({
    /** Attestations that, once rejected, only an operator can pass. */
    final: z.array(z.enum(ATTESTATION_TYPES)),
    /** After this many rejections of one attestation within 24 hours, its data is refused for a while. */
    mostPerDay: z.int().min(1).max(100),
  }),
  /** Submitted data is removed this many days after it was last given or used for an order. */
  retentionDays: z.int().min(1).max(MOST_AGE_DAYS),
  rules: z.array(ruleSchema).min(1),
});

export type Policy = z.output<typeof policySchema>;
type PolicyRule = Policy['rules'][number];
type Asked = PolicyRule['require'][number];

/** The shipped policy: asks for identity from the start, and for more as amounts grow. */
export const defaultPolicy: Policy = policySchema.parse(shipped);

export interface PolicyOrder {
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  readonly country: string | null;
  /** The amount together with the customer's recent orders, in US dollars; null if any rate is unknown. */
  readonly usd: string | null;
  readonly network: WalletType | null;
}

/** Reads the policy from a JSON file, by default the shipped one. @throws Problem `policy_invalid`, with its issues */
export function loadPolicy(file?: string | undefined): Policy {
  if (file === undefined) return defaultPolicy;
  const wrong = (issues: readonly { path: string; message: string }[]) =>
    problem('policy_invalid', {
      message: `The compliance policy ${file} cannot be used: ${issues
        .slice(0, 3)
        .map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`)
        .join('; ')}`,
      detail: { file, issues },
    });
  let text: string | undefined;
  let value: unknown;
  try {
    text = readBounded(file, { mostBytes: MOST_BYTES })?.toString('utf8');
    value = JSON.parse(text ?? 'null');
  } catch {
    throw wrong([{ path: '', message: text === undefined ? 'cannot be read.' : 'is not JSON.' }]);
  }
  if (text === undefined) throw wrong([{ path: '', message: `is larger than ${MOST_BYTES / 1_048_576} MB.` }]);
  const parsed = policySchema.safeParse(value);
  if (!parsed.success) throw wrong(parsed.error.issues.map(issueOf));
  return parsed.data;
}

const MOST_BYTES = 4 * 1_048_576;

const issueOf = ({ path, message }: z.core.$ZodIssue) => ({
  path: path.join('.'),
  message: message.endsWith('.') ? message : `${message}.`,
});

/** Converts an amount to US dollars (decimal strings); null if the policy has no rate. */
export function usdOf(policy: Policy, amount: string, currency: string): string | null {
  // SOLANA_USDC, USDC on Solana, is looked up as a whole first, then as USDC.
  const rate = rateOf(policy, currency) ?? rateOf(policy, currency.slice(currency.indexOf('_') + 1));
  return rate === undefined ? null : times(amount, rate);
}

const rateOf = ({ usdPerUnit }: Policy, code: string): string | undefined =>
  Object.hasOwn(usdPerUnit, code) ? usdPerUnit[code] : undefined;

/** The policy's requirements of a customer from `country` (null if unknown), with those for `order` if given. */
export function requirementsOf(
  policy: Policy,
  country: string | null,
  order: PolicyOrder | null,
): readonly Requirement[] {
  return policy.rules
    .filter((rule) => applies(rule, country, order))
    .flatMap((rule) => rule.require)
    .map((asked) => requirementOf(policy, asked, order));
}

function applies(rule: PolicyRule, country: string | null, order: PolicyOrder | null): boolean {
  const countries = [country, order?.country];
  if (rule.countries && !rule.countries.some((one) => countries.includes(one))) return false;
  if (rule.rampTypes && !(order && rule.rampTypes.includes(order.rampType))) return false;
  if (rule.fromUsd === undefined) return true;
  // An amount that cannot be converted meets the strictest rules.
  return order !== null && (order.usd === null || atLeast(order.usd, rule.fromUsd));
}

function requirementOf({ terms }: Policy, asked: Asked, order: PolicyOrder | null): Requirement {
  const network = asked.network === ORDER_NETWORK ? (order?.network ?? null) : (asked.network ?? null);
  const common = { maxAgeDays: asked.maxAgeDays ?? null, network };
  if (asked.data !== undefined) return { ...common, kind: 'data', type: asked.data };
  if (asked.attestation === 'TERMS') return { ...common, kind: 'attestation', type: 'TERMS', terms };
  if (asked.attestation !== undefined) return { ...common, kind: 'attestation', type: asked.attestation };
  throw new Error('the policy schema lets no requirement without data and attestation through');
}
