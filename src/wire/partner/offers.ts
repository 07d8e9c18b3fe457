import * as z from 'zod';
import { minorUnitsOf, sideIssues } from '../../kernel/domain/exchange-codes.ts';
import { decimalOf, isDecimal, unitsOf } from '../../kernel/money.ts';
import { codeName, countryCode, decimalString, identifier, text } from './parts.ts';
import { order, transactionType } from './schema.ts';

/** Offers, and the orders made from them (spec/partner-service.md, GetAvailablePartners; CONTRACT, section 12). */

export const partnerType = z.enum(['TYPE_UNDEFINED', 'INTEGRATION', 'REDIRECT']);
export type PartnerType = z.output<typeof partnerType>;

export const getAvailablePartnersRequest = z.strictObject({
  countryCode,
  rampType: transactionType,
  fromCurrency: codeName,
  toCurrency: codeName,
  paymentMethod: codeName,
  fromAmount: decimalString,
  partnerTypes: z.array(partnerType).max(10, 'must be at most 10 types.').optional(),
});
export type GetAvailablePartnersRequest = z.output<typeof getAvailablePartnersRequest>;

const partnerOffer = z.strictObject({
  partnerId: z.string(),
  partnerName: z.string(),
  toAmount: z.string(),
  icon: z.string(),
  type: partnerType,
  termsUrl: z.string(),
  privacyPolicyUrl: z.string(),
});
export type PartnerOffer = z.output<typeof partnerOffer>;

export const getAvailablePartnersResponse = z.strictObject({ partners: z.array(partnerOffer) });
export type GetAvailablePartnersResponse = z.output<typeof getAvailablePartnersResponse>;

/** CreateOrder is not in the specification. */
export const createOrderRequest = z.strictObject({
  partnerId: identifier,
  countryCode,
  rampType: transactionType,
  fromCurrency: codeName,
  toCurrency: codeName,
  fromAmount: decimalString,
  paymentMethod: codeName,
  network: codeName.optional(),
  customerPaymentDetailsDataId: identifier.optional(),
  customerWalletDataId: identifier.optional(),
  walletAddress: text(200).optional(),
  /** The end user's IP address, for a redirect partner. */
  customerIp: text(100).optional(),
});
export type CreateOrderRequest = z.output<typeof createOrderRequest>;

/**
 * With an integration partner the answer has `order`; with a redirect partner `redirectUrl`, `toAmount` and `orderId`.
 * This id names no order: it is the `Idempotency-Key` of the request to the partner, by which the operator finds it.
 */
export const createOrderResponse = z.strictObject({
  order: order.optional(),
  redirectUrl: z.string().optional(),
  toAmount: z.string().optional(),
  orderId: z.string().optional(),
});
export type CreateOrderResponse = z.output<typeof createOrderResponse>;

/** A partner's offering: a line per direction and pair of currencies. Stored with the partner, as JSON. */

const decimals = z.int({ error: 'must be a whole number.' }).min(0, 'is 0 to 18.').max(18, 'is 0 to 18.');

const railFields = z.strictObject({
  /** Where it is sold; everywhere if left out. */
  countries: z.array(countryCode).min(1, 'must be a country code, or be left out.').optional(),
  rampType: z.enum(['ONRAMP', 'OFFRAMP']),
  fromCurrency: codeName,
  toCurrency: codeName,
  paymentMethods: z.array(codeName).min(1, 'must be a payment method.'),
  /** The limits in `fromCurrency`, both inclusive. */
  minAmount: decimalString,
  maxAmount: decimalString,
  /** Units of `toCurrency` for one unit of `fromCurrency`, before fees. */
  rate: decimalString,
  /** The partner's fees in `fromCurrency`: first the fixed fee, then a percentage of the rest. */
  feeFixed: decimalString.default('0'),
  feePercent: decimalString.default('0'),
  /** The customer's amount is cut off after this many decimals, never rounded up. */
  decimals: decimals.default(2),
  /** How many decimals an amount of `fromCurrency` may have; if left out, those of ISO 4217. */
  fromDecimals: decimals.optional(),
});

/** Checks that the currencies fit the direction, on a supported network. */
const rail = railFields.superRefine((given, context) => {
  for (const { path, message } of sideIssues(given)) context.addIssue({ code: 'custom', path: [path], message });
});
export type Rail = z.output<typeof rail>;

export const offeringSchema = z.strictObject({ rails: z.array(rail).max(500, 'must be at most 500 lines.') });
export type Offering = z.output<typeof offeringSchema>;

/** Reads the lines of a stored offering. Leaves out lines that today's rules refuse; `isWhole` is then false. */
export function railsOf(offering: string): Offering & { readonly isWhole: boolean } {
  const { rails }: { rails?: unknown } = Object(JSON.parse(offering));
  const lines = Array.isArray(rails) ? rails.map((line) => rail.safeParse(line)) : [];
  return {
    rails: lines.flatMap((line) => (line.success ? [line.data] : [])),
    isWhole: Array.isArray(rails) && lines.every(({ success }) => success),
  };
}

type Wanted = Omit<GetAvailablePartnersRequest, 'countryCode' | 'partnerTypes'> & {
  readonly countryCode?: string | undefined;
};

type Quote =
  | { readonly kind: 'quote'; readonly toAmount: string }
  | { readonly kind: 'not_sold' }
  | { readonly kind: 'outside_limits'; readonly rail: Rail }
  | { readonly kind: 'too_fine'; readonly decimals: number };

/** Quotes the amount that the customer receives (decimal string), or says why not. */
export function quoteOf({ rails }: Offering, wanted: Wanted): Quote {
  const sold = rails.filter(
    (one) =>
      one.rampType === wanted.rampType &&
      one.fromCurrency === wanted.fromCurrency &&
      one.toCurrency === wanted.toCurrency &&
      one.paymentMethods.includes(wanted.paymentMethod) &&
      (wanted.countryCode === undefined || (one.countries?.includes(wanted.countryCode) ?? true)),
  );
  const units = unitsOf(wanted.fromAmount);
  const fitting = sold.find((one) => unitsOf(one.minAmount) <= units && units <= unitsOf(one.maxAmount));
  if (!fitting) return sold[0] ? { kind: 'outside_limits', rail: sold[0] } : { kind: 'not_sold' };
  const most = fitting.fromDecimals ?? minorUnitsOf(fitting.fromCurrency) ?? 18;
  // No account can be credited with 10.005 EUR or 1.5 JPY.
  if ((/\.(\d*?)0*$/.exec(wanted.fromAmount)?.[1] ?? '').length > most) return { kind: 'too_fine', decimals: most };
  const toAmount = received(fitting, wanted.fromAmount);
  // Zero, or more digits than an amount may have.
  if (toAmount === '0' || !isDecimal(toAmount)) return { kind: 'outside_limits', rail: fitting };
  return { kind: 'quote', toAmount };
}

const HUNDRED = unitsOf('100');
const ONE = unitsOf('1');

function received({ feeFixed, feePercent, rate, decimals }: Rail, fromAmount: string): string {
  const afterFixed = unitsOf(fromAmount) - unitsOf(feeFixed);
  const kept = HUNDRED - unitsOf(feePercent);
  if (afterFixed <= 0n || kept <= 0n) return '0';
  // Exact until the divisions at the end, which cut off what cannot be paid out.
  const step = 10n ** BigInt(18 - decimals);
  return decimalOf(((afterFixed * kept * unitsOf(rate)) / (HUNDRED * ONE) / step) * step);
}
