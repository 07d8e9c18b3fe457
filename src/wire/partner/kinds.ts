/** The names of the compliance side (spec/partner-service.md, Data types, Attestation types and Customer data). */

export const DATA_TYPES = [
  'EMAIL',
  'PHONE',
  'NAME',
  'ID_DOCUMENT',
  'OCCUPATION',
  'BANK_ACCOUNT',
  'SELFIE',
  'BIRTH_DATE',
  'NATIONALITY',
  'TAX_ID',
  'CRYPTO_WALLET',
  'RESIDENTIAL_ADDRESS',
  'INTERMEDIARY',
  'EMPLOYMENT_STATUS',
  'ACCOUNT_PURPOSE',
  'EXPECTED_MONTHLY_PAYMENTS',
  'SOURCE_OF_FUNDS',
  'LAST_OCCUPATION',
  'PROOF_OF_ADDRESS',
] as const;
export type DataType = (typeof DATA_TYPES)[number];

export const ATTESTATION_TYPES = [
  'VALIDATED_EMAIL',
  'VALIDATED_PHONE',
  'VALIDATED_ID_DOCUMENT',
  'LIVENESS_CHECK',
  'AML_CHECK',
  'TERMS',
  'VALIDATED_CRYPTO_WALLET',
] as const;
export type AttestationType = (typeof ATTESTATION_TYPES)[number];

/** The key of a data type in a CustomerData object. */
export const DATA_KEYS = {
  EMAIL: 'email',
  PHONE: 'phone',
  NAME: 'name',
  ID_DOCUMENT: 'idDocument',
  OCCUPATION: 'occupation',
  BANK_ACCOUNT: 'bankAccount',
  SELFIE: 'selfie',
  BIRTH_DATE: 'birthDate',
  NATIONALITY: 'nationality',
  TAX_ID: 'taxId',
  CRYPTO_WALLET: 'cryptoWallet',
  RESIDENTIAL_ADDRESS: 'residentialAddress',
  INTERMEDIARY: 'intermediary',
  EMPLOYMENT_STATUS: 'employmentStatus',
  ACCOUNT_PURPOSE: 'accountPurpose',
  EXPECTED_MONTHLY_PAYMENTS: 'expectedMonthlyPayments',
  SOURCE_OF_FUNDS: 'sourceOfFunds',
  LAST_OCCUPATION: 'lastOccupation',
  PROOF_OF_ADDRESS: 'proofOfAddress',
} as const satisfies Record<DataType, string>;

export const ACCOUNT_PURPOSES = [
  'INVESTMENT',
  'SAVINGS',
  'PAYMENTS',
  'REMITTANCES',
  'EXPENSES',
  'FREELANCING',
  'SALARY',
] as const;

export const EMPLOYMENT_STATUSES = [
  'EMPLOYED',
  'SELF_EMPLOYED',
  'BUSINESS_OWNER',
  'RETIRED',
  'UNEMPLOYED',
  'HOMEMAKER',
  'STUDENT',
] as const;

export const MONTHLY_PAYMENTS = ['USD_0K_1K', 'USD_1K_10K', 'USD_10K_50K', 'USD_50K_200K', 'USD_200K_PLUS'] as const;

export const DOCUMENT_TYPES = ['PASSPORT', 'DRIVERS_LICENSE', 'ID_CARD', 'RESIDENCE_PERMIT'] as const;

export const FUND_SOURCES = [
  'EMPLOYMENT_SALARY',
  'EMPLOYMENT_FREELANCING',
  'EMPLOYMENT_PROFESSIONAL_FEES',
  'BUSINESS_PROFITS',
  'BUSINESS_DIVIDENDS',
  'BUSINESS_PROCEEDS',
  'SAVINGS_BANK_ACCOUNTS',
  'SAVINGS_FINANCIAL_INVESTMENTS',
  'SAVINGS_INTEREST_GAINS',
  'SALE_OF_ASSETS',
  'FAMILY_INHERITANCE',
  'FAMILY_DONATIONS',
  'FAMILY_ALLOWANCE',
  'COMPENSATION_SEVERANCE',
  'COMPENSATION_INSURANCE',
  'COMPENSATION_LEGAL_SETTLEMENTS',
  'LOANS_BANK',
  'LOANS_PRIVATE_FAMILY',
  'LOANS_P2P_MICROFINANCE',
  'PENSIONS_RETIREMENT',
  'PENSIONS_SOCIAL_BENEFITS',
  'CRYPTO_TRADING_PROFITS',
  'CRYPTO_NFT_SALES',
  'CRYPTO_STAKING_INCOME',
  'CRYPTO_EXTERNAL_WALLETS',
  'CRYPTO_EXCHANGES',
  'CRYPTO_ICO_DEFI',
] as const;
