import type { Policy } from './policy-schema.ts';

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
