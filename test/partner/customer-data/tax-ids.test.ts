import { describe, expect, test } from 'vitest';
import { TAX_RULES } from '../../../src/partner/customer-data/tax-ids.ts';
import { check, corruptions, DIGITS, isTaken, taken } from './check.ts';

/** Published examples of the tax numbers of each listed country. */

const taxId = (country: string, type: string | null, number: string, customType?: string) => ({
  taxId: { country, type, number, ...(customType !== undefined && { customType }) },
});

const EXAMPLES: [country: string, kind: string, good: string, bad: string[]][] = [
  [
    'USA',
    'SSN',
    '536-90-4399',
    ['000-12-3456', '666-12-3456', '987-65-4321', '536-00-4399', '536-90-0000', '078-05-1120'],
  ],
  ['USA', 'ITIN', '912-90-3456', ['912-93-3456', '812-90-3456', '912-49-3456', '912-89-1234', '912-69-1234']],
  ['USA', 'EIN', '04-2103594', ['07-2103594', '17-2103594', '0421035', '96-2103594']],
  ['BRA', 'CPF', '390.533.447-05', ['390.533.447-06', '390.533.447-15', '11111111111', '3905334470']],
  ['BRA', 'CNPJ', '16.727.230/0001-97', ['16.727.230/0001-98', '16.727.230.0001']],
  ['BRA', 'CNPJ', '12.ABC.345/01DE-35', ['12.ABC.345/01DE-34', '12.ABC.345/01DE-3A', '12.AÇC.345/01DE-35']],
  ['MEX', 'RFC', 'GODE561231GR8', ['GODE561331GR8', 'GOD561231', '12345']],
  [
    'MEX',
    'CURP',
    'BOXW310820HNERXN09',
    ['BOXW310820HNERXN08', 'BOXW311320HNERXN09', 'BOXW310820HZZRXN06', 'BOXW311320HNERXN02'],
  ],
  ['ARG', 'CUIT', '20-05536168-2', ['20-05536168-1', '21-05536168-2', '2005536168']],
  ['ARG', 'CUIL', '20-26756539-3', ['20-26756539-4', '30-26756539-3']],
  ['CHL', 'RUT', '76.086.428-5', ['76.086.428-4', '76.086.428-K']],
  ['CHL', 'RUT', '12.531.909-2', ['12.531.909-3']],
  ['CHL', 'RUN', '10.000.013-K', ['10.000.013-0']],
  ['COL', 'NIT', '213.123.432-1', ['213.123.432-5']],
  ['COL', 'CC', '1020304050', ['0123', '12345678901']],
  ['PER', 'RUC', '20512333797', ['20512333798', '30512333797']],
  ['PER', 'DNI', '10117410', ['1011741', '1011741A']],
  ['ECU', 'CEDULA', '171430710-3', ['171430710-4', '251430710-3', '177430710-3']],
  ['ECU', 'RUC', '1714307103001', ['1714307103000', '1714307104001']],
  ['CAN', 'SIN', '123-456-782', ['123-456-781', '023-456-782']],
  ['CAN', 'BN', '12302 6635 RC 0001', ['12345 6678 RC 0001']],
  ['PRT', 'NIF', '501 964 843', ['501 964 842', '401 964 843', '50196484']],
  ['ESP', 'DNI', '54362315-K', ['54362315-Z', '54362315']],
  ['ESP', 'NIE', 'X-2482300W', ['X-2482300A', 'A-2482300W']],
  ['ESP', 'NIF', 'J99216582', ['J99216583', 'I99216582']],
  ['ESP', 'CIF', 'P-1234567-D', ['P-1234567-E']],
  [
    'DEU',
    'STEUER_ID',
    '36 574 261 809',
    ['36 574 261 890', '36 554 266 806', '06 574 261 809', '11112345678', '12344561119', '12345678903'],
  ],
  ['DEU', 'STEUER_ID', '11123456786', ['11123456787']],
  ['DEU', 'UST_ID', 'DE 136,695 976'.replace(',', ' '), ['DE136695978', '136695976']],
  ['DEU', 'STEUERNUMMER', '181/815/08155', ['1818150']],
  ['FRA', 'SPI', '30 23 217 600 053', ['30 23 217 600 054', '40 23 217 600 053']],
  ['FRA', 'SIREN', '552 008 443', ['552 008 442']],
  ['ITA', 'CODICE_FISCALE', 'RCCMNL83S18D969H', ['RCCMNL83S18D969', 'RCCMNL83S18D969A', 'RCCMNL83S19D969H']],
  ['ITA', 'PARTITA_IVA', '00743110157', ['00743110158']],
  ['NLD', 'BSN', '1112.22.333', ['1112.52.333', '000000000']],
  ['BEL', 'RRN', '85.07.30-033 28', ['85.07.30-033 27']],
  ['BEL', 'RRN', '17.07.30-033 84', ['17.07.30-033 83']],
  ['POL', 'PESEL', '44051401359', ['44051401358']],
  ['POL', 'NIP', '856-734-62-15', ['856-734-62-16']],
  ['GBR', 'UTR', '1955839661', ['2955839661']],
  ['GBR', 'NINO', 'AB 12 34 56 C', ['BG 12 34 56 C', 'AB 12 34 56 E', 'DB 12 34 56 C']],
  ['IRL', 'PPS', '6433435F', ['6433435E', '643343F']],
  ['IRL', 'PPS', '6433435OA', ['6433435FA']],
  ['CHE', 'AHV', '756.9217.0769.85', ['756.9217.0769.84', '123.4567.8910.19']],
  ['SWE', 'PERSONNUMMER', '880320-0016', ['880320-0018']],
  ['FIN', 'HETU', '131052-308T', ['131052-308U']],
  ['TUR', 'TCKN', '17291716060', ['17291716050', '07291716060', '17291716061']],
  ['NGA', 'TIN', '12345678-0001', ['123456']],
  ['NGA', 'NIN', '12345678901', ['1234567890']],
  ['NGA', 'BVN', '22123456789', ['2212345678']],
  ['KEN', 'PIN', 'A004418486B', ['B004418486B']],
  ['ZAF', 'TAX_NUMBER', '0001339050', ['0001339051', '5001339050']],
  ['IND', 'PAN', 'ACUPA7085R', ['ABMXA3211G', 'ACUPA7085']],
  ['AUS', 'TFN', '123 456 782', ['123 456 789']],
];

