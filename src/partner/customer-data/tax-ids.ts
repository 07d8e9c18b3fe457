import { isRealDate } from '../../kernel/clock.ts';
import { checkCharacter, cnpj, cpf, isLuhn, isMod11And10, MOD_11, weightedSum } from './check-digits.ts';
import type { CustomerData } from './schema.ts';
import {
  countryAlpha3,
  isWrong,
  line,
  type Missing,
  normal,
  type Rules,
  ungrouped,
  type Verdict,
  withoutBracket,
  wrong,
} from './verdict.ts';

/** Checks a number in capitals, without separators. */
type TaxRule = (code: string) => Verdict;

/** Makes a rule of a number's format and, if its authority defines one, its check. */
const taxRule =
  (form: RegExp, fits: Fits = () => true): TaxRule =>
  (code) => {
    if (!form.test(code)) return wrong('is not a valid number.');
    return fits(code) ? normal(code) : wrong('has check characters that do not match, or parts that are never issued.');
  };

type Fits = (code: string) => boolean;

/** Fits if the last character is the check character of the ones before it. */
const endsBy =
  (weights: string | readonly number[], characters: string): Fits =>
  (code) =>
    checkCharacter(code, weights, characters) === code.at(-1);

const sumsTo =
  (modulus: number, weights: string | readonly number[]): Fits =>
  (code) =>
    weightedSum(code, weights) % modulus === 0;

type TaxRules = Readonly<Record<string, Readonly<Record<string, TaxRule>>>>;

/** True if YYMMDD is a real date in this century or the last. */
const isRealDay = (day: string): boolean =>
  ['19', '20'].some((century) => isRealDate(`${century}${day.slice(0, 2)}-${day.slice(2, 4)}-${day.slice(4)}`));

// A remainder of 1 would need 10 as a check digit: then another first pair is used, and 9.
const IS_CUIT = endsBy('5432765432', '09987654321');
const isRut: Fits = (code) => endsBy('32765432', '0K987654321')(code.padStart(9, '0'));
const NIT_WEIGHTS = [71, 67, 59, 53, 47, 43, 41, 37, 29, 23, 19, 17, 13, 7, 3];
const isNit: Fits = (code) => endsBy(NIT_WEIGHTS, '01987654321')(code.padStart(16, '0'));

/** Tax numbers by country and kind, each by its own authority's rule. */
const AMERICAS: TaxRules = {
  USA: {
    // Social Security Administration: no area 000, 666 or 9xx, no group 00, no serial 0000. Refuses two famous fakes.
    SSN: taxRule(/^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/, (code) => !/^(078051120|219099999)$/.test(code)),
    // Internal Revenue Service: 9xx, fourth and fifth digit 50-65, 70-88, 90-92, 94-99.
    ITIN: taxRule(/^9\d{2}(5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}$/),
    // Prefixes that an IRS campus or the IRS's internet service assigns.
    EIN: taxRule(/^(0[1-6]|1[0-6]|2[0-7]|3[0-9]|4[0-8]|5[0-9]|6[0-8]|7[1-7]|8[0-8]|9[0-5]|9[89])\d{7}$/),
  },
  BRA: { CPF: cpf, CNPJ: cnpj },
  MEX: {
    // The homoclave's check digit is ignored: the tax office itself has issued numbers that fail it.
    RFC: taxRule(/^[A-ZÑ&]{3,4}\d{6}[A-Z0-9]{2}[A0-9]$/, (code) => isRealDay(code.slice(-9, -3))),
    CURP: taxRule(/^[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-ZÑ]{3}[A-Z0-9]\d$/, isCurp),
  },
  ARG: { CUIT: taxRule(/^(2[03-7]|3[034]|5[015])\d{9}$/, IS_CUIT), CUIL: taxRule(/^2[03-7]\d{9}$/, IS_CUIT) },
  CHL: { RUT: taxRule(/^\d{7,8}[0-9K]$/, isRut), RUN: taxRule(/^\d{7,8}[0-9K]$/, isRut) },
  COL: { NIT: taxRule(/^\d{8,16}$/, isNit), CC: taxRule(/^[1-9]\d{4,9}$/) },
  PER: { RUC: taxRule(/^(1[0567]|20)\d{9}$/, endsBy('5432765432', '10987654321')), DNI: taxRule(/^\d{8}$/) },
  ECU: {
    CEDULA: taxRule(/^(0[1-9]|1\d|2[0-4]|30|50)[0-5]\d{7}$/, isLuhn),
    RUC: taxRule(
      /^(0[1-9]|1\d|2[0-4]|30|50)\d{8}(?!000)\d{3}$/,
      (code) => !/^..[0-5]/.test(code) || isLuhn(code.slice(0, 10)),
    ),
  },
  CAN: {
    SIN: taxRule(/^[1-79]\d{8}$/, isLuhn),
    BN: taxRule(/^\d{9}([A-Z]{2}\d{4})?$/, (code) => isLuhn(code.slice(0, 9))),
  },
};

