import type { z } from 'zod';
import type { offeringSchema } from '../../wire/partner/offering.ts';
import type { OrderStatus } from '../../wire/partner/schema.ts';

/** The seed of a demo: two integration partners, a redirect partner, customers, and a few orders. */

export const SANDBOX_ORIGIN = 'https://platform.sandbox.farelock.invalid';

interface SeededPartner {
  readonly partnerId: string;
  readonly name: string;
  readonly type: 'INTEGRATION' | 'REDIRECT';
  /** Where the sandbox platform answers for it. */
  readonly path: string;
  readonly offering: z.input<typeof offeringSchema>;
}

const BANK_IN = ['DEU_SEPA', 'FRA_SEPA', 'ESP_SEPA'];
const EURO = ['DEU', 'FRA', 'ESP', 'ITA', 'NLD', 'PRT'];

/** The decimals of an amount choose how the sandbox behaves (docs/sandbox.md). */
const MAGIC = 4;

export const SEEDED_PARTNERS: readonly SeededPartner[] = [
  {
    partnerId: 'par_sandbox_bank',
    name: 'Sandbank Integration',
    type: 'INTEGRATION',
    path: '/bank',
    offering: {
      rails: [
        {
          countries: EURO,
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'EUR',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: BANK_IN,
          minAmount: '10',
          maxAmount: '10000',
          rate: '1.08',
          feePercent: '0.5',
          decimals: 6,
        },
        {
          countries: EURO,
          rampType: 'OFFRAMP',
          fromCurrency: 'SOLANA_USDC',
          toCurrency: 'EUR',
          paymentMethods: BANK_IN,
          minAmount: '10',
          maxAmount: '10000',
          rate: '0.92',
          feePercent: '0.5',
          decimals: 2,
        },
        {
          countries: ['MEX'],
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'MXN',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: ['MEX_SPEI'],
          minAmount: '200',
          maxAmount: '200000',
          rate: '0.054',
          feePercent: '0.8',
          decimals: 6,
        },
        {
          countries: ['MEX'],
          rampType: 'OFFRAMP',
          fromCurrency: 'SOLANA_USDC',
          toCurrency: 'MXN',
          paymentMethods: ['MEX_SPEI'],
          minAmount: '10',
          maxAmount: '10000',
          rate: '18.4',
          feePercent: '0.8',
          decimals: 2,
        },
        {
          countries: ['USA'],
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'USD',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: ['USA_ACH'],
          minAmount: '10',
          maxAmount: '10000',
          rate: '1',
          feePercent: '0.5',
          decimals: 6,
        },
        {
          countries: ['BRA'],
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'BRL',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: ['BRA_PIX'],
          minAmount: '50',
          maxAmount: '50000',
          rate: '0.18',
          feePercent: '1.5',
          decimals: 6,
        },
      ],
    },
  },
  {
    partnerId: 'par_sandbox_pix',
    name: 'Pixário Sandbox',
    type: 'INTEGRATION',
    path: '/pix',
    offering: {
      rails: [
        {
          countries: ['BRA'],
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'BRL',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: ['BRA_PIX'],
          minAmount: '20',
          maxAmount: '20000',
          rate: '0.181',
          feePercent: '0.9',
          decimals: 6,
        },
        {
          countries: ['BRA'],
          rampType: 'OFFRAMP',
          fromCurrency: 'SOLANA_USDC',
          toCurrency: 'BRL',
          paymentMethods: ['BRA_PIX'],
          minAmount: '5',
          maxAmount: '5000',
          rate: '5.48',
          feePercent: '0.9',
          decimals: 2,
        },
      ],
    },
  },
  {
    partnerId: 'par_sandbox_redirect',
    name: 'Redirecta Sandbox',
    type: 'REDIRECT',
    path: '/redirect',
    offering: {
      rails: [
        {
          countries: EURO,
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'EUR',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: [...BANK_IN, 'DEU_CARD', 'FRA_CARD', 'ESP_CARD'],
          minAmount: '20',
          maxAmount: '5000',
          rate: '1.075',
          feeFixed: '0.99',
          feePercent: '1.9',
          decimals: 6,
        },
        {
          countries: ['BRA'],
          rampType: 'ONRAMP',
          fromDecimals: MAGIC,
          fromCurrency: 'BRL',
          toCurrency: 'SOLANA_USDC',
          paymentMethods: ['BRA_PIX', 'BRA_CARD'],
          minAmount: '100',
          maxAmount: '10000',
          rate: '0.179',
          feePercent: '2.5',
          decimals: 6,
        },
      ],
    },
  },
];

/** In ISO 3166-1 alpha-3. Each is known to every demo partner. */
export const SEEDED_CUSTOMERS: readonly { readonly customerId: string; readonly country: string }[] = [
  { customerId: 'cus_demo_ana', country: 'BRA' },
  { customerId: 'cus_demo_bo', country: 'DEU' },
  { customerId: 'cus_demo_eva', country: 'MEX' },
  { customerId: 'cus_demo_sam', country: 'USA' },
];

