import * as z from 'zod';
import { countryCode, decimalString, text } from '../../wire/partner/parts.ts';

/** The two requests as a platform takes them (spec/partner-service.md, Outbound). */

const field = text(200);
const direction = z.enum(['ONRAMP', 'OFFRAMP'], { error: 'must be ONRAMP or OFFRAMP.' });

export const createOrderBody = z.object({
  orderId: field,
  customerId: field,
  fromCurrency: field,
  toCurrency: field,
  fromAmount: decimalString,
  type: direction,
  paymentMethod: field,
  customerPaymentDetailsDataId: field,
  customerWalletDataId: field,
  network: field,
});
type CreateOrder = z.output<typeof createOrderBody>;

export const redirectOrderBody = z.object({
  countryCode,
  rampType: direction,
  fromCurrency: field,
  toCurrency: field,
  network: field,
  paymentMethod: field,
  fromAmount: decimalString,
  walletAddress: field.optional(),
});

/** Where the customer pays. Every number is a published example or openly made up: nobody's account. */
export function instructionsFor(order: CreateOrder, bankName: string): Record<string, string> {
  const common = {
    paymentMethod: order.paymentMethod,
    amount: order.fromAmount,
    currency: order.fromCurrency,
  };
  if (order.type === 'OFFRAMP')
    return {
      ...common,
      network: order.network,
      toAddress: 'sandbox-deposit-address-do-not-send',
      blockchainMemo: order.orderId,
    };
  const bank = {
    ...common,
    bankName,
    accountHolderName: `${bankName} (sandbox)`,
    depositMessage: order.orderId,
  };
  if (order.paymentMethod.endsWith('_SEPA'))
    return { ...bank, iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' };
  if (order.paymentMethod.endsWith('_SPEI')) return { ...bank, clabe: '032180000118359719' };
  if (order.paymentMethod.endsWith('_PIX')) return bank;
  return {
    ...bank,
    bankRoutingNumber: '021000021',
    bankAccountNumber: '000123456789',
    bankBeneficiaryName: `${bankName} (sandbox)`,
  };
}