const STATES = 'AS BC BS CC CS CH CL CM DF CX DG GT GR HG JC MC MN MS NT NL OC PL QT QR SP SL SR TC TS TL VZ YN ZS NE';

function isCurp(code: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';
  const sum = [...code.slice(0, 17)].reduce(
    (total, letter, place) => total + alphabet.indexOf(letter) * (18 - place),
    0,
  );
  return (
    (10 - (sum % 10)) % 10 === Number(code[17]) &&
    isRealDay(code.slice(4, 10)) &&
    STATES.split(' ').includes(code.slice(11, 13))
  );
}

const EUROPE: TaxRules = {
  PRT: { NIF: taxRule(/^([1-35689]\d|45)\d{7}$/, endsBy('98765432', MOD_11)) },
  ESP: {
    DNI: taxRule(/^\d{8}[A-Z]$/, isDni),
    NIE: taxRule(/^[XYZ]\d{7}[A-Z]$/, isDni),
    NIF: taxRule(/^([\dXYZKLM]\d{7}[A-Z]|[ABCDEFGHJNPQRSUVW]\d{7}[0-9A-J])$/, (code) =>
      /^[\dXYZKLM]/.test(code) ? isDni(code) : isCif(code),
    ),
    CIF: taxRule(/^[ABCDEFGHJNPQRSUVW]\d{7}[0-9A-J]$/, isCif),
  },
  DEU: {
    STEUER_ID: taxRule(/^[1-9]\d{10}$/, isSteuerId),
    STEUERNUMMER: taxRule(/^\d{10,11}$|^\d{13}$/),
    UST_ID: taxRule(/^DE[1-9]\d{8}$/, (code) => isMod11And10(code.slice(2))),
  },
  FRA: {
    SPI: taxRule(/^[0-3]\d{12}$/, (code) => Number(code.slice(0, 10)) % 511 === Number(code.slice(10))),
    SIREN: taxRule(/^\d{9}$/, isLuhn),
  },
  ITA: {
    CODICE_FISCALE: taxRule(
      /^([A-Z]{6}[0-9L-NP-V]{2}[A-EHLMPRST][0-9L-NP-V]{2}[A-Z][0-9L-NP-V]{3}[A-Z]|\d{11})$/,
      (code) => (code.length === 11 ? isLuhn(code) : isCodiceFiscale(code)),
    ),
    PARTITA_IVA: taxRule(/^\d{11}$/, isLuhn),
  },
  NLD: { BSN: taxRule(/^(?!0{9})\d{9}$/, sumsTo(11, [9, 8, 7, 6, 5, 4, 3, 2, -1])) },
  BEL: {
    RRN: taxRule(/^\d{11}$/, (code) =>
      ['', '2'].some((century) => 97 - (Number(century + code.slice(0, 9)) % 97) === Number(code.slice(9))),
    ),
  },
  POL: {
    PESEL: taxRule(/^\d{11}$/, sumsTo(10, '13791379131')),
    // A remainder of 10 has no digit.
    NIP: taxRule(/^[1-9]\d{9}$/, endsBy('657234567', '0123456789-')),
  },
  GBR: {
    UTR: taxRule(
      /^\d{10}$/,
      (code) => checkCharacter(code.slice(1), [6, 7, 8, 9, 10, 5, 4, 3, 2], '21987654321') === code[0],
    ),
    NINO: taxRule(/^(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/),
  },
  IRL: {
    PPS: taxRule(/^\d{7}[A-W][A-IW]?$/, (code) => {
      const second = code.length === 9 ? 'WABCDEFGHI'.indexOf(code.charAt(8)) : 0;
      const sum = weightedSum(code, '8765432') + 9 * second;
      return 'WABCDEFGHIJKLMNOPQRSTUV'[sum % 23] === code[7];
    }),
  },
  CHE: { AHV: taxRule(/^756\d{10}$/, sumsTo(10, '1313131313131')) },
  SWE: { PERSONNUMMER: taxRule(/^(19|20)?\d{10}$/, (code) => isLuhn(code.slice(-10))) },
  FIN: {
    HETU: taxRule(/^\d{6}[+A-FU-Y]?\d{3}[0-9A-Y]$/, (code) => {
      const digits = code.slice(0, 6) + code.slice(-4, -1);
      return '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(digits) % 31] === code.at(-1);
    }),
  },
  TUR: {
    TCKN: taxRule(/^[1-9]\d{10}$/, (code) => {
      const tenth = weightedSum(code, [7, -1, 7, -1, 7, -1, 7, -1, 7]);
      const eleventh = weightedSum(code, '1111111111');
      return ((tenth % 10) + 10) % 10 === Number(code[9]) && eleventh % 10 === Number(code[10]);
    }),
  },
};

/** Checks a DNI, an NIE (its letter counts as 0, 1 or 2), or a number with K, L or M of a person without either. */
function isDni(code: string): boolean {
  const digits = code.slice(0, 8).replace(/^[XYZKLM]/, (letter) => String(Math.max('XYZ'.indexOf(letter), 0)));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(digits) % 23] === code[8];
}

