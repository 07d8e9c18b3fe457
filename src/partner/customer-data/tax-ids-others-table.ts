import { isLuhn, weightedSum } from './check-digits.ts';
import { type TaxRules, taxRule } from './tax-rule.ts';

/** Tax numbers of Africa, Asia and Oceania, each by its own authority's rule. */
export const OTHERS: TaxRules = {
  NGA: {
    TIN: taxRule(/^\d{10}$|^\d{12,13}$/),
    NIN: taxRule(/^\d{11}$/),
    BVN: taxRule(/^\d{11}$/),
  },
  KEN: { PIN: taxRule(/^[AP]\d{9}[A-Z]$/) },
  ZAF: { TAX_NUMBER: taxRule(/^[01239]\d{9}$/, isLuhn) },
  IND: { PAN: taxRule(/^[A-Z]{3}[ABCEFGHJKLPT][A-Z]\d{4}[A-Z]$/) },
  AUS: {
    TFN: taxRule(
      /^\d{8,9}$/,
      (code) => code.length === 8 || weightedSum(code, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
    ),
  },
};
