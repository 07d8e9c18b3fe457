import fc from 'fast-check';
import { countrySpecs } from 'ibantools';
import { describe, expect, test } from 'vitest';
import { rounds } from '../../rounds.ts';
import { bank, CAPITALS, check, corruptions, DIGITS, isTaken, taken, transpositions } from './check.ts';

/** Published examples of each number; every corruption that its check digits can catch is refused. */

const sameClass = (old: string) => (/\d/.test(old) ? DIGITS : CAPITALS);
const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));

describe('IBAN', () => {
  const isGood = (accountNumber: string) => isTaken(bank({ iban: { accountNumber } }));
  // The examples of SWIFT's IBAN registry.
  const examples = (
    'AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201 ' +
    'AZ21NABZ00000000137010001944 BA391290079401028494 BE68539007547034 BG80BNBG96611020345678 ' +
    'BH67BMAG00001299123456 BR1800360305000010009795493C1 BY13NBRB3600900000002Z00AB00 CH9300762011623852957 ' +
    'CR05015202001026284066 CY17002001280000001200527600 CZ6508000000192000145399 DE89370400440532013000 ' +
    'DK5000400440116243 DO28BAGR00000001212453611324 EE382200221020145685 EG380019000500000000263180002 ' +
    'ES9121000418450200051332 FI2112345600000785 FO6264600001631634 FR1420041010050500013M02606 ' +
    'GB29NWBK60161331926819 GE29NB0000000101904917 GI75NWBK000000007099453 GL8964710001000206 ' +
    'GR1601101250000000012300695 GT82TRAJ01020000001210029690 HR1210010051863000160 ' +
    'HU42117730161111101800000000 IE29AIBK93115212345678 IL620108000000099999999 IQ98NBIQ850123456789012 ' +
    'IS140159260076545510730339 IT60X0542811101000000123456 JO94CBJO0010000000000131000302 ' +
    'KW81CBKU0000000000001234560101 KZ86125KZT5004100100 LB62099900000001001901229114 LC55HEMM000100010012001200023015 ' +
    'LI21088100002324013AA LT121000011101001000 LU280019400644750000 LV80BANK0000435195001 MC5811222000010123456789030 ' +
    'MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984 MR1300020001010000123456753 ' +
    'MT84MALT011000012345MTLCAST001S MU17BOMM0101101030300200000MUR NL91ABNA0417164300 NO9386011117947 ' +
    'PK36SCBL0000001123456702 PL61109010140000071219812874 PS92PALS000000000400123456702 PT50000201231234567890154 ' +
    'QA58DOHB00001234567890ABCDEFG RO49AAAA1B31007593840000 RS35260005601001611379 SA0380000000608010167519 ' +
    'SC18SSCB11010000000000001497USD SE4550000000058398257466 SI56263300012039086 SK3112000000198742637541 ' +
    'SM86U0322509800000000270100 ST23000100010051845310146 SV62CENR00000000000000700025 TL380080012345678910157 ' +
    'TN5910006035183598478831 TR330006100519786457841326 UA213223130000026007233566001 VA59001123000012345678 ' +
    'VG96VPVG0000012345678901 XK051212012345678906'
  ).split(' ');

  test('the examples of the registry pass', async () => {
    for (const example of examples) expect(await isGood(example), example).toBe(true);
  });

  test('no example passes with one digit or letter changed, or with neighbours swapped', async () => {
    for (const example of examples.filter((_, place) => place % rounds(8, 1) === 0)) {
      expect(await taken(corruptions(example, sameClass), isGood), example).toEqual([]);
      // A digit swapped with a letter moves every digit behind it: that the remainder does not promise to notice.
      const swapped = [...transpositions(example)].filter((text) => {
        const place = [...text].findIndex((letter, index) => letter !== example[index]);
        return /\d/.test(text.charAt(place)) === /\d/.test(text.charAt(place + 1));
      });
      expect(await taken(swapped, isGood), example).toEqual([]);
    }
  });

  test('generated numbers of every country pass and their corruptions do not', async () => {
    // Countries whose form is digits after fixed letters; those with a national check digit have examples above.
    const countries = Object.entries(countrySpecs)
      .filter(([, { chars, bban_regexp, bban_validation_func }]) => {
        const digitsOnly = chars && bban_regexp && /^\^(\[0-9\]\{\d+\})+\$$/.test(bban_regexp);
        return digitsOnly && !bban_validation_func;
      })
      .map(([code, { chars }]) => ({ code, length: (chars ?? 0) - 4 }));
    expect(countries.length).toBeGreaterThan(15);
    await fc.assert(
      fc.asyncProperty(
        fc
          .constantFrom(...countries)
          .chain(({ code, length }) =>
            fc.tuple(
              fc.constant(code),
              fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }),
            ),
          ),
        async ([code, digits]) => {
          const account = digits.join('');
          const spelled = [...`${account}${code}00`].map((one) => Number.parseInt(one, 36)).join('');
          const iban = `${code}${String(98n - (BigInt(spelled) % 97n)).padStart(2, '0')}${account}`;
          expect(await isGood(iban)).toBe(true);
          expect(await taken(corruptions(iban, sameClass), isGood)).toEqual([]);
          expect(await taken(transpositions(iban), isGood)).toEqual([]);
        },
      ),
      { numRuns: rounds(2, 15) },
    );
  });

  test('grouping and one case throughout are fine, and one form is kept', async () => {
    const kept = { bankAccount: { iban: { accountNumber: 'DE89370400440532013000' } } };
    for (const text of ['DE89 3704 0044 0532 0130 00', 'de89370400440532013000', ' DE89-3704-0044-0532-0130-00 ']) {
      expect(await check(bank({ iban: { accountNumber: text } })), text).toEqual(kept);
    }
    expect(await isGood('De89370400440532013000')).toBe(false);
  });

  test('check digits outside 02 to 98 are refused even where the division comes out', async () => {
    // 97 and 00 leave the same remainder.
    const accountWith97 = await taken(
      Array.from(
        { length: 97 },
        (_, index) => `DE97${String(37_040_044_000_000_0000n + BigInt(index)).padStart(18, '0')}`,
      ),
      isGood,
    );
    expect(accountWith97).toHaveLength(1);
    expect(await isGood((accountWith97[0] ?? '').replace('DE97', 'DE00'))).toBe(false);
  });

  test('country and BIC must fit the IBAN', async () => {
    const iban = (rest: object) => bank({ iban: { accountNumber: 'DE89370400440532013000', ...rest } });
    expect(await isTaken(iban({ country: 'DE', bic: 'COBADEFFXXX' }))).toBe(true);
    expect(await isTaken(iban({ country: 'DEU', bic: 'cobadeff' }))).toBe(true);
    expect(await check(iban({ country: 'FRA' }))).toEqual(['bankAccount.iban.country is not the country of the IBAN.']);
    expect(await check(iban({ country: 'Germany' }))).toEqual([
      'bankAccount.iban.country must be an ISO 3166-1 code, such as PRT.',
    ]);
    expect(await check(iban({ bic: 'BNPAFRPP' }))).toEqual([
      'bankAccount.iban.bic belongs to a bank in another country than the IBAN.',
    ]);
    expect(await check(iban({ bic: 'COBADEF' }))).toEqual([
      'bankAccount.iban.bic must be a BIC of 8 or 11 characters.',
    ]);
    expect(await check(iban({ bic: 'COBAZZFF' }))).toEqual([
      'bankAccount.iban.bic has no country in its fifth and sixth letters.',
    ]);
    const french = { accountNumber: 'FR1420041010050500013M02606', country: 'REU', bic: 'BREDREPP' };
    expect(await isTaken(bank({ iban: french }))).toBe(true);
  });
});

