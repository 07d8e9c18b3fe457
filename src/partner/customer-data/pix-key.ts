import { cnpj, cpf } from './cpf-cnpj.ts';
import { emailAddress } from './email.ts';
import { isWrong, normal, type Verdict, wrong } from './verdict.ts';

const AREA_CODES =
  '11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 51 53 54 55 61 62 63 ' +
  '64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A key of Pix's directory: a CPF or CNPJ with its check digits, an e-mail address, a phone number with +55, or a
 * random key (a UUID of any version). Kept as the directory keeps it: digits alone, lower-case addresses and keys.
 */
export function pixKey(text: string): Verdict {
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
  return match && AREA_CODES.split(' ').includes(match[1] ?? '')
    ? normal(digits)
    : wrong('must be +55, an area code and a number, such as +5511987654321.');
}

const taxKey = (verdict: Verdict, name: string): Verdict =>
  isWrong(verdict) ? wrong(`${verdict.wrong.slice(0, -1)} (${name}).`) : verdict;
