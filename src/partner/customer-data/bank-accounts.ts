import { ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { alpha2Of, isCountry } from '../../kernel/domain/countries.ts';
import codes from './bank-codes.json' with { type: 'json' };
import { cnpj, cpf, crc16, weightedSum } from './check-digits.ts';
import type { CustomerData } from './schema.ts';
import { emailAddress, isWrong, normal, type Rules, ungrouped, upperCase, type Verdict, wrong } from './verdict.ts';

/** Rules for bank accounts, by the numbers of each country (CONTRACT, section 12). Exactly one form is set. */
export const rules: Rules = {
  'bankAccount.ach.accountNumber': achAccountNumber,
  'bankAccount.ach.routingNumber': routingNumber,
  'bankAccount.clabe.accountNumber': clabe,
  'bankAccount.iban.accountNumber': iban,
  'bankAccount.iban.country': (text, data) => ibanCountry(text, countryOfIban(data)),
  'bankAccount.iban.bic': (text, data) => bic(text, countryOfIban(data)),
  'bankAccount.nuban.accountNumber': (text, { bankAccount }) => nubanAccount(text, bankAccount?.nuban?.bankCode ?? ''),
  'bankAccount.nuban.bankCode': nigerianBankCode,
  'bankAccount.pix.brCode': brCode,
  'bankAccount.pix.pixKey': pixKey,
};

/** Returns the first two letters of the IBAN, or null if it is not valid. */
function countryOfIban({ bankAccount }: CustomerData): string | null {
  const number = iban(bankAccount?.iban?.accountNumber ?? '');
  return isWrong(number) ? null : number.normal.slice(0, 2);
}

/** Checks the country beside an IBAN. It is optional; if given, it must be the IBAN's or share its payment system. */
function ibanCountry(text: string, ofIban: string | null): Verdict {
  const named = text.trim();
  const country = named === 'XK' || named === 'XKX' ? 'XK' : alpha2Of(named);
  if (country === null) return wrong('must be an ISO 3166-1 code, such as PRT.');
  return ofIban === null || shareBanks(ofIban, country) ? normal(named) : wrong('is not the country of the IBAN.');
}

const REASONS: Partial<Record<ValidationErrorsIBAN, string>> = {
  [ValidationErrorsIBAN.NoIBANCountry]: 'begins with a country that does not use IBANs.',
  [ValidationErrorsIBAN.WrongBBANLength]: 'does not have the length of an IBAN of its country.',
  [ValidationErrorsIBAN.WrongBBANFormat]: 'is not a valid IBAN for its country.',
  [ValidationErrorsIBAN.ChecksumNotNumber]: 'has no check digits after the country.',
  [ValidationErrorsIBAN.WrongIBANChecksum]: 'has check digits that do not match.',
  [ValidationErrorsIBAN.WrongAccountBankBranchChecksum]: "has a national check digit that doesn't match.",
};

/**
 * An IBAN (ISO 13616): its country's length and form, check digits by ISO 7064 MOD 97-10, and the country's own check
 * digits. Accepts spaces, hyphens and either case, but not a mix of both; kept in capitals without spaces.
 */
function iban(text: string): Verdict {
  const code = upperCase(text.replace(/[\s-]/g, ''));
  if (code === null) return wrong('mixes upper and lower case.');
  // ibantools recomputes the two digits, so it refuses 00, 01 and 99, which can pass the division.
  const { valid, errorCodes } = validateIBAN(code);
  if (valid) return normal(code);
  const reason = errorCodes.map((one) => REASONS[one]).find((one) => one !== undefined);
  return wrong(reason ?? 'is not an IBAN.');
}

/** True if the banks of two countries (alpha-2) are in one payment system (SWIFT's IBAN registry, territories). */
const shareBanks = (one: string, other: string): boolean =>
  one === other || codes.paymentSystems.some((system) => system.includes(one) && system.includes(other));

/**
 * A BIC (ISO 9362): four letters, a country, two characters for the place, and optionally three for the branch.
 * @param ibanCountry the first two letters of the IBAN beside it; null if that is not valid
 */
function bic(text: string, ibanCountry: string | null): Verdict {
  const code = upperCase(text.replace(/\s/g, ''));
  if (code === null) return wrong('mixes upper and lower case.');
  if (!/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(code)) return wrong('must be a BIC of 8 or 11 characters.');
  const country = code.slice(4, 6);
  // Kosovo has no code in ISO 3166; banks use XK.
  if (!isCountry(country) && country !== 'XK') return wrong('has no country in its fifth and sixth letters.');
  return ibanCountry === null || shareBanks(ibanCountry, country)
    ? normal(code)
    : wrong('belongs to a bank in another country than the IBAN.');
}

/**
 * A routing number of the American Bankers Association: nine digits, weights 3-7-1. The Federal Reserve assigns the
 * first two (00-12 districts, 21-32 thrifts, 61-72 electronic, 80 traveller's cheques).
 */
function routingNumber(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{9}$/.test(digits)) return wrong('must be nine digits.');
  const pair = Number(digits.slice(0, 2));
  const given = pair <= 12 || (pair >= 21 && pair <= 32) || (pair >= 61 && pair <= 72) || pair === 80;
  if (!given || digits === '000000000') return wrong('begins with a pair that no Federal Reserve district uses.');
  return weightedSum(digits, '371371371') % 10 === 0 ? normal(digits) : wrong('has a check digit that does not match.');
}

