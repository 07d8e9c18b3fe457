import { ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { alpha2Of, isCountry } from '../../kernel/domain/countries.ts';
import { cnpj, cpf, crc16, weightedSum } from './check-digits.ts';
import type { CustomerData } from './schema.ts';
import { emailAddress, ungrouped, upperCase } from './text.ts';
import { type Findings, isWrong, normal, type Verdict, wrong } from './verdict.ts';

type BankAccount = NonNullable<CustomerData['bankAccount']>;

/** A bank account by the rules of its own country's numbers (CONTRACT, section 12); exactly one form is set. */
export function checkBankAccount(account: BankAccount, at: string, found: Findings): BankAccount {
  const { ach, clabe: mexican, iban: european, nuban, pix } = account;
  if (ach) {
    return {
      ach: {
        accountNumber: found.take(`${at}.ach.accountNumber`, achAccountNumber(ach.accountNumber)),
        routingNumber: found.take(`${at}.ach.routingNumber`, routingNumber(ach.routingNumber)),
      },
    };
  }
  if (mexican) {
    return { clabe: { accountNumber: found.take(`${at}.clabe.accountNumber`, clabe(mexican.accountNumber)) } };
  }
  if (european) return { iban: checkIban(european, `${at}.iban`, found) };
  if (nuban) {
    return {
      nuban: {
        accountNumber: found.take(`${at}.nuban.accountNumber`, nubanAccount(nuban)),
        bankCode: found.take(`${at}.nuban.bankCode`, nigerianBankCode(nuban.bankCode)),
      },
    };
  }
  if (pix?.brCode !== undefined) return { pix: { brCode: found.take(`${at}.pix.brCode`, brCode(pix.brCode)) } };
  return { pix: { pixKey: found.take(`${at}.pix.pixKey`, pixKey(pix?.pixKey ?? '')) } };
}

type Iban = NonNullable<BankAccount['iban']>;

/** The country may be left out, since an IBAN says it; where it is given it must be the IBAN's, or share its banks. */
function checkIban(account: Iban, at: string, found: Findings): Iban {
  const number = iban(account.accountNumber);
  const accountNumber = found.take(`${at}.accountNumber`, number);
  const ibanCountry = isWrong(number) ? null : number.normal.slice(0, 2);
  const named = account.country?.trim();
  const country = named === undefined ? ibanCountry : named === 'XK' || named === 'XKX' ? 'XK' : alpha2Of(named);
  if (named !== undefined && country === null) {
    found.wrong(`${at}.country`, 'must be an ISO 3166-1 code, such as PRT.');
  } else if (country !== null && ibanCountry !== null && !shareBanks(ibanCountry, country)) {
    found.wrong(`${at}.country`, 'is not the country of the IBAN.');
  }
  return {
    accountNumber,
    ...(account.country !== undefined && { country: account.country.trim() }),
    ...(account.bic !== undefined && { bic: found.take(`${at}.bic`, bic(account.bic, ibanCountry)) }),
  };
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
 * An IBAN (ISO 13616): its country's length and form, check digits by ISO 7064 MOD 97-10, and the country's own
 * check digits where it has any. Spaces and hyphens between groups and one case throughout are fine; it is kept in
 * capitals without spaces.
 */
function iban(text: string): Verdict {
  const code = upperCase(text.replace(/[\s-]/g, ''));
  if (code === null) return wrong('mixes upper and lower case.');
  // ibantools computes the two digits anew, so 00, 01 and 99 are refused though their division comes out.
  const { valid, errorCodes } = validateIBAN(code);
  if (valid) return normal(code);
  const reason = errorCodes.map((one) => REASONS[one]).find((one) => one !== undefined);
  return wrong(reason ?? 'is not an IBAN.');
}

/**
 * Countries whose banks stand in each other's payment system: the IBAN begins with the first one's letters, the
 * code of the bank or the customer's own country may say another (SWIFT's IBAN registry, territories).
 */
const SYSTEMS = [
  'FR GF GP MQ RE MF BL PM YT NC PF WF TF MC',
  'GB GG JE IM',
  'FI AX',
  'IT SM VA',
  'CH LI',
  'ES IC EA',
  'NO SJ',
  'DK FO GL',
];

/** True where an account in one country (alpha-2) can be held at a bank of the other. */
const shareBanks = (one: string, other: string): boolean =>
  one === other || SYSTEMS.some((system) => system.split(' ').includes(one) && system.split(' ').includes(other));

/**
 * A BIC (ISO 9362): four letters, a country, two characters of place, and three more for a branch.
 * @param ibanCountry the first two letters of the IBAN beside it; null when that is not valid
 */
function bic(text: string, ibanCountry: string | null): Verdict {
  const code = upperCase(text.replace(/\s/g, ''));
  if (code === null) return wrong('mixes upper and lower case.');
  if (!/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(code)) return wrong('must be a BIC of 8 or 11 characters.');
  const country = code.slice(4, 6);
  // Kosovo has no code in ISO 3166, and XK everywhere in banking.
  if (!isCountry(country) && country !== 'XK') return wrong('has no country in its fifth and sixth letters.');
  return ibanCountry === null || shareBanks(ibanCountry, country)
    ? normal(code)
    : wrong('belongs to a bank in another country than the IBAN.');
}

/**
 * A routing number of the American Bankers Association: nine digits, weights 3-7-1, and a first pair that the
 * Federal Reserve gives out (00-12 districts, 21-32 thrifts, 61-72 electronic, 80 traveller's cheques).
 */
function routingNumber(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{9}$/.test(digits)) return wrong('must be nine digits.');
  const pair = Number(digits.slice(0, 2));
  const given = pair <= 12 || (pair >= 21 && pair <= 32) || (pair >= 61 && pair <= 72) || pair === 80;
  if (!given || digits === '000000000') return wrong('begins with a pair that no Federal Reserve district uses.');
  return weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0
    ? normal(digits)
    : wrong('has a check digit that does not match.');
}

/** An account number at an American bank: 4 to 17 digits; there is no check digit. */
function achAccountNumber(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{4,17}$/.test(digits)) return wrong('must be 4 to 17 digits.');
  return /^0+$/.test(digits) ? wrong('is all zeros.') : normal(digits);
}

