import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  DATA_KEYS,
  DATA_TYPES,
  type DataType,
  validateCustomerData,
} from '../../../src/partner/customer-data/index.ts';
import { check, isTaken, NOW_MS } from '../../partner/customer-data/check.ts';

/** Every kind of spec/partner-service.md, Customer data: what is taken, how it is kept, what is refused and why. */

const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452fbeff0', 'hex');
const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');
const sha = (bytes: Buffer, as: 'hex' | 'base64' | 'base64url' = 'hex') =>
  createHash('sha256').update(bytes).digest(as);
const selfie = (image: string, imageHash: string) => ({ selfie: { image, imageHash } });

const passport = {
  documentType: 'PASSPORT',
  documentNumber: 'CC123456',
  issuingCountry: 'PRT',
  expiryDate: '2030-01-31',
  frontSideImage: JPEG.toString('base64'),
  frontSideImageHash: sha(JPEG),
};

const address = { streetLine1: 'Rua Augusta 12', city: 'Lisboa', postalCode: '1100-048', country: 'PRT' };

/** One good value of every kind, as it is kept. */
const GOOD: Record<DataType, object> = {
  EMAIL: { value: 'ana@example.com' },
  PHONE: { countryCode: '+351', number: '912345678' },
  NAME: { firstName: 'Ana', lastName: 'Souza' },
  ID_DOCUMENT: passport,
  OCCUPATION: { jobTitle: 'Engineer', companyName: 'Ponte, Lda.', industry: 'Bridges', employmentStatus: 'EMPLOYED' },
  BANK_ACCOUNT: { iban: { accountNumber: 'PT50000201231234567890154', country: 'PRT', bic: 'CGDIPTPL' } },
  SELFIE: { image: PNG.toString('base64'), imageHash: sha(PNG) },
  BIRTH_DATE: { date: '1990-05-17' },
  NATIONALITY: { country: 'BRA' },
  TAX_ID: { country: 'BRA', type: 'CPF', number: '39053344705' },
  CRYPTO_WALLET: { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', type: 'TRON' },
  RESIDENTIAL_ADDRESS: address,
  INTERMEDIARY: { isIntermediary: false },
  EMPLOYMENT_STATUS: { type: 'SELF_EMPLOYED' },
  ACCOUNT_PURPOSE: { type: 'REMITTANCES' },
  EXPECTED_MONTHLY_PAYMENTS: { category: 'USD_1K_10K' },
  SOURCE_OF_FUNDS: { type: 'CRYPTO_STAKING_INCOME' },
  LAST_OCCUPATION: { code: '151252' },
  PROOF_OF_ADDRESS: { file: PDF.toString('base64'), fileHash: sha(PDF), country: 'PRT' },
};

describe('the envelope', () => {
  test.each(DATA_TYPES)('%s: a good value is taken, named, and kept as it is', async (kind) => {
    const data = { [DATA_KEYS[kind]]: GOOD[kind] };
    expect(await validateCustomerData(data, { nowMs: NOW_MS })).toEqual({ kind, data });
  });

  test.each(DATA_TYPES)('%s: an unknown field is refused by its path', async (kind) => {
    const key = DATA_KEYS[kind];
    expect(await check({ [key]: { ...GOOD[kind], surprise: 1 } })).toContain(`${key}.surprise is not a known field.`);
  });

  test.each(DATA_TYPES)('%s: wrong types are refused by the path of the field, without an exception', async (kind) => {
    const key = DATA_KEYS[kind];
    for (const value of [1, 'text', [], true, { [key]: 1 }]) {
      const [answer = ''] = [await check({ [key]: value })].flat();
      expect(answer).toMatch(new RegExp(`^${key}`));
    }
    for (const field of Object.keys(GOOD[kind])) {
      const answer = await check({ [key]: { ...GOOD[kind], [field]: { odd: [] } } });
      const about = expect.stringMatching(new RegExp(`^${key}\\.${field}.* (must be|is not a known field)`));
      expect(answer, field).toEqual(expect.arrayContaining([about]));
    }
  });

  test('exactly one kind', async () => {
    const neither = ['exactly one kind of data.'];
    for (const value of [{}, { email: null }, { email: GOOD.EMAIL, name: GOOD.NAME }]) {
      expect((await check(value)).toString()).toContain(neither[0]);
    }
    for (const value of [null, undefined, 1, 'email', [], [{ email: GOOD.EMAIL }]]) {
      expect(await check(value)).toEqual([' must be an object.']);
    }
    expect(await check({ shoeSize: { value: 44 } })).toContain('shoeSize is not a known field.');
  });

  test('null and empty texts are unset, as in ProtoJSON', async () => {
    expect(await check({ email: GOOD.EMAIL, phone: null })).toEqual({ email: GOOD.EMAIL });
    expect(await check({ residentialAddress: { ...address, streetLine2: '', subdivision: null } })).toEqual({
      residentialAddress: address,
    });
    expect(await check({ email: { value: '' } })).toEqual(['email.value is missing.']);
    expect(await check({ phone: { countryCode: '+351', number: null } })).toEqual(['phone.number is missing.']);
  });

  test('no issue repeats a value', async () => {
    const secret = 'geheim-4711-XQ';
    for (const kind of DATA_TYPES) {
      const key = DATA_KEYS[kind];
      for (const field of Object.keys(GOOD[kind])) {
        const answer = JSON.stringify([await check({ [key]: { ...GOOD[kind], [field]: secret } })]);
        if (answer.includes('issues') || answer.startsWith('[["')) expect(answer).not.toContain(secret);
      }
    }
  });
});

describe('names', () => {
  const name = (firstName: string, lastName: string) => check({ name: { firstName, lastName } });

  test('names of the whole world are taken', async () => {
    for (const [first, last] of [
      ['Jeanne', "d'Arc"],
      ['Seán', 'O’Brien'],
      ['Anne-Marie', 'van der Berg'],
      ['José María', 'Muñoz y Álvarez'],
      ["'t", 'Hooft'],
      ['Ng', 'Ó'],
      ['Martin', 'King, Jr.'],
      ['李', '小龙'],
      ['محمد', 'الفاتح'],
      ['Владимир', 'Ильин'],
      ['Núria', 'Gal·la'],
      ['J.', 'R. R. Tolkien'],
      ['ʻAkaʻaka', 'Kalākaua'],
      ['अनिल', 'क्षत्रिय'],
      ['X', 'Æ'],
      ['Zoë', 'Łuczak-Żółć'],
      ['Đặng', 'Thị'],
      ['Muthu', 'a/l Raman'],
      ['Rocco', 'D´Angelo'],
    ] as const) {
      expect(await name(first, last), `${first} ${last}`).toEqual({
        name: { firstName: first.normalize('NFC'), lastName: last.normalize('NFC') },
      });
    }
  });

  test('spaces are tidied and accents composed', async () => {
    expect(await name('  Ana   Maria ', 'Jose\u0301')).toEqual({ name: { firstName: 'Ana Maria', lastName: 'José' } });
  });

  test('people with one name have it in either field, and in no field nobody has one', async () => {
    for (const name of [{ firstName: 'Suharto' }, { lastName: 'Suharto' }])
      expect(await check({ name: { firstName: null, lastName: null, ...name } })).toEqual({ name });
    expect(await check({ name: {} })).toEqual([expect.stringContaining('firstName, lastName or both')]);
  });

  test.each(['ジョン・ポール', 'ｼﾞｮﾝ･ﾎﾟｰﾙ', 'ז׳בוטינסקי', 'Smith–Jones'])('%s is a name', async (given) => {
    expect(await name(given, 'Ana')).toEqual({ name: { firstName: given.normalize('NFC'), lastName: 'Ana' } });
  });

  test('the number of an identity card of Hong Kong has its check digit in brackets', async () => {
    expect(await isTaken({ taxId: { country: 'HKG', type: null, number: 'A123456(3)' } })).toBe(true);
    expect(await isTaken({ taxId: { country: 'HKG', type: null, number: 'A(123)456' } })).toBe(false);
  });

  test('what is no name is refused', async () => {
    for (const bad of [
      'A1',
      '<b>Ana</b>',
      'ana@example.com',
      '🙂',
      '-',
      "'",
      ' ',
      'A\u202eB',
      'A\u0000B',
      'x'.repeat(101),
    ]) {
      expect(await name('Ana', bad), bad).toEqual([expect.stringMatching(/^name\.lastName /)]);
    }
  });
});

describe('birth dates', () => {
  const born = (date: string) => check({ birthDate: { date } });

  test('a customer comes of age on the eighteenth birthday, UTC', async () => {
    expect(await born('2008-11-21')).toEqual({ birthDate: { date: '2008-11-21' } });
    expect(await born('2008-11-22')).toEqual(['birthDate.date makes the customer younger than 18.']);
  });

  test('born on 29 February: of age on 1 March', async () => {
    const on = (nowMs: number) => validateCustomerData({ birthDate: { date: '2008-02-29' } }, { nowMs });
    expect(await on(Date.UTC(2026, 1, 28, 23))).toHaveProperty('issues');
    expect(await on(Date.UTC(2026, 2, 1))).toHaveProperty('kind');
  });

  test('dates that do not exist, lie ahead or lie too far back are refused', async () => {
    expect(await born('1990-02-30')).toEqual(['birthDate.date must be a real date, written as YYYY-MM-DD.']);
    expect(await born('17/05/1990')).toEqual(['birthDate.date must be a real date, written as YYYY-MM-DD.']);
    expect(await born('1990-5-7')).toEqual(['birthDate.date must be a real date, written as YYYY-MM-DD.']);
    expect(await born('2026-11-21')).toEqual(['birthDate.date must be in the past.']);
    expect(await born('1900-01-01')).toEqual(['birthDate.date is more than 120 years ago.']);
  });
});

describe('documents and pictures', () => {
  const document = (change: object) => check({ idDocument: { ...passport, ...change } });

  test('every way of writing the same bytes and hash is taken, and kept one way', async () => {
    const kept = selfie(PNG.toString('base64'), sha(PNG));
    const texts = [PNG.toString('base64'), PNG.toString('base64url'), PNG.toString('base64').replace(/=+$/, '')];
    const hashes = [sha(PNG), sha(PNG).toUpperCase(), sha(PNG, 'base64'), sha(PNG, 'base64url')];
    for (const image of texts) for (const hash of hashes) expect(await check(selfie(image, hash)), image).toEqual(kept);
  });

  test('a hash that is not of these bytes is refused, whichever of the two changed', async () => {
    const wrong = ['selfie.imageHash is not the SHA-256 of the bytes beside it.'];
    expect(await check(selfie(PNG.toString('base64'), sha(JPEG)))).toEqual(wrong);
    expect(await check(selfie(Buffer.concat([PNG, Buffer.from([0])]).toString('base64'), sha(PNG)))).toEqual(wrong);
    for (const hash of ['abc', sha(PNG).slice(1), sha(PNG, 'base64').slice(4), 'not a hash']) {
      expect(await check(selfie(PNG.toString('base64'), hash))).toEqual([
        'selfie.imageHash is not a SHA-256 in hex or base64.',
      ]);
    }
    expect(await check({ selfie: { image: PNG.toString('base64') } })).toEqual(['selfie.imageHash is missing.']);
  });

  test('what is not base64 is refused', async () => {
    for (const image of ['data:image/png;base64,AAAA', 'iVBO*', 'a', 'ab=c', '-_+/', 'QR==', 'AAAA====', 'AAAA=']) {
      expect(await check(selfie(image, sha(PNG))), image).toContainEqual('selfie.image is not base64.');
    }
  });

  test('any picture format is taken, and an empty file is not', async () => {
    const gif = Buffer.from('GIF89a');
    expect(await isTaken(selfie(gif.toString('base64'), sha(gif)))).toBe(true);
    expect(await isTaken(selfie(JPEG.toString('base64'), sha(JPEG)))).toBe(true);
    const nothing = Buffer.alloc(0);
    expect(await check(selfie('', sha(nothing)))).toEqual([expect.stringMatching(/^selfie\.image /)]);
  });

  test('five mebibytes are taken, one byte more is not', async () => {
    const full = Buffer.alloc(5 * 1024 * 1024, PNG, 'binary');
    PNG.copy(full);
    expect(await isTaken(selfie(full.toString('base64'), sha(full)))).toBe(true);
    const more = Buffer.concat([full, Buffer.from([0])]);
    expect(await check(selfie(more.toString('base64'), sha(more)))).toEqual(['selfie.image is larger than 5 MiB.']);
    expect(await check(selfie('A'.repeat(8_000_000), sha(more)))).toEqual(['selfie.image is too long.']);
  });

  test('a back side comes with its hash', async () => {
    const back = { backSideImage: PDF.toString('base64'), backSideImageHash: sha(PDF) };
    expect(await document({ documentType: 'ID_CARD', ...back })).toEqual({
      idDocument: { ...passport, documentType: 'ID_CARD', ...back },
    });
    expect(await document({ backSideImage: back.backSideImage })).toEqual(['idDocument.backSideImageHash is missing.']);
    expect(await document({ backSideImageHash: back.backSideImageHash })).toEqual([
      'idDocument.backSideImage is missing.',
    ]);
  });

  test('a document is valid on its last day and not after; only an identity card may have none', async () => {
    expect(await document({ expiryDate: '2026-11-21' })).not.toBeInstanceOf(Array);
    expect(await document({ expiryDate: '2026-11-20' })).toEqual([
      'idDocument.expiryDate has passed: the document has expired.',
    ]);
    expect(await document({ expiryDate: '2027-02-29' })).toEqual([
      'idDocument.expiryDate must be a real date, written as YYYY-MM-DD.',
    ]);
    expect(await document({ expiryDate: null })).toEqual(['idDocument.expiryDate is missing.']);
    expect(await document({ expiryDate: null, documentType: 'ID_CARD' })).not.toBeInstanceOf(Array);
  });

  test('number, kind and country of a document', async () => {
    expect(await document({ documentNumber: 'cc 123-456' })).toEqual({
      idDocument: { ...passport, documentNumber: 'CC123456' },
    });
    expect(await document({ documentNumber: 'ΑΗ 123456' })).not.toBeInstanceOf(Array);
    for (const documentNumber of ['ABC', 'ABCDEFG', '12#4567', '1'.repeat(31)]) {
      expect(await document({ documentNumber })).toEqual([
        'idDocument.documentNumber must be 4 to 30 letters and digits, at least one of them a digit.',
      ]);
    }
    expect(await document({ documentType: 'LIBRARY_CARD' })).toEqual([
      'idDocument.documentType must be one of PASSPORT, DRIVERS_LICENSE, ID_CARD, RESIDENCE_PERMIT.',
    ]);
    for (const issuingCountry of ['PT', 'prt', 'XXX', 'Portugal']) {
      expect(await document({ issuingCountry })).toEqual([
        'idDocument.issuingCountry must be an ISO 3166-1 alpha-3 code, such as PRT.',
      ]);
    }
  });
});

describe('phones and addresses', () => {
  const phone = (countryCode: string, number: string) => check({ phone: { countryCode, number } });

  test('numbers as people write them are taken, and kept in one form', async () => {
    for (const [code, number] of [
      ['+49', '0151 23456789'],
      ['49', '151-23456789'],
      ['0049', '(0151) 2345 6789'],
      ['DE', '+49 151 23456789'],
      ['DEU', '0151/23456789'],
    ] as const) {
      expect(await phone(code, number), number).toEqual({ phone: { countryCode: '+49', number: '15123456789' } });
    }
    expect(await phone('+39', '06 1234 5678')).toEqual({ phone: { countryCode: '+39', number: '0612345678' } });
    expect(await phone('1', '(202) 555-0100')).toEqual({ phone: { countryCode: '+1', number: '2025550100' } });
  });

  test('numbers that cannot be are refused', async () => {
    expect(await phone('+999', '123456')).toEqual([
      'phone.countryCode must be a calling code, such as +351, or an ISO 3166-1 country.',
    ]);
    expect(await phone('+49', '+351 912 345 678')).toEqual([
      'phone.number begins with a calling code other than that of countryCode.',
    ]);
    for (const number of ['123', 'call me', '+', '1'.repeat(20), '151 2345 678a', '0151 23456789;ext=5']) {
      expect(await phone('+49', number), number).toEqual(['phone.number is not a valid number of that country.']);
    }
  });

  test('e-mail addresses', async () => {
    const email = (value: string) => check({ email: { value } });
    for (const good of ['a@b.co', "o'brien+x@example.com", 'first.last@sub.example.museum', 'x_y@example.xn--p1ai']) {
      expect(await email(good), good).toEqual({ email: { value: good } });
    }
    expect(await email(' Ana@EXAMPLE.com ')).toEqual({ email: { value: 'Ana@example.com' } });
    expect(await email('ana@münchen.de')).toEqual({ email: { value: 'ana@xn--mnchen-3ya.de' } });
    for (const bad of [
      'ana',
      '@b.co',
      'a@b',
      'a@b.c',
      'a..b@c.de',
      '.a@c.de',
      'a.@c.de',
      'a b@c.de',
      'a@-b.de',
      'a@b..de',
      'a@[127.0.0.1]',
      'a@127.0.0.1',
      `${'a'.repeat(65)}@b.de`,
      `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`,
      'a@b.de\nBcc: c@d.de',
    ]) {
      expect(await email(bad), bad).toEqual(['email.value is not an e-mail address.']);
    }
  });

  test('a subdivision that is written as a code is one of its country', async () => {
    const home = async (country: string, postalCode: string | null, subdivision: string) => {
      const checked = await check({ residentialAddress: { ...address, country, postalCode, subdivision } });
      return Array.isArray(checked) ? checked : checked.residentialAddress?.subdivision;
    };
    const none = ['residentialAddress.subdivision is not a code of a state or province of that country.'];
    for (const [country, postalCode, code] of [
      ['USA', '90210', 'XX'],
      ['USA', '90210', 'ZZZ'],
      ['CAN', 'K1A 0B1', 'XX'],
      ['BRA', '01001-000', 'XX'],
      ['MEX', '06000', 'XXX'],
      ['AUS', '2000', 'XX'],
      ['IND', '110001', 'XX'],
      ['ARG', 'C1000', 'O'],
      ['DEU', '10115', 'XX'],
      ['CHE', '8001', 'XX'],
      ['AUT', '1010', '0'],
      ['JPN', '100-0001', '48'],
      ['COL', '110111', 'XXX'],
      ['NGA', null, 'XX'],
    ] as const) {
      const prefix = { USA: 'US', CAN: 'CA', BRA: 'BR', MEX: 'MX', AUS: 'AU', IND: 'IN', ARG: 'AR', DEU: 'DE' };
      const others = { CHE: 'CH', AUT: 'AT', JPN: 'JP', COL: 'CO', NGA: 'NG' };
      const whole = `${{ ...prefix, ...others }[country]}-${code}`;
      expect([whole, await home(country, postalCode, whole)]).toEqual([whole, none]);
      expect(await home(country, postalCode, whole.toLowerCase())).toEqual(none);
    }
    expect(await home('USA', '90210', 'XX')).toEqual(none);
    expect(await home('USA', '90210', 'PT-11')).toEqual([
      'residentialAddress.subdivision is a state or province of another country.',
    ]);
    for (const [written, kept] of [
      ['US-CA', 'US-CA'],
      ['us-ca', 'US-CA'],
      ['CA', 'CA'],
      ['ca', 'CA'],
      ['California', 'California'],
      ['US-PR', 'US-PR'],
    ] as const)
      expect([written, await home('USA', '90210', written)]).toEqual([written, kept]);
    expect(await home('PRT', '1100-048', 'PT-11')).toBe('PT-11');
    expect(await home('AUS', '2000', 'NSW')).toBe('NSW');
    expect(await home('SAU', '11564', 'Al-Jof')).toBe('Al-Jof');
  });

  test('addresses in any script; country as alpha-2 or alpha-3, kept as alpha-3', async () => {
    const home = (change: object) => check({ residentialAddress: { ...address, ...change } });
    expect(await home({ country: 'PT' })).toEqual({ residentialAddress: address });
    expect(
      await home({ streetLine1: '東京都千代田区1-1', city: '東京', country: 'JPN', postalCode: '100-0001' }),
    ).not.toBeInstanceOf(Array);
    expect(await home({ country: 'ARE', postalCode: null, city: 'دبي' })).not.toBeInstanceOf(Array);
    expect(await home({ country: 'GBR', postalCode: 'sw1a 1aa' })).toMatchObject({
      residentialAddress: { postalCode: 'SW1A 1AA' },
    });
    expect(await home({ country: 'USA', postalCode: '90210-1234', subdivision: 'US-CA' })).not.toBeInstanceOf(Array);
    expect(await home({ country: 'USA', postalCode: '90210', subdivision: 'BR-SP' })).toEqual([
      'residentialAddress.subdivision is a state or province of another country.',
    ]);
    expect(await home({ postalCode: '12' })).toEqual([
      'residentialAddress.postalCode is not a postal code of that country.',
    ]);
    expect(await home({ postalCode: null })).toEqual([
      'residentialAddress.postalCode is missing: every address in that country has one.',
    ]);
    expect(await home({ country: 'Atlantis' })).toEqual([
      'residentialAddress.country must be an ISO 3166-1 code, such as PRT.',
    ]);
    expect(await home({ country: 'DEU', postalCode: 'D-10115' })).toMatchObject({
      residentialAddress: { postalCode: '10115' },
    });
    expect(await home({ city: '???' })).toEqual(['residentialAddress.city must have a letter or a digit.']);
    expect(await home({ streetLine1: 'Rua\u0007 1' })).toEqual([
      'residentialAddress.streetLine1 has characters that cannot be printed.',
    ]);
  });

  test('nationality and proof of address take alpha-3 alone', async () => {
    expect(await check({ nationality: { country: 'BR' } })).toEqual([
      'nationality.country must be an ISO 3166-1 alpha-3 code, such as PRT.',
    ]);
    expect(await check({ proofOfAddress: { ...GOOD.PROOF_OF_ADDRESS, country: 'pt' } })).toEqual([
      'proofOfAddress.country must be an ISO 3166-1 alpha-3 code, such as PRT.',
    ]);
  });
});

describe('what customers say of themselves', () => {
  test('either a type or other, never both or neither', async () => {
    for (const key of ['accountPurpose', 'employmentStatus']) {
      expect(await check({ [key]: { other: ' My  own words ' } })).toEqual({ [key]: { other: 'My own words' } });
      expect(await check({ [key]: { other: 'Words', type: key === 'accountPurpose' ? 'SALARY' : 'RETIRED' } })).toEqual(
        [`${key} must have exactly one of its fields.`],
      );
      expect(await check({ [key]: {} })).toEqual([`${key} must have exactly one of its fields.`]);
      const [answer = ''] = [await check({ [key]: { type: 'SPY' } })].flat();
      expect(answer).toMatch(new RegExp(`^${key}\\.type must be one of `));
    }
  });

  test('an intermediary is true, false or not said', async () => {
    expect(await check({ intermediary: { isIntermediary: null } })).toEqual({ intermediary: { isIntermediary: null } });
    expect(await check({ intermediary: {} })).toEqual({ intermediary: { isIntermediary: null } });
    expect(await check({ intermediary: { isIntermediary: true } })).toEqual({ intermediary: { isIntermediary: true } });
    expect(await check({ intermediary: { isIntermediary: 'true' } })).toEqual([
      'intermediary.isIntermediary must be true, false or null.',
    ]);
  });

  test('an occupation code has six digits, an occupation a job title', async () => {
    expect(await check({ lastOccupation: { code: '15-1252' } })).toEqual({ lastOccupation: { code: '151252' } });
    for (const code of ['15125', '1512522', '15A252']) {
      expect(await check({ lastOccupation: { code } })).toEqual(['lastOccupation.code must be six digits.']);
    }
    expect(await check({ occupation: { jobTitle: 'Student' } })).toEqual({ occupation: { jobTitle: 'Student' } });
    expect(await check({ occupation: { companyName: 'Ponte' } })).toEqual(['occupation.jobTitle is missing.']);
  });
});