/** An account number at an American bank: 4 to 17 digits without a check digit. */
function achAccountNumber(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{4,17}$/.test(digits)) return wrong('must be 4 to 17 digits.');
  return /^0+$/.test(digits) ? wrong('is all zeros.') : normal(digits);
}

/** True if the bank's account numbers are mobile numbers without check digits (codes of NIBSS and gateways). */
const usesPhoneNumbers = (bankCode: string): boolean => codes.nigerianPhoneNumberBanks.includes(bankCode);

/** The code of a Nigerian institution: 3 digits for a bank, 5 for another institution, or 6 by the standard of 2020. */
function nigerianBankCode(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^(\d{3}|\d{5}|\d{6})$/.test(digits)) return wrong('must be 3, 5 or 6 digits.');
  const known = digits.length !== 6 || /^(000|9)/.test(digits) || usesPhoneNumbers(digits);
  if (!known) return wrong('must, with six digits, be 000 and a bank code, or 9 and a code of five digits.');
  return /^0+$/.test(digits) ? wrong('is all zeros.') : normal(digits);
}

/**
 * A Nigerian account number under the Central Bank's revised standard of 2020. Six digits of the institution (000 and a
 * bank's three, or 9 and another institution's five) and nine of the account are weighted 3-7-3; the account's tenth
 * makes the sum a multiple of ten. For a bank this equals the rule of 2010, because zeros add nothing.
 */
function nubanAccount(text: string, bankCode: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{10}$/.test(digits)) return wrong('must be ten digits.');
  if (digits === '0000000000') return wrong('is all zeros.');
  const code = nigerianBankCode(bankCode);
  // The field of the code reports a bad code; without a code there is nothing to compute.
  if (isWrong(code)) return normal(digits);
  if (usesPhoneNumbers(code.normal) && /^[789][01]\d{8}$/.test(digits)) return normal(digits);
  const institution = code.normal.length === 5 ? `9${code.normal}` : code.normal.padStart(6, '0');
  const sum = weightedSum(institution + digits, '3733733733733731');
  return sum % 10 === 0 ? normal(digits) : wrong('has a check digit that does not match this bank.');
}

/**
 * A CLABE, the account number of Mexico: a bank (3), a place (3), an account (11) and a check digit by the weights
 * 3-7-1. The banks are Banxico's SPEI participants and those of the tax office's list (c_Banco), including closed banks
 * that still have accounts.
 */
function clabe(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{18}$/.test(digits)) return wrong('must be 18 digits.');
  // Banxico takes only the last digit of each product, which does not change the last digit of the sum.
  if (weightedSum(digits, '371371371371371371') % 10 !== 0) return wrong('has a check digit that does not match.');
  return codes.mexicanBanks.includes(digits.slice(0, 3))
    ? normal(digits)
    : wrong('does not begin with the code of a Mexican bank.');
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A key of Pix's directory: a CPF or CNPJ with its check digits, an e-mail address, a phone number with +55, or a random
 * key (a UUID of any version). Kept as in the directory: digits only, addresses and keys in lower case.
 */
function pixKey(text: string): Verdict {
  const key = text.trim();
  if (key.includes('@')) return emailKey(key);
  if (key.startsWith('+')) return phoneKey(key);
  if (UUID.test(key)) return normal(key.toLowerCase());
  const bare = key.replace(/[\s./-]/g, '');
  if (/^\d{11}$/.test(bare)) return taxKey(cpf(key), 'CPF (a phone number begins with +55)');
  if (/^[0-9A-Za-z]{12}\d\d$/.test(bare)) return taxKey(cnpj(key), 'CNPJ');
  return wrong('must be a CPF, a CNPJ, an e-mail address, a phone number with +55 or a random key.');
}

function emailKey(key: string): Verdict {
  const address = emailAddress(key);
  if (isWrong(address)) return address;
  return address.normal.length > 77
    ? wrong('is longer than the 77 characters of an e-mail key.')
    : normal(address.normal.toLowerCase());
}

