import { expect, test } from 'vitest';
import { countryNamed, typedField } from '../../../src/cli/travellers/fields.ts';
import { alpha2Codes, alpha3Codes } from '../../../src/kernel/domain/countries.ts';

const nowMs = new Date(2026, 10, 21, 12).getTime();

test.each([
  ['pt', 'PT'],
  ['prt', 'PRT'],
  ['Portugal', 'PT'],
  ['Deutschland', 'DE'],
  ['Россия', 'RU'],
  ['日本', 'JP'],
  ['česko', 'CZ'],
  ['Cesko', 'CZ'],
  ['UK', 'GB'],
  ['USA', 'USA'],
  ['United States of America', 'US'],
  ['Great Britain', 'GB'],
  ['Czech Republic', 'CZ'],
  ['Turkey', 'TR'],
  ['Türkiye', 'TR'],
  ["cote d'ivoire", 'CI'],
  ['대한민국', 'KR'],
  ['España', 'ES'],
  ['Atlantis', null],
  ['xx', null],
  ['', null],
])('the country %s is %s', (text, code) => {
  expect(countryNamed(text)).toBe(code);
});

test('every country has a name in English, and its codes stay what they are', () => {
  const english = new Intl.DisplayNames(['en'], { type: 'region' });
  for (const code of alpha2Codes()) expect(countryNamed(english.of(code) ?? '')).toBe(code);
  for (const code of [...alpha2Codes(), ...alpha3Codes()]) expect(countryNamed(code.toLowerCase())).toBe(code);
});

test.each([
  ['phone_number', '+351 912 345 678', '+351912345678'],
  ['phone_number', '(+351) 912-345.678', '+351912345678'],
  ['phone_number', '00351 912 345 678', '+351912345678'],
  ['phone_number', '+44 (0)20 7946 0958', '+442079460958'],
  ['phone_number', '＋３５１ 912 345 678', '+351912345678'],
  ['passport_number', 'c 123 456', 'C123456'],
  ['passport_number', 'ca-123456', 'CA123456'],
  ['born_on', 'Thu 12 Apr 1990', '1990-04-12'],
  ['passport_expiry', '6.5.2034', '2034-05-06'],
  ['given_name', ' Ana', ' Ana'],
] as const)('%s %j is %s', (field, text, value) => {
  expect(typedField(field, text, nowMs)).toEqual({ kind: 'value', value });
});
