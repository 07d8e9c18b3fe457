import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DATA_KEYS, DATA_TYPES, validateCustomerData, WALLET_TYPES } from '../../../src/partner/customer-data/index.ts';
import { rounds } from '../../rounds.ts';
import { NOW_MS } from './check.ts';

/** Whatever arrives, the answer is the data or issues: never an exception, never a value in a message. */

const odd = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.array(fc.nat(0x10ffff), { maxLength: 40 }).map((points) => String.fromCodePoint(...points)),
  fc.stringMatching(/^[A-Z]{2}\d{2}[A-Z0-9]{0,30}$/),
  fc.stringMatching(/^[+0-9 ()-]{0,24}$/),
  fc.base64String({ maxLength: 64 }),
  fc.stringMatching(/^0x[0-9a-fA-F]{0,64}$/),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    ' ',
    '\u0000',
    '\ud800',
    'bc1',
    'X-',
    ':',
    '0',
    '+',
    '@',
    '1'.repeat(299),
  ),
);

const NAMES = [
  ...'value countryCode number firstName lastName date country type customType address code category other ach clabe iban'.split(
    ' ',
  ),
  ...'nuban pix brCode pixKey accountNumber routingNumber bankCode bic isIntermediary documentType documentNumber'.split(
    ' ',
  ),
  ...'issuingCountry expiryDate frontSideImage frontSideImageHash backSideImage backSideImageHash jobTitle companyName'.split(
    ' ',
  ),
  ...'industry employmentStatus file fileHash streetLine1 streetLine2 city postalCode subdivision image imageHash'.split(
    ' ',
  ),
];

const leaf = fc.oneof(
  { weight: 8, arbitrary: odd },
  fc.constantFrom(null, true, 0, [], ...WALLET_TYPES, 'PRT', 'PASSPORT'),
);
const inner = fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(leaf, fc.dictionary(fc.constantFrom(...NAMES), leaf)));

test('any object under any key is answered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...DATA_TYPES), fc.oneof(inner, leaf), async (kind, value) => {
      const checked = await validateCustomerData({ [DATA_KEYS[kind]]: value }, { nowMs: NOW_MS });
      if ('issues' in checked) expect(checked.issues.length).toBeGreaterThan(0);
      else expect(checked.kind).toBe(kind);
    }),
    { numRuns: rounds(300, 3_000) },
  );
});

/** The fields that each kind needs, so that the texts get past the shape to the rules. */
const SHAPES: Record<string, (texts: string[]) => object> = {
  email: ([value]) => ({ value }),
  phone: ([countryCode, number]) => ({ countryCode, number }),
  name: ([firstName, lastName]) => ({ firstName, lastName }),
  birthDate: ([date]) => ({ date }),
  nationality: ([country]) => ({ country }),
  lastOccupation: ([code]) => ({ code }),
  taxId: ([type, number]) => ({ country: 'DEU', type, number }),
  residentialAddress: ([streetLine1, city, postalCode, subdivision]) => ({
    streetLine1,
    city,
    postalCode,
    subdivision,
    country: 'USA',
  }),
  idDocument: ([documentNumber, expiryDate, frontSideImage, frontSideImageHash]) => ({
    documentType: 'PASSPORT',
    documentNumber,
    issuingCountry: 'PRT',
    expiryDate,
    frontSideImage,
    frontSideImageHash,
  }),
};

test('any text in any field reaches an answer that does not repeat it', async () => {
  const forms = [
    ...Object.entries(SHAPES).map(([key, shape]) => (texts: string[]) => ({ [key]: shape(texts) })),
    ...WALLET_TYPES.map((type) => ([address]: string[]) => ({ cryptoWallet: { address, type } })),
    ([accountNumber, bic]: string[]) => ({ bankAccount: { iban: { accountNumber, bic } } }),
    ([accountNumber]: string[]) => ({ bankAccount: { clabe: { accountNumber } } }),
    ([accountNumber, routingNumber]: string[]) => ({ bankAccount: { ach: { accountNumber, routingNumber } } }),
    ([accountNumber, bankCode]: string[]) => ({ bankAccount: { nuban: { accountNumber, bankCode } } }),
    ([pixKey]: string[]) => ({ bankAccount: { pix: { pixKey } } }),
    ([brCode]: string[]) => ({ bankAccount: { pix: { brCode: `000201${brCode}6304ABCD` } } }),
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...forms), fc.array(odd, { minLength: 4, maxLength: 4 }), async (form, texts) => {
      const checked = await validateCustomerData(form(texts), { nowMs: NOW_MS });
      if (!('issues' in checked)) return;
      const said = checked.issues.map(({ message }) => message).join(' ');
      for (const text of texts.filter((one) => one.trim().length > 6)) expect(said).not.toContain(text.trim());
    }),
    { numRuns: rounds(600, 6_000) },
  );
});

/** What is kept is kept again as it is: a second submission of what was shown or exported changes nothing. */
test('the kept form of a taken text is its own kept form', async () => {
  const samples = [
    { phone: { countryCode: 'IT', number: '06 1234 5678' } },
    { phone: { countryCode: '+54', number: '11 15 1234 5678' } },
    { bankAccount: { iban: { accountNumber: 'gb29 nwbk 6016 1331 9268 19', country: 'GBR', bic: 'nwbkgb2l' } } },
    { bankAccount: { pix: { pixKey: '12.abc.345/01de-35' } } },
    { bankAccount: { nuban: { accountNumber: '000-001-4579', bankCode: '011' } } },
    { cryptoWallet: { type: 'ETHEREUM', address: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' } },
    { taxId: { country: 'CHL', type: 'rut', number: '12.531.909-2' } },
    { residentialAddress: { streetLine1: ' 1  Main St ', city: 'Reno', postalCode: '89501-1234', country: 'US' } },
    { email: { value: ' O\u2019Brien'.replace('\u2019', "'").trim().concat('@EXAMPLE.ie') } },
    { name: { firstName: ' Zoe\u0308 ', lastName: "d'Arc" } },
  ];
  for (const sample of samples) {
    const once = await validateCustomerData(sample, { nowMs: NOW_MS });
    if ('issues' in once) throw new Error(JSON.stringify(once.issues));
    expect(await validateCustomerData(once.data, { nowMs: NOW_MS })).toEqual(once);
  }
});