describe('CLABE', () => {
  const isGood = (accountNumber: string) => isTaken(bank({ clabe: { accountNumber } }));
  const examples = ['002010077777777771', '032180000118359719', '646180110400000007', '014027000005555558'];

  test('known accounts pass, grouped too', async () => {
    for (const example of examples) expect(await isGood(example), example).toBe(true);
    expect(await isGood('032 180 00011835971 9')).toBe(true);
  });

  test('no account passes with one digit changed', async () => {
    for (const example of examples.slice(0, rounds(1, examples.length))) {
      expect(await taken(corruptions(example, printable), isGood), example).toEqual([]);
    }
  });

  test('generated accounts: no changed digit passes, nor do swapped neighbours that differ by other than five', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^\d{14}$/), async (rest) => {
        const body = `012${rest}`;
        const account = (
          await taken(
            [...DIGITS].map((digit) => body + digit),
            isGood,
          )
        ).join();
        expect(account).toHaveLength(18);
        expect(await taken(corruptions(account, DIGITS), isGood)).toEqual([]);
        const swapped = [...transpositions(account)].filter((text) => {
          const place = [...text].findIndex((digit, index) => digit !== account[index]);
          return Math.abs(Number(text[place]) - Number(text[place + 1])) !== 5;
        });
        expect(await taken(swapped, isGood)).toEqual([]);
      }),
      { numRuns: rounds(7, 20) },
    );
  });

  test('a bank that is not in the list is refused, with right check digits too', async () => {
    const all = [...DIGITS].map((digit) => `99918000011835971${digit}`);
    const answers = await Promise.all(all.map((accountNumber) => check(bank({ clabe: { accountNumber } }))));
    expect(answers.flat()).toContain('bankAccount.clabe.accountNumber does not begin with the code of a Mexican bank.');
    expect(answers.every((answer) => Array.isArray(answer))).toBe(true);
  });
});

