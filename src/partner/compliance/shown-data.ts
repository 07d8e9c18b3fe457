import type { CustomerData } from '../customer-data/schema.ts';
import { dataOf, type Field, fieldsOf, isOfFile } from './data-fields.ts';

/** Fields that are shown in full: choices from a list, and countries. They identify nobody. */
const PLAIN: ReadonlySet<string> = new Set([
  'accountPurpose.type',
  'bankAccount.iban.country',
  'bankAccount.nuban.bankCode',
  'cryptoWallet.type',
  'employmentStatus.type',
  'expectedMonthlyPayments.category',
  'idDocument.documentType',
  'idDocument.issuingCountry',
  'idDocument.expiryDate',
  'intermediary.isIntermediary',
  'lastOccupation.code',
  'nationality.country',
  'occupation.employmentStatus',
  'phone.countryCode',
  'proofOfAddress.country',
  'residentialAddress.country',
  'sourceOfFunds.type',
  'taxId.country',
  'taxId.type',
]);

/** Of these the end is shown: it is how people tell one account from another. */
const BY_THE_END: ReadonlySet<string> = new Set([
  'bankAccount.ach.accountNumber',
  'bankAccount.clabe.accountNumber',
  'bankAccount.iban.accountNumber',
  'bankAccount.nuban.accountNumber',
  'bankAccount.pix.pixKey',
  'cryptoWallet.address',
  'idDocument.documentNumber',
  'phone.number',
  'taxId.number',
]);

/**
 * A piece of data as its customer sees it again: enough to know which it is, too little to be of use to whoever else
 * reads the answer (a partner's server made the call). Files and their hashes are never shown.
 */
export function shown(value: CustomerData): CustomerData {
  const fields = fieldsOf(value).flatMap(({ field, text }): Field[] => {
    if (isOfFile(field)) return [];
    if (PLAIN.has(field)) return [{ field, text }];
    const inner: unknown = JSON.parse(text);
    return [{ field, text: typeof inner === 'string' ? JSON.stringify(masked(field, inner)) : text }];
  });
  return dataOf(fields);
}

function masked(field: string, text: string): string {
  if (field === 'email.value') {
    const [name = '', domain = ''] = text.split('@');
    return `${name.slice(0, 1)}***@${domain}`;
  }
  if (field === 'birthDate.date') return `${text.slice(0, 4)}-**-**`;
  // No more than a third, and never more than four: a short number is hidden whole.
  const open = Math.min(4, Math.floor(text.length / 3));
  if (BY_THE_END.has(field)) return `***${open === 0 ? '' : text.slice(-open)}`;
  return `${text.slice(0, 1)}***`;
}
