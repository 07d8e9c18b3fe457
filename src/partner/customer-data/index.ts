import type * as z from 'zod';
import { issuesOf } from '../../http/index.ts';
import { DATA_KEYS, DATA_TYPES, type DataType } from '../../wire/partner/kinds.ts';
import { type CustomerData, customerDataSchema } from './schema.ts';
import { type DataContext, type DataIssue, type Findings, findings } from './verdict.ts';

export type { Verdict } from './verdict.ts';

export const loadWallets = () => import('./wallets.ts');

export { WALLET_TYPES, type WalletType } from '../../kernel/domain/exchange-codes.ts';
export * from '../../wire/partner/kinds.ts';
export { type CustomerData, customerDataSchema } from './schema.ts';
export type { DataContext, DataIssue } from './verdict.ts';

type CheckedCustomerData =
  | { readonly kind: DataType; readonly data: CustomerData }
  | { readonly issues: readonly DataIssue[] };

/**
 * Checks one item of customer data for real (spec/partner-service.md, Customer data; CONTRACT, section 12;
 * docs/customer-data.md has every rule). Takes what JSON gave, with names in camelCase; null and empty texts are
 * unset. Gives the data in the form it is kept in, or every issue with the path of its field; never a value.
 */
export async function validateCustomerData(value: unknown, context: DataContext): Promise<CheckedCustomerData> {
  const parsed = customerDataSchema.safeParse(withoutUnset(value), { reportInput: true });
  if (!parsed.success) return { issues: issuesOf(parsed.error, undefined, messageOf) };
  const kind = DATA_TYPES.find((type) => parsed.data[DATA_KEYS[type]] !== undefined);
  if (kind === undefined) return { issues: [{ path: '', message: 'must have exactly one kind of data.' }] };
  const found = findings();
  const data = await checkKind(parsed.data, context, found);
  return found.issues.length > 0 ? { issues: found.issues } : { kind, data };
}

/** Loads only the rules that this kind needs: the tables of banks, phones and chains are large. */
async function checkKind(data: CustomerData, context: DataContext, found: Findings): Promise<CustomerData> {
  if (data.bankAccount) {
    const { checkBankAccount } = await import('./bank-accounts.ts');
    return { bankAccount: checkBankAccount(data.bankAccount, 'bankAccount', found) };
  }
  if (data.cryptoWallet) {
    const { walletAddress } = await import('./wallets.ts');
    const { address, type } = data.cryptoWallet;
    return {
      cryptoWallet: { address: found.take('cryptoWallet.address', walletAddress(address, type, context)), type },
    };
  }
  if (data.phone) {
    const { checkPhone } = await import('./phone.ts');
    return { phone: checkPhone(data.phone, 'phone', found) };
  }
  if (data.taxId) {
    const { checkTaxId } = await import('./tax-ids.ts');
    return { taxId: checkTaxId(data.taxId, 'taxId', found) };
  }
  if (data.idDocument || data.selfie || data.proofOfAddress) {
    const { checkDocument } = await import('./documents.ts');
    return checkDocument(data, context, found);
  }
  const { checkProfile } = await import('./profile.ts');
  return checkProfile(data, context, found);
}

/** ProtoJSON's way of saying "not set": null, and an empty text where a text is expected. */
function withoutUnset(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  const set = Object.entries(value).filter(([, member]) => member !== null && member !== '');
  return Object.fromEntries(set.map(([name, member]) => [name, withoutUnset(member)]));
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined && issue.path.length > 0
      ? 'is missing.'
      : `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}.`;
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}.`;
  if (issue.code === 'too_big') return 'is too long.';
  return issue.message;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'an object',
  boolean: 'true, false or null',
};
