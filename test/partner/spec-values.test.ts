import { expect, test } from 'vitest';
import { validateCustomerData } from '../../src/partner/customer-data/index.ts';

/** The enumerations of customer data, copied by hand from the specification. */

const words = (text: string): string[] => text.trim().split(/\s+/);

const VALUES: Readonly<Record<string, { readonly field: string; readonly values: readonly string[] }>> = {
  accountPurpose: {
    field: 'type',
    values: words('INVESTMENT SAVINGS PAYMENTS REMITTANCES EXPENSES FREELANCING SALARY'),
  },
  employmentStatus: {
    field: 'type',
    values: words('EMPLOYED SELF_EMPLOYED BUSINESS_OWNER RETIRED UNEMPLOYED HOMEMAKER STUDENT'),
  },
  expectedMonthlyPayments: {
    field: 'category',
    values: words('USD_0K_1K USD_1K_10K USD_10K_50K USD_50K_200K USD_200K_PLUS'),
  },
  sourceOfFunds: {
    field: 'type',
    values: words(`
      EMPLOYMENT_SALARY EMPLOYMENT_FREELANCING EMPLOYMENT_PROFESSIONAL_FEES BUSINESS_PROFITS BUSINESS_DIVIDENDS
      BUSINESS_PROCEEDS SAVINGS_BANK_ACCOUNTS SAVINGS_FINANCIAL_INVESTMENTS SAVINGS_INTEREST_GAINS SALE_OF_ASSETS
      FAMILY_INHERITANCE FAMILY_DONATIONS FAMILY_ALLOWANCE COMPENSATION_SEVERANCE COMPENSATION_INSURANCE
      COMPENSATION_LEGAL_SETTLEMENTS LOANS_BANK LOANS_PRIVATE_FAMILY LOANS_P2P_MICROFINANCE PENSIONS_RETIREMENT
      PENSIONS_SOCIAL_BENEFITS CRYPTO_TRADING_PROFITS CRYPTO_NFT_SALES CRYPTO_STAKING_INCOME CRYPTO_EXTERNAL_WALLETS
      CRYPTO_EXCHANGES CRYPTO_ICO_DEFI`),
  },
};

test.each(['accountPurpose', 'employmentStatus', 'expectedMonthlyPayments', 'sourceOfFunds'])(
  'every value of %s is taken, and no other',
  async (key) => {
    const { field, values } = VALUES[key] ?? { field: '', values: [] };
    for (const value of values) {
      const taken = await validateCustomerData({ [key]: { [field]: value } }, { nowMs: 0 });
      expect([value, 'issues' in taken]).toEqual([value, false]);
    }
    for (const value of ['', 'NOTHING', values[0]?.toLowerCase(), 1]) {
      const refused = await validateCustomerData({ [key]: { [field]: value } }, { nowMs: 0 });
      expect([value, 'issues' in refused]).toEqual([value, true]);
    }
  },
);

test('there are twenty-seven sources of funds, and five categories of monthly payments', () => {
  expect([VALUES.sourceOfFunds?.values.length, VALUES.expectedMonthlyPayments?.values.length]).toEqual([27, 5]);
});
