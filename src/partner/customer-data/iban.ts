import { ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { upperCase } from './text.ts';
import { normal, type Verdict, wrong } from './verdict.ts';

const REASONS: Partial<Record<ValidationErrorsIBAN, string>> = {
  [ValidationErrorsIBAN.NoIBANCountry]: 'begins with a country that does not use IBANs.',
  [ValidationErrorsIBAN.WrongBBANLength]: 'does not have the length of an IBAN of its country.',
  [ValidationErrorsIBAN.WrongBBANFormat]: 'is not a valid IBAN for its country.',
  [ValidationErrorsIBAN.ChecksumNotNumber]: 'has no check digits after the country.',
  [ValidationErrorsIBAN.WrongIBANChecksum]: 'has check digits that do not match.',
  [ValidationErrorsIBAN.WrongAccountBankBranchChecksum]: "has a national check digit that doesn't match.",
};

/**
 * An IBAN (ISO 13616): its country's length and form, check digits by ISO 7064 MOD 97-10, and the country's own
 * check digits where it has any. Spaces and hyphens between groups and one case throughout are fine; it is kept in
 * capitals without spaces.
 */
export function iban(text: string): Verdict {
  const code = upperCase(text.replace(/[\s-]/g, ''));
  if (code === null) return wrong('mixes upper and lower case.');
  // ibantools computes the two digits anew, so 00, 01 and 99 are refused though their division comes out.
  const { valid, errorCodes } = validateIBAN(code);
  if (valid) return normal(code);
  const reason = errorCodes.map((one) => REASONS[one]).find((one) => one !== undefined);
  return wrong(reason ?? 'is not an IBAN.');
}
