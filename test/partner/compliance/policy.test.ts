import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isProblem, type Problem } from '../../../src/kernel/problems.ts';
import {
  atLeast,
  loadPolicy,
  type Policy,
  type PolicyOrder,
  policySchema,
  requirementsOf,
  sum,
  times,
  usdOf,
} from '../../../src/partner/compliance/policy.ts';

const shipped = loadPolicy();
const folder = mkdtempSync(join(tmpdir(), 'farelock-policy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rules = (...list: Policy['rules']): Policy => ({ ...shipped, rules: list });
const order = (more: Partial<PolicyOrder> = {}): PolicyOrder => ({
  rampType: 'ONRAMP',
  country: 'DEU',
  usd: '100',
  network: 'SOLANA',
  ...more,
});
const types = (policy: Policy, country: string | null, one: PolicyOrder | null) =>
  requirementsOf(policy, country, one).map(({ type }) => type);

describe('which rules hold', () => {
  const policy = rules(
    { name: 'all', require: [{ data: 'NAME' }] },
    { name: 'brazil', countries: ['BRA'], require: [{ data: 'TAX_ID' }] },
    { name: 'selling', rampTypes: ['OFFRAMP'], require: [{ data: 'BANK_ACCOUNT' }] },
    { name: 'large', fromUsd: '1000', require: [{ data: 'ID_DOCUMENT' }] },
  );
  test('without an order, those of the country that name neither direction nor amount', () => {
    expect(types(policy, 'DEU', null)).toEqual(['NAME']);
    expect(types(policy, 'BRA', null)).toEqual(['NAME', 'TAX_ID']);
    expect(types(policy, null, null)).toEqual(['NAME']);
  });
  test('with one, those of its direction and of either country', () => {
    expect(types(policy, 'DEU', order({ country: 'BRA' }))).toEqual(['NAME', 'TAX_ID']);
    expect(types(policy, 'BRA', order())).toEqual(['NAME', 'TAX_ID']);
    expect(types(policy, 'DEU', order({ rampType: 'OFFRAMP' }))).toEqual(['NAME', 'BANK_ACCOUNT']);
  });
  test('from exactly the amount on', () => {
    expect(types(policy, 'DEU', order({ usd: '999.999999999999999999' }))).toEqual(['NAME']);
    expect(types(policy, 'DEU', order({ usd: '1000.000' }))).toEqual(['NAME', 'ID_DOCUMENT']);
  });
  test('an amount that nobody can value meets the strictest rules', () => {
    expect(types(policy, 'DEU', order({ usd: null }))).toEqual(['NAME', 'ID_DOCUMENT']);
  });
});

test('`order` as network is that of the order', () => {
  const policy = rules({ name: 'wallet', require: [{ data: 'CRYPTO_WALLET', network: 'order' }] });
  expect(requirementsOf(policy, null, order())[0]?.network).toBe('SOLANA');
  expect(requirementsOf(policy, null, null)[0]?.network).toBeNull();
});

test('an asset is worth the same on every network, unless the table says otherwise', () => {
  const policy = { ...shipped, usdPerUnit: { USDC: '1', TRON_USDC: '0.5', BRL: '0.2' } };
  expect(usdOf(policy, '12.5', 'SOLANA_USDC')).toBe('12.5');
  expect(usdOf(policy, '12.5', 'TRON_USDC')).toBe('6.25');
  expect(usdOf(policy, '12.5', 'BRL')).toBe('2.5');
  expect(usdOf(policy, '12.5', 'XYZ')).toBeNull();
  expect(usdOf(policy, '12.5', 'constructor')).toBeNull();
  expect(usdOf(policy, '12.5', '__proto__')).toBeNull();
});

test('amounts are exact: products, sums and comparisons agree with whole numbers', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }))
    .map(([whole, fraction]) => ({
      text: `${whole}.${fraction.toString().padStart(18, '0')}`,
      units: whole * 10n ** 18n + fraction,
    }));
  const units = (text: string, scale: number) => {
    const [whole = '0', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(scale, '0'));
  };
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      expect(units(times(a.text, b.text), 36)).toBe(a.units * b.units);
      expect(units(sum([a.text, b.text]), 18)).toBe(a.units + b.units);
      expect(atLeast(a.text, b.text)).toBe(a.units >= b.units);
    }),
    { numRuns: 200 },
  );
});

