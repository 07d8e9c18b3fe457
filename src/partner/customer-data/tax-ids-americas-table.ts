import { isRealDate } from '../../domain/calendar.ts';
import { isLuhn, weightedSum } from './check-digits.ts';
import { cnpj, cpf } from './cpf-cnpj.ts';
import { type TaxRules, taxRule } from './tax-rule.ts';

/** Tax numbers of the Americas, each by its own authority's rule. */
export const AMERICAS: TaxRules = {
  USA: {
    // Social Security Administration: no area 000, 666 or 9xx, no group 00, no serial 0000; two famous fakes.
    SSN: taxRule(
      /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/,
      (code) => !/^(078051120|219099999)$/.test(code),
    ),
    // Internal Revenue Service: 9xx, fourth and fifth digit 50-65, 70-88, 90-92, 94-99.
    ITIN: taxRule(/^9\d{2}(5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}$/),
    // Prefixes that a campus or the internet service gives out.
    EIN: taxRule(/^(0[1-6]|1[0-6]|2[0-7]|3[0-9]|4[0-8]|5[0-9]|6[0-8]|7[1-7]|8[0-8]|9[0-5]|9[89])\d{7}$/),
  },
  BRA: { CPF: cpf, CNPJ: cnpj },
  MEX: {
    // The homoclave's check digit is left alone: the tax office itself has given out numbers that fail it.
    RFC: taxRule(/^[A-ZÑ&]{3,4}\d{6}[A-Z0-9]{2}[A0-9]$/, (code) => isPastDay(code.slice(-9, -3))),
    CURP: taxRule(/^[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-ZÑ]{3}[A-Z0-9]\d$/, isCurp),
  },
  ARG: { CUIT: taxRule(/^(2[03-7]|3[034]|5[015])\d{9}$/, isCuit), CUIL: taxRule(/^2[03-7]\d{9}$/, isCuit) },
  CHL: { RUT: taxRule(/^\d{7,8}[0-9K]$/, isRut), RUN: taxRule(/^\d{7,8}[0-9K]$/, isRut) },
  COL: { NIT: taxRule(/^\d{8,16}$/, isNit), CC: taxRule(/^[1-9]\d{4,9}$/) },
  PER: {
    RUC: taxRule(/^(1[0567]|20)\d{9}$/, (code) => {
      const sum = weightedSum(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);
      return (11 - (sum % 11)) % 10 === Number(code[10]);
    }),
    DNI: taxRule(/^\d{8}$/),
  },
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

/** YYMMDD, in this century or the last. */
const isPastDay = (day: string): boolean =>
  ['19', '20'].some((century) =>
    isRealDate(`${century}${day.slice(0, 2)}-${day.slice(2, 4)}-${day.slice(4)}`),
  );

const STATES =
  'AS BC BS CC CS CH CL CM DF CX DG GT GR HG JC MC MN MS NT NL OC PL QT QR SP SL SR TC TS TL VZ YN ZS NE';

function isCurp(code: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';
  const sum = [...code.slice(0, 17)].reduce(
    (total, letter, place) => total + alphabet.indexOf(letter) * (18 - place),
    0,
  );
  return (
    (10 - (sum % 10)) % 10 === Number(code[17]) &&
    isPastDay(code.slice(4, 10)) &&
    STATES.split(' ').includes(code.slice(11, 13))
  );
}

function isCuit(code: string): boolean {
  const rest = weightedSum(code, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  // A remainder of 1 would need two digits: then 9, with another first pair.
  return (rest === 0 ? 0 : rest === 1 ? 9 : 11 - rest) === Number(code[10]);
}

function isRut(code: string): boolean {
  const digits = code.slice(0, -1).padStart(8, '0');
  const check = 11 - (weightedSum(digits, [3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return code.at(-1) === (check === 11 ? '0' : check === 10 ? 'K' : String(check));
}

function isNit(code: string): boolean {
  const digits = code.slice(0, -1).padStart(15, '0');
  const rest = weightedSum(digits, [71, 67, 59, 53, 47, 43, 41, 37, 29, 23, 19, 17, 13, 7, 3]) % 11;
  return (rest < 2 ? rest : 11 - rest) === Number(code.at(-1));
}