describe('ACH', () => {
  const ach = (routingNumber: string) => bank({ ach: { accountNumber: '0001234567', routingNumber } });
  const isGood = (routingNumber: string) => isTaken(ach(routingNumber));
  const examples = '021000021 011401533 091000019 111000025 122105155 026009593 322271627 061000104 256074974'.split(
    ' ',
  );

  test('known routing numbers pass', async () => {
    for (const example of examples) expect(await isGood(example), example).toBe(true);
  });

  test('no routing number passes with one digit changed, nor with neighbours swapped that differ by other than five', async () => {
    for (const example of examples.slice(0, rounds(1, examples.length))) {
      expect(await taken(corruptions(example, printable), isGood), example).toEqual([]);
      const swapped = [...transpositions(example)].filter((text) => {
        const place = [...text].findIndex((digit, index) => digit !== example[index]);
        return Math.abs(Number(text[place]) - Number(text[place + 1])) !== 5;
      });
      expect(await taken(swapped, isGood), example).toEqual([]);
    }
  });

  test('first pairs that no district uses are refused', async () => {
    // 3 * (1 + 0) + 7 * (3 + 0) + ... chosen so that the sum is a multiple of ten.
    for (const routing of ['130000006', '500000005', '990000000', '000000000']) {
      expect(await isGood(routing), routing).toBe(false);
    }
  });

  test('an account number has 4 to 17 digits', async () => {
    for (const accountNumber of ['1234', '12345678901234567', '000-123 456']) {
      expect(await isTaken(bank({ ach: { accountNumber, routingNumber: '021000021' } })), accountNumber).toBe(true);
    }
    for (const accountNumber of ['123', '123456789012345678', '12ab34', '0000000', '']) {
      expect(await isTaken(bank({ ach: { accountNumber, routingNumber: '021000021' } })), accountNumber).toBe(false);
    }
  });
});

