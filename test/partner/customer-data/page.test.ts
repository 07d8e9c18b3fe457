import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { customerDataSchema, DATA_KEYS, DATA_TYPES, WALLET_TYPES } from '../../../src/partner/customer-data/index.ts';
import { TAX_RULES } from '../../../src/partner/customer-data/tax-ids.ts';

/** docs/customer-data.md names every kind, and the specification's list is the code's. */

const ROOT = resolve(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/customer-data.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('every data type has a row with its key', () => {
  const listed = rows.filter(([, key = '']) => /^`\w+`$/.test(key)).map(([type, key]) => `${type} ${key}`);
  expect(listed).toEqual(DATA_TYPES.map((type) => `${type} \`${DATA_KEYS[type]}\``));
});

test('every key of the schema is a kind, and every kind a key', () => {
  expect(Object.keys(customerDataSchema.shape).sort()).toEqual(Object.values(DATA_KEYS).sort());
});

test('every bank account form and wallet type has a row', () => {
  for (const form of ['iban', 'clabe', 'ach', 'nuban', 'pix.pixKey', 'pix.brCode']) {
    expect(
      rows.map(([name]) => name),
      form,
    ).toContain(`\`${form}\``);
  }
  const wallets = rows.flatMap(([names = '']) => names.split(', '));
  expect(WALLET_TYPES.filter((type) => !wallets.includes(type))).toEqual([]);
});

test('the table of tax numbers is the table of rules', () => {
  const from = rows.findIndex(([country]) => country === 'Country');
  const listed = rows
    .slice(from)
    .filter(([country = '']) => /^[A-Z]{3}$/.test(country))
    .map(([country, kinds = '']) => `${country} ${kinds.match(/[A-Z_]{2,}/g)?.join(' ')}`);
  expect(listed).toEqual(
    Object.entries(TAX_RULES).map(([country, kinds]) => `${country} ${Object.keys(kinds).join(' ')}`),
  );
});
