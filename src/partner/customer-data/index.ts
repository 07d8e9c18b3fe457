import type * as z from 'zod';
import { type Issue, issuesOf } from '../../http/index.ts';
import { DATA_KEYS, DATA_TYPES, type DataType } from '../../wire/partner/kinds.ts';
import { type CustomerData, customerDataSchema } from './schema.ts';
import type { DataContext, Missing, Rules } from './verdict.ts';

export { WALLET_TYPES, type WalletType } from '../../kernel/domain/exchange-codes.ts';
export * from '../../wire/partner/kinds.ts';
export { type CustomerData, customerDataSchema } from './schema.ts';
export type { DataContext, Verdict } from './verdict.ts';

export const loadWallets = () => import('./wallets.ts');

type Checks = () => Promise<{ readonly rules: Rules; readonly missing?: Missing }>;

/** Loads the rules of a kind on demand: the tables of banks, phones and chains are large. */
const CHECKS: Readonly<Partial<Record<DataType, Checks>>> = {
  BANK_ACCOUNT: () => import('./bank-accounts.ts'),
  CRYPTO_WALLET: loadWallets,
  PHONE: () => import('./phone.ts'),
  TAX_ID: () => import('./tax-ids.ts'),
  ID_DOCUMENT: () => import('./documents.ts'),
  SELFIE: () => import('./documents.ts'),
  PROOF_OF_ADDRESS: () => import('./documents.ts'),
};

/**
 * Checks one item of customer data (spec/partner-service.md, Customer data; CONTRACT, section 12; docs/customer-data.md
 * has every rule). Takes parsed JSON with names in camelCase; null and empty texts count as unset.
 * @returns the data in its stored form, or every issue by its dotted path (`bankAccount.iban.bic`); never a value
 */
export async function validateCustomerData(
  value: unknown,
  context: DataContext,
): Promise<{ readonly kind: DataType; readonly data: CustomerData } | { readonly issues: readonly Issue[] }> {
  const parsed = customerDataSchema.safeParse(withoutUnset(value), { reportInput: true });
  if (!parsed.success) return { issues: issuesOf(parsed.error, undefined, messageOf) };
  const { data } = parsed;
  const kind = DATA_TYPES.find((type) => data[DATA_KEYS[type]] !== undefined);
  if (kind === undefined) return { issues: [{ path: '', message: 'must have exactly one kind of data.' }] };
  const { rules, missing = {} } = await (CHECKS[kind] ?? (() => import('./profile.ts')))();
  const issues: Issue[] = [];
  for (const [path, rule] of Object.entries(rules)) {
    const names = path.split('.');
    const name = names.pop() ?? '';
    let holder: Record<string, unknown> | undefined = data;
    for (const one of names) holder = holder?.[one] as typeof holder;
    const text = holder?.[name];
    const verdict = typeof text === 'string' ? rule(text, data, context) : null;
    const lack = holder && text === undefined && missing[path]?.(data);
    if (lack) issues.push({ path, message: lack });
    else if (verdict && 'wrong' in verdict) issues.push({ path, message: verdict.wrong });
    else if (holder && verdict) holder[name] = verdict.normal;
  }
  if (issues.length > 0) return { issues };
  const { intermediary } = data;
  return {
    kind,
    data: intermediary
      ? { intermediary: { isIntermediary: intermediary.isIntermediary ?? null } }
      : (withoutUnset(data) as CustomerData),
  };
}

/** Leaves out ProtoJSON's unset values: null and the empty text. */
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