/** A NUBAN account with the code of its institution, since the check digit is computed over both. */
interface Nuban {
  readonly accountNumber: string;
  readonly bankCode: string;
}

/**
 * Institutions that give a customer's mobile number without its leading zero as account number, by the codes of
 * NIBSS and of payment gateways. Such a number has no check digit.
 */
const PHONE_NUMBER_BANKS = '100004 100033 120001 120002 120003 120004 120005 999991 999992'.split(' ');

/** The code of a Nigerian institution: 3 digits for a bank, 5 for another institution, or the six of the standard. */
function nigerianBankCode(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^(\d{3}|\d{5}|\d{6})$/.test(digits)) return wrong('must be 3, 5 or 6 digits.');
  const known = digits.length !== 6 || /^(000|9)/.test(digits) || PHONE_NUMBER_BANKS.includes(digits);
  if (!known) return wrong('must, with six digits, be 000 and a bank code, or 9 and a code of five digits.');
  return /^0+$/.test(digits) ? wrong('is all zeros.') : normal(digits);
}

/**
 * A Nigerian account number under the Central Bank's revised standard of 2020: six digits of the institution (000
 * and a bank's three, or 9 and another institution's five) and nine of the account, weighted 3-7-3, and a tenth
 * that makes the sum a multiple of ten. For a bank this is the rule of 2010, since the zeros weigh nothing.
 */