export interface SeededOrder {
  readonly orderId: string;
  readonly partnerId: string;
  readonly customerId: string;
  readonly externalId: string;
  readonly countryCode: string;
  readonly transactionType: 'ONRAMP' | 'OFFRAMP';
  readonly source: readonly [currency: string, amount: string];
  readonly destination: readonly [currency: string, amount: string];
  readonly network: string;
  readonly paymentMethod: string;
  readonly deposit: Readonly<Record<string, string>>;
  /** Its statuses so far: the first is AWAITING_FUNDS, the last is the current one. */
  readonly way: readonly OrderStatus[];
  readonly sourceTransactionId?: string;
  readonly destinationTransactionId?: string;
  /** Before the demo began. */
  readonly minutesAgo: number;
}

const SANDBANK = {
  paymentMethod: 'DEU_SEPA',
  currency: 'EUR',
  bankName: 'Sandbank',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  accountHolderName: 'Sandbank Integration GmbH',
};

export const SEEDED_ORDERS: readonly SeededOrder[] = [
  {
    orderId: 'rmp_demo_waiting',
    partnerId: 'par_sandbox_bank',
    customerId: 'cus_demo_bo',
    externalId: 'SB-1001',
    countryCode: 'DEU',
    transactionType: 'ONRAMP',
    source: ['EUR', '250'],
    destination: ['SOLANA_USDC', '268.65'],
    network: 'SOLANA',
    paymentMethod: 'DEU_SEPA',
    deposit: { ...SANDBANK, amount: '250', depositMessage: 'SB-1001' },
    way: ['AWAITING_FUNDS'],
    minutesAgo: 12,
  },
  {
    orderId: 'rmp_demo_received',
    partnerId: 'par_sandbox_bank',
    customerId: 'cus_demo_bo',
    externalId: 'SB-1002',
    countryCode: 'DEU',
    transactionType: 'ONRAMP',
    source: ['EUR', '1200'],
    destination: ['SOLANA_USDC', '1289.52'],
    network: 'SOLANA',
    paymentMethod: 'DEU_SEPA',
    deposit: { ...SANDBANK, amount: '1200', depositMessage: 'SB-1002' },
    way: ['AWAITING_FUNDS', 'FUNDS_RECEIVED'],
    sourceTransactionId: 'sepa-2026-77120',
    minutesAgo: 55,
  },
  {
    orderId: 'rmp_demo_submitted',
    partnerId: 'par_sandbox_bank',
    customerId: 'cus_demo_eva',
    externalId: 'SB-1003',
    countryCode: 'MEX',
    transactionType: 'OFFRAMP',
    source: ['SOLANA_USDC', '80'],
    destination: ['MXN', '1460.22'],
    network: 'SOLANA',
    paymentMethod: 'MEX_SPEI',
    deposit: { network: 'SOLANA', currency: 'SOLANA_USDC', amount: '80', blockchainMemo: 'SB-1003' },
    way: ['AWAITING_FUNDS', 'FUNDS_RECEIVED', 'PAYMENT_SUBMITTED'],
    sourceTransactionId: 'sol-sandbox-000003',
    destinationTransactionId: 'spei-2026-000042',
    minutesAgo: 190,
  },
  {
    orderId: 'rmp_demo_done',
    partnerId: 'par_sandbox_bank',
    customerId: 'cus_demo_sam',
    externalId: 'SB-1004',
    countryCode: 'USA',
    transactionType: 'ONRAMP',
    source: ['USD', '40'],
    destination: ['SOLANA_USDC', '39.8'],
    network: 'SOLANA',
    paymentMethod: 'USA_ACH',
    deposit: {
      paymentMethod: 'USA_ACH',
      currency: 'USD',
      amount: '40',
      bankName: 'Sandbank',
      bankRoutingNumber: '011000015',
      bankAccountNumber: '000123456789',
      bankBeneficiaryName: 'Sandbank Integration Inc.',
      depositMessage: 'SB-1004',
    },
    way: ['AWAITING_FUNDS', 'FUNDS_RECEIVED', 'PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED'],
    sourceTransactionId: 'ach-2026-000311',
    destinationTransactionId: 'sol-sandbox-000004',
    minutesAgo: 1500,
  },
  {
    orderId: 'rmp_demo_pix',
    partnerId: 'par_sandbox_pix',
    customerId: 'cus_demo_ana',
    externalId: 'PX-501',
    countryCode: 'BRA',
    transactionType: 'ONRAMP',
    source: ['BRL', '500'],
    destination: ['SOLANA_USDC', '89.6855'],
    network: 'SOLANA',
    paymentMethod: 'BRA_PIX',
    deposit: { paymentMethod: 'BRA_PIX', currency: 'BRL', amount: '500', depositMessage: 'PX-501' },
    way: ['AWAITING_FUNDS', 'IN_REVIEW'],
    minutesAgo: 30,
  },
];
