import { normal, type Verdict, wrong } from './verdict.ts';

/** Takes a number in capitals without its grouping; gives its normal form or what is wrong with it. */
type TaxRule = (code: string) => Verdict;

/** A number with a form and, where its authority computes one, a check that the form's capture must pass. */
export const taxRule =
  (form: RegExp, fits: (code: string) => boolean = () => true): TaxRule =>
  (code) => {
    if (!form.test(code)) return wrong('is not a valid number.');
    return fits(code)
      ? normal(code)
      : wrong('has check characters that do not match, or parts that are never issued.');
  };

/** Tax numbers by alpha-3 country and kind. */
export type TaxRules = Readonly<Record<string, Readonly<Record<string, TaxRule>>>>;