function nubanAccount({ accountNumber, bankCode }: Nuban): Verdict {
  const digits = ungrouped(accountNumber);
  if (!/^\d{10}$/.test(digits)) return wrong('must be ten digits.');
  if (digits === '0000000000') return wrong('is all zeros.');
  const code = nigerianBankCode(bankCode);
  // The code is refused under its own name; without it there is nothing to compute.
  if (isWrong(code)) return normal(digits);
  if (PHONE_NUMBER_BANKS.includes(code.normal) && /^[789][01]\d{8}$/.test(digits)) return normal(digits);
  const institution = code.normal.length === 5 ? `9${code.normal}` : code.normal.padStart(6, '0');
  const sum = weightedSum(institution + digits, [3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3, 1]);
  return sum % 10 === 0 ? normal(digits) : wrong('has a check digit that does not match this bank.');
}

/**
 * A CLABE, the account number of Mexico: a bank (3), a place (3), an account (11) and a check digit, for which
 * each digit is weighted 3-7-1 and only the last digit of each product counts.
 */
function clabe(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{18}$/.test(digits)) return wrong('must be 18 digits.');
  // Reducing each product first, as Banxico writes it, changes nothing of the sum's last digit.
  const sum = weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7]);
  if ((10 - (sum % 10)) % 10 !== Number(digits[17])) return wrong('has a check digit that does not match.');
  return isClabeBank(digits.slice(0, 3)) ? normal(digits) : wrong('does not begin with the code of a Mexican bank.');
}

/**
 * The first three digits of a CLABE: Banxico's SPEI participants and the banks of the tax office's list
 * (c_Banco), those included whose accounts live on under another name.
 */
const CODES =
  '001 002 006 009 012 014 019 021 030 032 036 037 042 044 058 059 060 062 072 102 103 106 108 110 112 113 116 124 ' +
  '126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 143 145 147 148 149 150 151 152 153 154 155 156 ' +
  '157 158 159 160 166 167 168 170 600 601 602 605 606 607 608 610 613 614 615 616 617 618 619 620 621 622 623 626 ' +
  '627 628 629 630 631 632 633 634 636 637 638 640 642 646 647 648 649 651 652 653 655 656 659 660 661 670 674 677 ' +
  '679 680 683 684 685 686 688 689 699 703 706 710 711 714 715 720 721 722 723 725 727 728 729 730 732 734 738 812 ' +
  '901 902 903';

const isClabeBank = (code: string): boolean => CODES.split(' ').includes(code);

const AREA_CODES =
  '11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 51 53 54 55 61 62 63 ' +
  '64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A key of Pix's directory: a CPF or CNPJ with its check digits, an e-mail address, a phone number with +55, or a
 * random key (a UUID of any version). Kept as the directory keeps it: digits alone, lower-case addresses and keys.
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
  return match && AREA_CODES.split(' ').includes(match[1] ?? '')
    ? normal(digits)
    : wrong('must be +55, an area code and a number, such as +5511987654321.');
}

const taxKey = (verdict: Verdict, name: string): Verdict =>
  isWrong(verdict) ? wrong(`${verdict.wrong.slice(0, -1)} (${name}).`) : verdict;

interface Field {
  readonly id: string;
  readonly value: string;
}

/**
 * A BR Code, the text behind a Pix QR code: EMV fields of two digits of id, two of length and a value, closed by
 * a CRC (Banco Central, Manual de Padrões para Iniciação do Pix; EMVCo merchant-presented mode). Checked are the
 * structure, the fields that the manual requires, the Pix account with its key, and the CRC. The text is kept as
 * it is but for space around it, since every character of it is under the CRC.
 */