describe('NUBAN', () => {
  const nuban = (accountNumber: string, bankCode: string) => isTaken(bank({ nuban: { accountNumber, bankCode } }));
  // The first two are the Central Bank's own examples (First Bank, 011).
  const examples: [string, string][] = [
    ['0000014579', '011'],
    ['0000000220', '011'],
    ['0000014579', '000011'],
  ];

  test('the examples of the Central Bank pass', async () => {
    for (const [account, code] of examples) expect(await nuban(account, code), account).toBe(true);
  });

  test('no account passes with one digit of it or of its bank changed', async () => {
    for (const [account, code] of examples) {
      expect(await taken(corruptions(account, printable), (text) => nuban(text, code))).toEqual([]);
      expect(await taken(corruptions(code, DIGITS), (text) => nuban(account, text))).toEqual([]);
    }
  });

  test('accounts at banks and other institutions: one last digit fits, and no changed digit passes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^\d{8}[1-9]$/),
        fc.constantFrom('044', '057', '058', '033', '214', '50547', '51310', '90405'),
        async (serial, code) => {
          const [account = '', ...more] = await taken(
            [...DIGITS].map((digit) => serial + digit),
            (text) => nuban(text, code),
          );
          expect(more).toEqual([]);
          expect(await taken(corruptions(account, DIGITS), (text) => nuban(text, code))).toEqual([]);
          expect(await taken(corruptions(code, DIGITS), (text) => nuban(account, text))).toEqual([]);
        },
      ),
      { numRuns: rounds(7, 20) },
    );
  });

  test("the revised standard's digits of an institution weigh: 9 and five digits against a bank's three", async () => {
    // 9*3 + 5*7 + 0*3 + 5*3 + 4*7 + 7*3 = 126, and 000000001 adds 1*3: 129, so the last digit is 1.
    expect(await nuban('0000000011', '50547')).toBe(true);
    expect(await nuban('0000000011', '950547')).toBe(true);
    expect(await nuban('0000000014', '50547')).toBe(false);
  });

  test('institutions that use phone numbers as accounts are known', async () => {
    expect(await nuban('8031234567', '999992')).toBe(true);
    expect(await nuban('2031234567', '999992')).toBe(false);
  });

  test('codes of other lengths are refused', async () => {
    for (const code of ['11', '0011', '1234567', 'ABC', '000', '123456'])
      expect(await nuban('0000014579', code), code).toBe(false);
  });
});

describe('Pix keys', () => {
  const key = async (pixKey: string) => {
    const answer = await check(bank({ pix: { pixKey } }));
    return Array.isArray(answer) ? null : answer.bankAccount?.pix?.pixKey;
  };

  test('each kind of key passes and is kept as the directory keeps it', async () => {
    const keys: [string, string][] = [
      ['529.982.247-25', '52998224725'],
      ['11.222.333/0001-81', '11222333000181'],
      ['12.ABC.345/01DE-35', '12ABC34501DE35'],
      ['12abc34501de35', '12ABC34501DE35'],
      ['Fulano.Silva@Example.com', 'fulano.silva@example.com'],
      ['+55 11 98765-4321', '+5511987654321'],
      ['123E4567-E12B-12D1-A456-426655440000', '123e4567-e12b-12d1-a456-426655440000'],
    ];
    for (const [text, kept] of keys) expect(await key(text), text).toBe(kept);
  });

  test('what is no key is refused', async () => {
    for (const text of [
      '11111111111',
      '52998224724',
      '11222333000182',
      '12ABC34501DE36',
      '00000000000000',
      '11987654321',
      '+5510987654321',
      '+551198765432',
      '+351912345678',
      '123e4567-e12b-12d1-a456-42665544000',
      '123e4567e12b12d1a456426655440000',
      'nobody',
      `${'a'.repeat(64)}@example-of-length.com`,
      'a@b',
      '12AbC34501DE35',
    ]) {
      expect(await key(text), text).toBeNull();
    }
  });

  test('a changed check digit of a CPF or CNPJ is always refused', async () => {
    for (const good of ['52998224725', '11222333000181', '12ABC34501DE35']) {
      const ends = [...corruptions(good.slice(-2), DIGITS)].map((end) => good.slice(0, -2) + end);
      expect(await taken(ends, async (text) => (await key(text)) !== null)).toEqual([]);
      // Letters eleven apart count the same: of letters only the digits' changes are sure to be seen.
      const digits = (old: string) => (/\d/.test(old) ? DIGITS : '');
      expect(await taken(corruptions(good, digits), async (text) => (await key(text)) !== null)).toEqual([]);
    }
  });
});