/** Accepts a letter or a digit at the end, because sources disagree about which kinds of company get which. */
function isCif(code: string): boolean {
  const check = [...'0123456789'].findIndex((digit) => isLuhn(code.slice(1, 8) + digit));
  return code[8] === String(check) || code[8] === 'JABCDEFGHI'[check];
}

/** Exactly one of the first ten digits occurs twice or three times, all others at most once. */
function isSteuerId(code: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of code.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] ?? 0) <= 3 && isMod11And10(code);
}

/** Values of characters at odd places. At even places a character counts as its digit or its index in the alphabet. */
const ODD_DIGITS = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];

const ODD_LETTERS = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Checks the last letter of an Italian codice fiscale (16 capitals and digits). */
function isCodiceFiscale(code: string): boolean {
  const sum = [...code.slice(0, 15)].reduce((total, letter, index) => {
    const isDigit = /\d/.test(letter);
    const value = isDigit ? Number(letter) : letter.charCodeAt(0) - 65;
    if (index % 2 === 1) return total + value;
    return total + ((isDigit ? ODD_DIGITS[value] : ODD_LETTERS[value]) ?? 0);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === code[15];
}

const OTHERS: TaxRules = {
  NGA: { TIN: taxRule(/^\d{10}$|^\d{12,13}$/), NIN: taxRule(/^\d{11}$/), BVN: taxRule(/^\d{11}$/) },
  KEN: { PIN: taxRule(/^[AP]\d{9}[A-Z]$/) },
  ZAF: { TAX_NUMBER: taxRule(/^[01239]\d{9}$/, isLuhn) },
  IND: { PAN: taxRule(/^[A-Z]{3}[ABCEFGHJKLPT][A-Z]\d{4}[A-Z]$/) },
  AUS: { TFN: taxRule(/^\d{8,9}$/, (code) => code.length === 8 || sumsTo(11, [1, 4, 3, 7, 5, 8, 6, 9, 10])(code)) },
};

export const TAX_RULES: TaxRules = { ...AMERICAS, ...EUROPE, ...OTHERS };

/** Kinds that mean any tax number of the country. */
const GENERAL = ['', 'TIN', 'TAX_ID', 'TAXID'];

/** Other names of a listed kind. */
const SAME_AS: Readonly<Record<string, string>> = {
  IDNR: 'STEUER_ID',
  STEUERID: 'STEUER_ID',
  STEUER_IDENTIFIKATIONSNUMMER: 'STEUER_ID',
  CF: 'CODICE_FISCALE',
  NUMERO_FISCAL: 'SPI',
  NATIONAL_INSURANCE_NUMBER: 'NINO',
};

/** Kinds that exist in one country only; other names (DNI, NIF, RUC, SSN) are used by several. */
const ONE_COUNTRY =
  'ITIN EIN CPF CNPJ RFC CURP CUIT CUIL STEUER_ID SPI SIREN CODICE_FISCALE PARTITA_IVA BSN PESEL ' +
  'UTR NINO PPS AHV HETU TCKN BVN TFN';

/** Places by the country whose tax office numbers their people; some also issue numbers of their own. */
const OFFICES: Readonly<Record<string, string>> = {
  AUS: 'CCK CXR NFK',
  CHE: 'LIE',
  FIN: 'ALA',
  FRA: 'BLM GLP GUF MAF MTQ MYT NCL PYF REU SPM WLF',
  GBR: 'GGY IMN JEY',
  ITA: 'SMR VAT',
  USA: 'ASM GUM MNP PRI VIR',
};

/** Finds the country whose tax office a place shares; empty if there is none. */
const officeOf = (place: string): string =>
  Object.keys(OFFICES).find((country) => OFFICES[country]?.split(' ').includes(place)) ?? '';

/**
 * Rules for a tax number (spec/partner-service.md, Customer data). A kind that is listed for its country has its own
 * rule. A general kind (TIN, TAX_ID or none) must pass any rule of a listed country. Any other kind, including OTHER
 * with its `customType`, only has to look like a tax number. A kind that only another country has is refused.
 */
export const rules: Rules = {
  'taxId.country': countryAlpha3,
  'taxId.type': (text, data) => {
    const kind = kindNamed(text);
    if (kind !== '' && !/^[A-Z0-9_]{2,40}$/.test(kind))
      return wrong('must be 2 to 40 letters, digits and underscores.');
    return isElsewhere(data) ? wrong('is a tax id of another country.') : normal(kind);
  },
  'taxId.customType': (text) => line(text, 60),
  // The other fields report a bad country or kind, for which there is no rule.
  'taxId.number': (text, data) => {
    const { country = '', type } = data.taxId ?? {};
    const isRefused = isWrong(countryAlpha3(country)) || isElsewhere(data);
    return isRefused ? normal(text) : taxNumber(text, country, kindNamed(type));
  },
};

export const missing: Missing = {
  'taxId.customType': ({ taxId }) => kindNamed(taxId?.type) === 'OTHER' && 'is required with OTHER.',
};

function kindNamed(type = ''): string {
  const kind = type
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
  return SAME_AS[kind] ?? kind;
}

/** True for a kind that only another country has. */
function isElsewhere({ taxId }: CustomerData): boolean {
  const { country = '', type } = taxId ?? {};
  const kind = kindNamed(type);
  const isListed = [country, officeOf(country)].some((one) => TAX_RULES[one]?.[kind] !== undefined);
  return !isWrong(countryAlpha3(country)) && !isListed && ONE_COUNTRY.split(' ').includes(kind);
}

function taxNumber(text: string, country: string, kind: string): Verdict {
  const code = withoutBracket(ungrouped(text)).toUpperCase();
  const shared = TAX_RULES[officeOf(country)]?.[kind];
  if (shared && !TAX_RULES[country]?.[kind]) {
    const verdict = shared(code);
    return isWrong(verdict) ? plain(code) : verdict;
  }
  const rules = TAX_RULES[country] ?? {};
  const rule = rules[kind];
  if (rule) return rule(code);
  if (GENERAL.includes(kind)) {
    const kinds = Object.keys(rules);
    const right = Object.values(rules)
      .map((one) => one(code))
      .find((one) => !isWrong(one));
    if (kinds.length > 0) return right ?? wrong(`is no ${kinds.join(', ')} of that country.`);
  }
  return plain(code);
}

/** An unlisted kind: 4 to 30 letters and digits, with a digit among them, and not one character repeated. */
const plain = (code: string): Verdict =>
  /^(?=.*\d)(?!(.)\1+$)[A-Z0-9]{4,30}$/.test(code)
    ? normal(code)
    : wrong('must be 4 to 30 letters and digits, at least one of them a digit.');