function brCode(pasted: string): Verdict {
  const text = pasted.trim();
  // EMV counts characters, banks count bytes: only where both agree does the CRC mean one thing.
  if (!/^[\x20-\x7e]+$/.test(text)) return wrong('must be plain ASCII text without line breaks.');
  if (!/6304[0-9A-F]{4}$/.test(text)) return wrong('must end with 6304 and a CRC of four capital hex digits.');
  const crc = crc16(new TextEncoder().encode(text.slice(0, -4)), 0xffff);
  if (crc !== Number.parseInt(text.slice(-4), 16)) return wrong('has a CRC that does not match.');
  const fields = fieldsOf(text);
  if (fields === null) return wrong('is not a list of fields with two digits of id and two of length.');
  const problem = missingField(fields) ?? accountProblem(fields);
  return problem === null ? normal(text) : wrong(problem);
}

/** Null when a length is not a number, is zero, runs past the end, or an id comes twice. */
function fieldsOf(text: string): Field[] | null {
  const fields: Field[] = [];
  let rest = text;
  while (rest.length > 0) {
    const head = /^(\d\d)(\d\d)/.exec(rest);
    const length = Number(head?.[2] ?? 0);
    if (!head || length === 0 || rest.length < 4 + length) return null;
    const id = head[1] ?? '';
    if (fields.some((field) => field.id === id)) return null;
    fields.push({ id, value: rest.slice(4, 4 + length) });
    rest = rest.slice(4 + length);
  }
  return fields;
}

const REQUIRED: readonly (readonly [id: string, name: string, value: RegExp])[] = [
  ['52', 'merchant category', /^\d{4}$/],
  ['53', 'currency 986', /^986$/],
  ['58', 'country BR', /^BR$/],
  ['59', 'merchant name', /^.{1,25}$/],
  ['60', 'merchant city', /^.{1,15}$/],
  ['63', 'CRC', /^[0-9A-F]{4}$/],
];

function missingField(fields: readonly Field[]): string | null {
  const textOf = (id: string) => fields.find((field) => field.id === id)?.value;
  if (fields[0]?.id !== '00' || fields[0].value !== '01') return 'must begin with the payload format 000201.';
  for (const [id, name, form] of REQUIRED) {
    if (!form.test(textOf(id) ?? '')) return `has no valid field ${id} (${name}).`;
  }
  if (fields.at(-1)?.id !== '63') return 'must have its CRC as the last field.';
  if (!/^1[12]$/.test(textOf('01') ?? '11')) return 'has no valid field 01 (how often it can be paid).';
  const amount = textOf('54');
  if (amount !== undefined && !/^(?=.{1,13}$)\d+(\.\d{0,2})?$/.test(amount)) return 'has no valid field 54 (amount).';
  return transactionIdProblem(textOf('62'));
}

function transactionIdProblem(additional: string | undefined): string | null {
  if (additional === undefined) return null;
  const txid = fieldsOf(additional)?.find((field) => field.id === '05')?.value;
  return txid !== undefined && !/^(\*\*\*|[A-Za-z0-9]{1,25})$/.test(txid)
    ? 'has no valid transaction id in field 62.'
    : null;
}

/** The Pix account is in one of the merchant account fields 26 to 51, as a key or as the address of a charge. */
function accountProblem(fields: readonly Field[]): string | null {
  const accounts = fields
    .filter(({ id }) => Number(id) >= 26 && Number(id) <= 51)
    .map(({ value }) => fieldsOf(value) ?? []);
  const pix = accounts.find((account) =>
    account.some(({ id, value }) => id === '00' && value.toLowerCase() === 'br.gov.bcb.pix'),
  );
  if (!pix) return 'has no Pix account (br.gov.bcb.pix) in a field from 26 to 51.';
  const key = pix.find(({ id }) => id === '01')?.value;
  const url = pix.find(({ id }) => id === '25')?.value;
  if ((key === undefined) === (url === undefined)) return 'must name either a Pix key or the address of a charge.';
  if (key !== undefined && isWrong(pixKey(key))) return 'names a Pix key that is not valid.';
  if (url !== undefined && !/^[a-z0-9-]+(\.[a-z0-9-]+)+(:443)?\/\S+$/i.test(url)) {
    return 'names a charge whose address is not valid.';
  }
  return null;
}
