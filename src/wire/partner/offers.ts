import * as z from 'zod';
import { codeName, countryCode, decimalString, identifier, text } from './parts.ts';
import { order, transactionType } from './schema.ts';

/** Offers, and the orders that come of them (spec/partner-service.md, GetAvailablePartners; CONTRACT, section 12). */

const PARTNER_TYPES = ['TYPE_UNDEFINED', 'INTEGRATION', 'REDIRECT'] as const;
export const partnerType = z.enum(PARTNER_TYPES);
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

/** CreateOrder is ours: what makes an order exist. */
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
  /** The end user's address, which a redirect partner is told. */
  customerIp: text(100).optional(),
});
export type CreateOrderRequest = z.output<typeof createOrderRequest>;

/**
 * `order` of an integration partner; `redirectUrl`, `toAmount` and `orderId` of a redirect partner. There is no order to
 * fetch by that id: the partner was sent it as `Idempotency-Key`, and the operator's log of outbound calls has it.
 */
export const createOrderResponse = z.strictObject({
  order: order.optional(),
  redirectUrl: z.string().optional(),
  toAmount: z.string().optional(),
  orderId: z.string().optional(),
});
export type CreateOrderResponse = z.output<typeof createOrderResponse>;