function phoneKey(key: string): Verdict {
  const digits = key.replace(/[\s().-]/g, '');
  const match = /^\+55(\d\d)(9\d{8}|[2-5]\d{7})$/.exec(digits);
  return match && codes.brazilianAreas.includes(match[1] ?? '')
    ? normal(digits)
    : wrong('must be +55, an area code and a number, such as +5511987654321.');
}

const taxKey = (verdict: Verdict, name: string): Verdict =>
  isWrong(verdict) ? wrong(`${verdict.wrong.slice(0, -1)} (${name}).`) : verdict;

/**
 * A BR Code, the text behind a Pix QR code: EMV fields (two digits of id, two of length, a value) that end with a CRC
 * (Banco Central, Manual de Padrões para Iniciação do Pix; EMVCo merchant-presented mode). Checks the structure, the
 * required fields, the Pix account with its key, and the CRC. As it covers every character, the text is only trimmed.
 */
function brCode(pasted: string): Verdict {
  const text = pasted.trim();
  // EMV counts characters, banks count bytes. Both agree in ASCII only.
  if (!/^[\x20-\x7e]+$/.test(text)) return wrong('must be plain ASCII text without line breaks.');
  if (!/6304[0-9A-F]{4}$/.test(text)) return wrong('must end with 6304 and a CRC of four capital hex digits.');
  const crc = crc16(new TextEncoder().encode(text.slice(0, -4)), 0xffff);
  if (crc !== Number.parseInt(text.slice(-4), 16)) return wrong('has a CRC that does not match.');
  const fields = fieldsOf(text);
  if (fields === null) return wrong('is not a list of fields with two digits of id and two of length.');
  const fault = formFault(fields) ?? accountFault(fields);
  return fault === null ? normal(text) : wrong(fault);
}

/** Reads EMV fields by id. Null if a length is not a number, is zero or runs past the end, or if an id repeats. */
function fieldsOf(text: string): Map<string, string> | null {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const [, id = '', size = '0'] = /^(\d\d)(\d\d)/.exec(text.slice(at)) ?? [];
    const end = at + 4 + Number(size);
    if (end === at + 4 || end > text.length || fields.has(id)) return null;
    fields.set(id, text.slice(at + 4, end));
    at = end;
  }
  return fields;
}

/** The formats of fields. Fields with a last column, a valid stand-in, may be absent. */
const FIELDS: readonly (readonly [id: string, name: string, form: RegExp, absent?: string])[] = [
  ['52', 'merchant category', /^\d{4}$/],
  ['53', 'currency 986', /^986$/],
  ['58', 'country BR', /^BR$/],
  ['59', 'merchant name', /^.{1,25}$/],
  ['60', 'merchant city', /^.{1,15}$/],
  ['63', 'CRC', /^[0-9A-F]{4}$/],
  ['01', 'how often it can be paid', /^1[12]$/, '11'],
  ['54', 'amount', /^(?=.{1,13}$)\d+(\.\d{0,2})?$/, '0'],
];

function formFault(fields: ReadonlyMap<string, string>): string | null {
  const [first] = fields;
  if (first?.[0] !== '00' || first[1] !== '01') return 'must begin with the payload format 000201.';
  const bad = FIELDS.find(([id, , form, absent = '']) => !form.test(fields.get(id) ?? absent));
  if (bad) return `has no valid field ${bad[0]} (${bad[1]}).`;
  if ([...fields.keys()].at(-1) !== '63') return 'must have its CRC as the last field.';
  const transactionId = fieldsOf(fields.get('62') ?? '')?.get('05') ?? '***';
  return /^(\*\*\*|[A-Za-z0-9]{1,25})$/.test(transactionId) ? null : 'has no valid transaction id in field 62.';
}

/** Checks the Pix account: one of the merchant account fields 26 to 51, with a key or the address of a charge. */
function accountFault(fields: ReadonlyMap<string, string>): string | null {
  const accounts = [...fields].flatMap(([id, value]) =>
    Number(id) >= 26 && Number(id) <= 51 ? [fieldsOf(value)] : [],
  );
  const pix = accounts.find((account) => account?.get('00')?.toLowerCase() === 'br.gov.bcb.pix');
  if (!pix) return 'has no Pix account (br.gov.bcb.pix) in a field from 26 to 51.';
  const [key, url] = [pix.get('01'), pix.get('25')];
  if ((key === undefined) === (url === undefined)) return 'must name either a Pix key or the address of a charge.';
  if (key !== undefined && isWrong(pixKey(key))) return 'names a Pix key that is not valid.';
  return url !== undefined && !/^[a-z0-9-]+(\.[a-z0-9-]+)+(:443)?\/\S+$/i.test(url)
    ? 'names a charge whose address is not valid.'
    : null;
}