describe('tax numbers', () => {
  test.each(EXAMPLES)('%s %s: a known number passes, wrong ones do not', async (country, kind, good, bad) => {
    expect(await check(taxId(country, kind, good))).toEqual(taxId(country, kind, good.replace(/[\s.\-/]/g, '')));
    for (const number of bad) {
      const [answer = ''] = [await check(taxId(country, kind, number))].flat();
      expect(answer, number).toMatch(/^taxId\.number /);
    }
  });

  test('every listed kind has an example', () => {
    const shown = new Set(EXAMPLES.map(([country, kind]) => `${country} ${kind}`));
    const listed = Object.entries(TAX_RULES).flatMap(([country, kinds]) =>
      Object.keys(kinds).map((kind) => `${country} ${kind}`),
    );
    expect(listed.filter((one) => !shown.has(one))).toEqual([]);
  });

  test('no number with a modulo 11 or Luhn digit passes with that digit changed', async () => {
    for (const [country, kind, number] of [
      ['BRA', 'CPF', '39053344705'],
      ['ARG', 'CUIT', '20055361682'],
      ['PRT', 'NIF', '501964843'],
      ['DEU', 'STEUER_ID', '36574261809'],
      ['CAN', 'SIN', '123456782'],
      ['POL', 'PESEL', '44051401359'],
      ['PER', 'RUC', '20512333797'],
    ] as const) {
      const ends = [...corruptions(number.slice(-1), DIGITS)].map((end) => number.slice(0, -1) + end);
      expect(await taken(ends, (text) => isTaken(taxId(country, kind, text))), kind).toEqual([]);
    }
    // These two see every changed digit.
    for (const [country, kind, number] of [
      ['DEU', 'STEUER_ID', '36574261809'],
      ['CAN', 'SIN', '123456782'],
    ] as const) {
      expect(await taken(corruptions(number, DIGITS), (text) => isTaken(taxId(country, kind, text)))).toEqual([]);
    }
  });

  test('kinds are known in any case and under other names; small letters are fine', async () => {
    expect(await check(taxId('DEU', 'idnr', '36574261809'))).toEqual(taxId('DEU', 'STEUER_ID', '36574261809'));
    expect(await check(taxId('DEU', 'Steuer-ID', '36574261809'))).toEqual(taxId('DEU', 'STEUER_ID', '36574261809'));
    expect(await isTaken(taxId('ESP', 'dni', '54362315k'))).toBe(true);
  });

  test('a general kind is checked by any rule of its country', async () => {
    expect(await isTaken(taxId('BRA', 'TIN', '39053344705'))).toBe(true);
    expect(await isTaken(taxId('BRA', null, '16727230000197'))).toBe(true);
    expect(await check(taxId('BRA', 'TAX_ID', '39053344706'))).toEqual([
      'taxId.number is no CPF, CNPJ of that country.',
    ]);
  });

  test('a kind of another country is refused, an unlisted kind or country falls back to the form of a number', async () => {
    expect(await check(taxId('DEU', 'CPF', '39053344705'))).toEqual(['taxId.type is a tax id of another country.']);
    expect(await isTaken(taxId('JPN', 'MY_NUMBER', '1234 5678 9018'))).toBe(true);
    expect(await isTaken(taxId('JPN', 'TIN', '1234-5678-9018'))).toBe(true);
    expect(await isTaken(taxId('DEU', 'OTHER', 'AB-12345', 'Ausländernummer'))).toBe(true);
    for (const number of ['0000000000', 'ABCDEF', '12', '1'.repeat(31), '12<script>']) {
      expect(await check(taxId('JPN', 'MY_NUMBER', number)), number).toEqual([
        'taxId.number must be 4 to 30 letters and digits, at least one of them a digit.',
      ]);
    }
    expect(await check(taxId('DEU', 'OTHER', 'AB-12345'))).toEqual(['taxId.customType is required with OTHER.']);
    // DNI, NIF, RUC and the like are the names of numbers in many countries.
    expect(await isTaken(taxId('ARG', 'DNI', '12.345.678'))).toBe(true);
    expect(await isTaken(taxId('DEU', 'NATIONAL_ID', 'L01X00T471'))).toBe(true);
    expect(await check(taxId('DE', 'STEUER_ID', '36574261809'))).toEqual([
      'taxId.country must be an ISO 3166-1 alpha-3 code, such as PRT.',
    ]);
  });
});

test.each([
  ['AUT', 'STEUERNUMMER', '12-345/6789'],
  ['AUT', 'UST_ID', 'ATU12345678'],
  ['CHE', 'STEUERNUMMER', '123.456.789'],
  ['LIE', 'AHV', '756.9217.0769.85'],
  ['REU', 'SPI', '3023217600053'],
  ['GLP', 'SIREN', '732829320'],
  ['ALA', 'HETU', '131052-308T'],
  ['IMN', 'UTR', '1123456789'],
  ['JEY', 'NINO', 'JY123456A'],
  ['PRI', 'EIN', '660412345'],
  ['NFK', 'TFN', '123456782'],
  ['SMR', 'CODICE_FISCALE', 'RSSMRA85T10A562S'],
])('a customer of %s has a %s of a neighbour, or of the own country', async (country, type, number) => {
  expect(await isTaken(taxId(country, type, number))).toBe(true);
});
