import type * as z from 'zod';
import { readBounded } from '../../kernel/bounded-file.ts';
import { problem } from '../../kernel/problems.ts';
import type { Requirement, WalletNetwork } from './compliance.ts';
import {
  type Asked,
  atLeast,
  defaultPolicy,
  ORDER_NETWORK,
  type Policy,
  type PolicyRule,
  policySchema,
  times,
} from './policy-default.ts';

export type { Policy } from './policy-default.ts';

/** What an order looks like to the policy. */
export interface PolicyOrder {
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  /** ISO 3166-1 alpha-3: the country that the order is made in. */
  readonly country: string | null;
  /** Its amount and what counts together with it, in US dollars; null when nobody knows what that is worth. */
  readonly usd: string | null;
  readonly network: WalletNetwork | null;
}

/**
 * Reads the policy: from a JSON file, or the one that is shipped.
 * @throws Problem `policy_invalid`, with the file and, by path, what is wrong in it
 */
export function loadPolicy(file?: string | undefined): Policy {
  if (file === undefined) return defaultPolicy;
  const wrong = (issues: readonly { path: string; message: string }[]) =>
    problem('policy_invalid', {
      message: `The compliance policy ${file} cannot be used: ${issues
        .slice(0, 3)
        .map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`)
        .join('; ')}`,
      detail: { file, issues },
    });
  let bytes: Buffer | null;
  try {
    bytes = readBounded(file, { mostBytes: MOST_BYTES });
  } catch {
    throw wrong([{ path: '', message: 'cannot be read.' }]);
  }
  if (!bytes) throw wrong([{ path: '', message: `is larger than ${MOST_BYTES / 1_048_576} MB.` }]);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw wrong([{ path: '', message: 'is not JSON.' }]);
  }
  const parsed = policySchema.safeParse(value);
  if (!parsed.success) throw wrong(parsed.error.issues.map(issueOf));
  return parsed.data;
}

const MOST_BYTES = 4 * 1_048_576;

const issueOf = ({ path, message }: z.core.$ZodIssue) => ({
  path: path.join('.'),
  message: message.endsWith('.') ? message : `${message}.`,
});

/** What `amount` of `currency` is worth in US dollars (decimal strings), null when the policy does not know. */
export function usdOf(policy: Policy, amount: string, currency: string): string | null {
  // SOLANA_USDC is USDC on Solana; a whole code in the table goes before its asset.
  const rate = rateOf(policy, currency) ?? rateOf(policy, currency.slice(currency.indexOf('_') + 1));
  return rate === undefined ? null : times(amount, rate);
}

const rateOf = ({ usdPerUnit }: Policy, code: string): string | undefined =>
  Object.hasOwn(usdPerUnit, code) ? usdPerUnit[code] : undefined;

/** What the rules ask of a customer of `country` (null: unknown) in general, and for one `order`. */
export function requirementsOf(
  policy: Policy,
  country: string | null,
  order: PolicyOrder | null,
): readonly Requirement[] {
  return policy.rules
    .filter((rule) => applies(rule, country, order))
    .flatMap((rule) => rule.require)
    .map((asked) => requirementOf(policy, asked, order));
}

function applies(rule: PolicyRule, country: string | null, order: PolicyOrder | null): boolean {
  const countries = [country, order?.country];
  if (rule.countries && !rule.countries.some((one) => countries.includes(one))) return false;
  if (rule.rampTypes && !(order && rule.rampTypes.includes(order.rampType))) return false;
  if (rule.fromUsd === undefined) return true;
  // An amount that nobody can value is held to the strictest rules.
  return order !== null && (order.usd === null || atLeast(order.usd, rule.fromUsd));
}

function requirementOf({ terms }: Policy, asked: Asked, order: PolicyOrder | null): Requirement {
  const network = asked.network === ORDER_NETWORK ? (order?.network ?? null) : (asked.network ?? null);
  const common = { maxAgeDays: asked.maxAgeDays ?? null, network };
  if (asked.data !== undefined) return { ...common, kind: 'data', type: asked.data };
  if (asked.attestation === 'TERMS') return { ...common, kind: 'attestation', type: 'TERMS', terms };
  if (asked.attestation !== undefined) return { ...common, kind: 'attestation', type: asked.attestation };
  throw new Error('the policy schema lets no requirement without data and attestation through');
}
