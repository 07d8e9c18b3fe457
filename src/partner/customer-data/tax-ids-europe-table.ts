import { isLuhn, isMod11And10, weightedSum } from './check-digits.ts';
import { isCodiceFiscale } from './codice-fiscale.ts';
import { type TaxRules, taxRule } from './tax-rule.ts';

/** Tax numbers of Europe, each by its own authority's rule. */
export const EUROPE: TaxRules = {
  PRT: { NIF: taxRule(/^([1-35689]\d|45)\d{7}$/, isNifPortugal) },
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
  NLD: {
    BSN: taxRule(/^(?!0{9})\d{9}$/, (code) => weightedSum(code, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0),
  },
  BEL: {
    RRN: taxRule(/^\d{11}$/, (code) =>
      ['', '2'].some((century) => 97 - (Number(century + code.slice(0, 9)) % 97) === Number(code.slice(9))),
    ),
  },
  POL: {
    PESEL: taxRule(/^\d{11}$/, (code) => weightedSum(code, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0),
    NIP: taxRule(
      /^[1-9]\d{9}$/,
      (code) => weightedSum(code, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === Number(code[9]),
    ),
  },
  GBR: {
    UTR: taxRule(/^\d{10}$/, (code) => {
      const sum = weightedSum(code.slice(1), [6, 7, 8, 9, 10, 5, 4, 3, 2]);
      return '21987654321'[sum % 11] === code[0];
    }),
    NINO: taxRule(/^(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/),
  },
  IRL: {
    PPS: taxRule(/^\d{7}[A-W][A-IW]?$/, (code) => {
      const second = code.length === 9 ? 'WABCDEFGHI'.indexOf(code.charAt(8)) : 0;
      const sum = weightedSum(code, [8, 7, 6, 5, 4, 3, 2]) + 9 * second;
      return 'WABCDEFGHIJKLMNOPQRSTUV'[sum % 23] === code[7];
    }),
  },
  CHE: {
    AHV: taxRule(
      /^756\d{10}$/,
      (code) => weightedSum(code, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
    ),
  },
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
      const eleventh = weightedSum(code, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
      return ((tenth % 10) + 10) % 10 === Number(code[9]) && eleventh % 10 === Number(code[10]);
    }),
  },
};

function isNifPortugal(code: string): boolean {
  const check = 11 - (weightedSum(code, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check > 9 ? 0 : check) === Number(code[8]);
}

/** DNI, NIE (its letter stands for 0, 1 or 2) and the numbers in K, L, M of persons without either. */
function isDni(code: string): boolean {
  const digits = code
    .slice(0, 8)
    .replace(/^[XYZKLM]/, (letter) => String(Math.max('XYZ'.indexOf(letter), 0)));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(digits) % 23] === code[8];
}

/** Sources disagree about which kinds of company get a letter and which a digit: either is accepted. */
function isCif(code: string): boolean {
  const check = [...'0123456789'].findIndex((digit) => isLuhn(code.slice(1, 8) + digit));
  return code[8] === String(check) || code[8] === 'JABCDEFGHI'[check];
}

/** Among the first ten digits exactly one comes twice or three times, and no other does. */
function isSteuerId(code: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of code.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] ?? 0) <= 3 && isMod11And10(code);
}