describe('the policy file', () => {
  let files = 0;
  const refused = (content: string): Problem => {
    const file = join(folder, `policy-${++files}.json`);
    writeFileSync(file, content);
    try {
      loadPolicy(file);
    } catch (error) {
      if (isProblem(error, 'policy_invalid')) return error;
      throw error;
    }
    throw new Error('the policy was taken');
  };
  /** The shipped policy with one value in another's place. */
  const changed = (path: string, value: unknown): string => {
    const names = path.split('.');
    const set = (inner: unknown, at: number): unknown => {
      if (at === names.length) return value;
      const name = names[at] ?? '';
      if (Array.isArray(inner)) return inner.map((one, index) => (String(index) === name ? set(one, at + 1) : one));
      const object = inner as Record<string, unknown>;
      return { ...object, [name]: set(object[name], at + 1) };
    };
    return JSON.stringify(set(shipped, 0));
  };

  test('the shipped policy is valid by its own schema, and a copy of it in a file is the same', () => {
    expect(policySchema.parse(shipped)).toEqual(shipped);
    const file = join(folder, 'copy.json');
    writeFileSync(file, JSON.stringify(shipped));
    expect(loadPolicy(file)).toEqual(shipped);
  });

  test('the example of the page is a policy that works, and the rules that the page tells of are the shipped ones', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../../docs/compliance.md'), 'utf8');
    const example = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].find(([, block]) => block?.includes('"rules"'));
    expect(policySchema.safeParse(JSON.parse(example?.[1] ?? '')).error).toBeUndefined();
    expect(shipped.rules.flatMap(({ fromUsd }) => fromUsd ?? [])).toEqual(['1000', '1000', '10000']);
    expect(shipped.rules[1]?.countries).toEqual(['ARG', 'BRA', 'COL', 'MEX']);
    expect(page).toContain('Argentina, Brazil, Colombia and Mexico');
  });

  test('what cannot be read or is no JSON says so, with the file', () => {
    expect(() => loadPolicy(join(folder, 'missing.json'))).toThrow(/missing\.json .*cannot be read/);
    expect(refused('{').message).toMatch(/is not JSON/);
  });

  test.each([
    ['an unknown field', 'rules.0.county', ['BRA'], 'rules.0'],
    ['a country in two letters', 'rules.1.countries', ['BR'], 'rules.1.countries.0'],
    ['both data and attestation', 'rules.0.require.0.attestation', 'TERMS', 'rules.0.require.0'],
    ['neither of both', 'rules.0.require.0', { maxAgeDays: 3 }, 'rules.0.require.0'],
    ['an unknown kind', 'rules.0.require.0.data', 'SHOE_SIZE', 'rules.0.require.0.data'],
    ['an age of no days', 'rules.0.require.0.maxAgeDays', 0, 'rules.0.require.0.maxAgeDays'],
    ['an amount that is a number', 'rules.2.fromUsd', 1000, 'rules.2.fromUsd'],
    ['a network for a name', 'rules.0.require.0.network', 'TRON', 'rules.0.require.0.network'],
    ['terms without https', 'terms.termsUrl', 'http://t.example', 'terms.termsUrl'],
    ['terms that are no address', 'terms.termsUrl', '1000', 'terms.termsUrl'],
    ['a retention of no days', 'retentionDays', 0, 'retentionDays'],
    ['no rules', 'rules', [], 'rules'],
    ['a rate of zero', 'usdPerUnit.EUR', '0', 'usdPerUnit.EUR'],
  ])('%s is refused, naming its place', (_what, at, value, path) => {
    const problem = refused(changed(at, value));
    expect(problem.detail?.issues).toContainEqual(expect.objectContaining({ path }));
    expect(problem.message).toContain(path);
  });
});
