import * as z from 'zod';
import { DECIMAL_FORM } from '../../kernel/decimal.ts';
import { isCountry } from '../../kernel/domain/countries.ts';
import { WALLET_TYPES } from '../../kernel/domain/exchange-codes.ts';
import { ATTESTATION_TYPES, DATA_TYPES } from '../../wire/partner/kinds.ts';
import { MOST_AGE_DAYS } from '../../wire/partner/requirements.ts';

/** A decimal without rounding: `units / 10 ** scale`. */
interface Exact {
  readonly units: bigint;
  readonly scale: number;
}

const exact = (text: string): Exact => {
  const [whole = '0', fraction = ''] = text.split('.');
  return { units: BigInt(whole + fraction), scale: fraction.length };
};

const atScale = ({ units, scale }: Exact, to: number): bigint => units * 10n ** BigInt(to - scale);

const written = ({ units, scale }: Exact): string => {
  const digits = units.toString().padStart(scale + 1, '0');
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const whole = scale === 0 ? digits : digits.slice(0, -scale);
  return fraction === '' || scale === 0 ? whole : `${whole}.${fraction}`;
};

/** Sums non-negative decimal strings, exactly. */
export function sum(decimals: readonly string[]): string {
  const terms = decimals.map(exact);
  const scale = Math.max(0, ...terms.map((term) => term.scale));
  return written({ units: terms.reduce((total, term) => total + atScale(term, scale), 0n), scale });
}

/** Multiplies two non-negative decimal strings, exactly. */
export function times(a: string, b: string): string {
  const [x, y] = [exact(a), exact(b)];
  return written({ units: x.units * y.units, scale: x.scale + y.scale });
}

/** True when the decimal string `a` is `b` or more. */
export function atLeast(a: string, b: string): boolean {
  const [x, y] = [exact(a), exact(b)];
  const scale = Math.max(x.scale, y.scale);
  return atScale(x, scale) >= atScale(y, scale);
}

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
      asked.network === undefined || asked.data === 'CRYPTO_WALLET' || asked.attestation === 'VALIDATED_CRYPTO_WALLET',
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

/** The policy without a file: who a customer is from the start, more with the amount. */
export const defaultPolicy: Policy = {
  terms: {
    version: '2026-11-01',
    termsUrl: 'https://farelock.example/terms/2026-11-01',
    privacyPolicyUrl: 'https://farelock.example/privacy/2026-11-01',
  },
  usdPerUnit: {
    USD: '1',
    EUR: '1.1',
    GBP: '1.3',
    CHF: '1.2',
    BRL: '0.2',
    MXN: '0.06',
    ARS: '0.001',
    COP: '0.00025',
    NGN: '0.0007',
    USDC: '1',
    USDT: '1',
    EURC: '1.1',
    BTC: '120000',
    ETH: '5000',
    SOL: '250',
  },
  amountWindowDays: 30,
  rejection: { final: ['AML_CHECK'], mostPerDay: 5 },
  retentionDays: 1_825,
  rules: [
    {
      name: 'everyone',
      require: [
        { data: 'NAME' },
        { data: 'BIRTH_DATE' },
        { data: 'NATIONALITY' },
        { data: 'EMAIL' },
        { attestation: 'TERMS' },
        { attestation: 'VALIDATED_EMAIL' },
        { attestation: 'AML_CHECK', maxAgeDays: 365 },
      ],
    },
    {
      name: 'a tax id where the law asks for it',
      countries: ['ARG', 'BRA', 'COL', 'MEX'],
      require: [{ data: 'TAX_ID' }],
    },
    {
      name: 'from 1,000 USD: proof of identity',
      fromUsd: '1000',
      require: [
        { data: 'PHONE' },
        { data: 'RESIDENTIAL_ADDRESS' },
        { data: 'ID_DOCUMENT' },
        { data: 'SELFIE', maxAgeDays: 730 },
        { attestation: 'VALIDATED_PHONE' },
        { attestation: 'VALIDATED_ID_DOCUMENT' },
        { attestation: 'LIVENESS_CHECK', maxAgeDays: 730 },
      ],
    },
    {
      name: 'buying from 1,000 USD: the wallet that receives it',
      rampTypes: ['ONRAMP'],
      fromUsd: '1000',
      require: [{ attestation: 'VALIDATED_CRYPTO_WALLET', network: 'order' }],
    },
    {
      name: 'from 10,000 USD: where the money comes from',
      fromUsd: '10000',
      require: [
        { data: 'SOURCE_OF_FUNDS', maxAgeDays: 365 },
        { data: 'OCCUPATION', maxAgeDays: 365 },
        { data: 'ACCOUNT_PURPOSE' },
        { data: 'EXPECTED_MONTHLY_PAYMENTS', maxAgeDays: 365 },
        { data: 'PROOF_OF_ADDRESS', maxAgeDays: 90 },
      ],
    },
  ],
};
