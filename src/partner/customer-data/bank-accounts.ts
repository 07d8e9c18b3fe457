import { alpha2Of } from '../../domain/countries.ts';
import { achAccountNumber, routingNumber } from './ach.ts';
import { bic, shareBanks } from './bic.ts';
import { brCode } from './br-code.ts';
import { clabe } from './clabe.ts';
import { iban } from './iban.ts';
import { nigerianBankCode, nubanAccount } from './nuban.ts';
import { pixKey } from './pix-key.ts';
import type { CustomerData } from './schema.ts';
import { type Findings, isWrong } from './verdict.ts';

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
    return {
      clabe: { accountNumber: found.take(`${at}.clabe.accountNumber`, clabe(mexican.accountNumber)) },
    };
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
  if (pix?.brCode !== undefined)
    return { pix: { brCode: found.take(`${at}.pix.brCode`, brCode(pix.brCode)) } };
  return { pix: { pixKey: found.take(`${at}.pix.pixKey`, pixKey(pix?.pixKey ?? '')) } };
}

type Iban = NonNullable<BankAccount['iban']>;

/** The country may be left out, since an IBAN says it; where it is given it must be the IBAN's, or share its banks. */
function checkIban(account: Iban, at: string, found: Findings): Iban {
  const number = iban(account.accountNumber);
  const accountNumber = found.take(`${at}.accountNumber`, number);
  const ibanCountry = isWrong(number) ? null : number.normal.slice(0, 2);
  const named = account.country?.trim();
  const country =
    named === undefined ? ibanCountry : named === 'XK' || named === 'XKX' ? 'XK' : alpha2Of(named);
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