describe('BR Code', () => {
  const isGood = (code: string) => isTaken(bank({ pix: { brCode: code } }));
  // The manual's static example, and two that were published with their CRC.
  const examples = [
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
    '00020126360014BR.GOV.BCB.PIX0114+5511943214321520400005303986540566.665802BR5907EMPRESA6008BRASILIA62070503***6304',
    '00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a995204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304',
  ].map((text) => (text.endsWith('6304') ? text + crcOf(text) : text));

  test('known codes pass', async () => {
    expect(crcOf((examples[0] ?? '').slice(0, -4))).toBe('1D3D');
    for (const example of examples)
      expect(await check(bank({ pix: { brCode: example } })), example).toEqual(bank({ pix: { brCode: example } }));
  });

  test('no code passes with any one character changed or two neighbours swapped', async () => {
    for (const example of examples.slice(0, rounds(1, examples.length))) {
      expect(await taken(corruptions(example, printable), isGood)).toEqual([]);
      expect(await taken(transpositions(example), isGood)).toEqual([]);
    }
  });

  test('a code whose CRC is right is still refused when a field that Pix needs is missing or wrong', async () => {
    const [good = ''] = examples;
    const bent: [string, string, string][] = [
      ['5303986', '5303840', 'has no valid field 53 (currency 986).'],
      ['5802BR', '5802PT', 'has no valid field 58 (country BR).'],
      ['0014br.gov.bcb.pix', '0014br.gov.bcb.pox', 'has no Pix account (br.gov.bcb.pix) in a field from 26 to 51.'],
      ['123e4567-e12b', '123e4567-e12z', 'names a Pix key that is not valid.'],
      ['000201', '000202', 'must begin with the payload format 000201.'],
      ['52040000', '', 'has no valid field 52 (merchant category).'],
      ['5913Fulano de Tal', '5914Fulano de Tal', 'is not a list of fields with two digits of id and two of length.'],
      ['5802BR', '5802BR5802BR', 'is not a list of fields with two digits of id and two of length.'],
      ['5802BR', '5403-105802BR', 'has no valid field 54 (amount).'],
      ['62070503***6304', '62070503***630400006412LANG6304', 'must have its CRC as the last field.'],
      ['62070503***', '62080504* *x', 'has no valid transaction id in field 62.'],
    ];
    for (const [from, to, message] of bent) {
      const body = good.slice(0, -4).replace(from, to);
      expect(await check(bank({ pix: { brCode: body + crcOf(body) } })), to).toEqual([
        `bankAccount.pix.brCode ${message}`,
      ]);
    }
  });
});

/** An independent CRC-16/CCITT-FALSE, bit by bit over the whole message. */
function crcOf(text: string): string {
  let crc = 0xffffn;
  for (const byte of Buffer.from(text)) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const out = ((crc >> 15n) & 1n) ^ BigInt((byte >> bit) & 1);
      crc = ((crc << 1n) & 0xffffn) ^ (out ? 0x1021n : 0n);
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

test('a bank account has exactly one form, and pix exactly one of its two', async () => {
  expect(await check(bank({}))).toEqual(['bankAccount must have exactly one of its fields.']);
  expect(await check(bank({ pix: {} }))).toEqual(['bankAccount.pix must have exactly one of its fields.']);
  expect(await check(bank({ clabe: { accountNumber: '1' }, ach: { accountNumber: '1', routingNumber: '2' } }))).toEqual(
    ['bankAccount must have exactly one of its fields.'],
  );
});
