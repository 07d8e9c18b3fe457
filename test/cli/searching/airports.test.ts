import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { airportWords, findAirports, folded, isMistake, namedAirports } from '../../../src/kernel/domain/airports.ts';
import { METROPOLITAN_CODES, metropolitanArea } from '../../../src/kernel/domain/metropolitan-areas.ts';
import { citiesCalled } from '../../../src/kernel/domain/place-names.ts';
import CLDR_NAMES from '../../../src/kernel/domain/place-names-cldr.json' with { type: 'json' };
import { findPlaces } from '../../../src/kernel/domain/places.ts';
import { runInMemory, temporaryHome } from '../memory.ts';

/** Airports by name: `search lisbon berlin`, and `airports`. */

const codes = (text: string) => findAirports(text).map(({ airport }) => airport.iata);

describe('an airport is found', () => {
  test('by its code first, whatever else has that name', () => {
    expect(codes('ber')[0]).toBe('BER');
    expect(codes('lis')[0]).toBe('LIS');
  });

  test('by city or name, without accents, case or hyphens, the largest first', () => {
    expect(codes('london').slice(0, 5)).toEqual(['LHR', 'LGW', 'STN', 'LTN', 'LCY']);
    expect(codes('malaga')[0]).toBe('AGP');
    expect(codes('São Paulo')[0]).toBe('GRU');
    expect(codes('sao-paulo')[0]).toBe('GRU');
    expect(codes('heathrow')[0]).toBe('LHR');
    expect(codes('de gaulle')[0]).toBe('CDG');
    expect(codes('new york')[0]).toBe('JFK');
    expect(codes('lisb')).toEqual(['LIS']);
    expect(codes('zzz')).toEqual([]);
    expect(codes('  ')).toEqual([]);
  });

  test('with a small mistake, only where nothing fits without one', () => {
    for (const [typed, code] of [
      ['lisbno', 'LIS'],
      ['berlni', 'BER'],
      ['frankfrut', 'FRA'],
      ['barcelna', 'BCN'],
    ]) {
      expect(codes(typed ?? '')).toContain(code);
      expect(findAirports(typed ?? '').every(isMistake)).toBe(true);
    }
    expect(findAirports('porto').some(isMistake)).toBe(false);
    expect(codes('xqzwvk')).toEqual([]);
  });

  test('each by one word that finds it alone', () => {
    for (const [iata, words] of airportWords(namedAirports())) {
      const [first, second] = findAirports(words);
      expect([words, first?.airport.iata]).toEqual([words, iata]);
      expect([words, second?.fit === first?.fit]).toEqual([words, false]);
    }
  });
});

const places = async (text: string) => (await findPlaces(text)).found.map(({ airport }) => airport.iata);

test.each([
  ['münchen', 'MUC'],
  ['Muenchen', 'MUC'],
  ['Wien', 'VIE'],
  ['東京', 'HND'],
  ['Praha', 'PRG'],
  ['Lisboa', 'LIS'],
  ['lisbonne', 'LIS'],
  ['Köln', 'CGN'],
  ['koln', 'CGN'],
  ['Firenze', undefined],
  ['Roma', 'FCO'],
  ['Londres', 'LHR'],
  ['북경', undefined],
  ['北京', 'PEK'],
  ['서울', 'ICN'],
  ['Αθήνα', 'ATH'],
  ['القاهرة', 'CAI'],
  ['Нью-Йорк', 'JFK'],
  ['København', 'CPH'],
  ['Saigon', 'SGN'],
  ['กรุงเทพ', 'BKK'],
])('the city %s is %s', async (text, code) => {
  expect((await places(text))[0]).toBe(code);
  if (code !== undefined) expect((await findPlaces(text)).found.some(isMistake)).toBe(false);
});

test('a name in another language is that of a city in the table, and none is in the way of an English one', async () => {
  const english = new Set(namedAirports().map(({ city }) => folded(city)));
  for (const [city, names] of Object.entries(CLDR_NAMES)) {
    expect(english.has(city) || city === 'moscow', city).toBe(true);
    const all = names.split('|');
    expect(all).toEqual(all.map(folded));
    expect(citiesCalled(all.at(-1) ?? '')).toContain(city);
  }
  for (const { city } of namedAirports()) expect(await places(city)).toEqual(codes(city));
});

describe('search', () => {
  const { home, close } = temporaryHome();
  const environment = { FARELOCK_HOME: home, FARELOCK_FLIGHTS_URL: '' };
  beforeAll(() => undefined);
  afterAll(close);
  const planned = async (from: string, to: string, options: Parameters<typeof runInMemory>[1] = {}) =>
    runInMemory(['search', from, to, '--depart', '+30d', '--dry-run', '--json'], { environment, ...options });

  test('takes cities, and says what it took them for', async () => {
    const run = await planned('lisbon', 'Berlin');
    expect(run.exitCode).toBe(0);
    expect(run.json().request).toMatchObject({ origin_iata: 'LIS', destination_iata: 'BER' });
    expect(run.stderr).toMatch(/lisbon is LIS: /);
  });

  test('off a terminal names the candidates where several fit, with commands that run', async () => {
    const run = await planned('LIS', 'london');
    expect(run.exitCode).toBe(2);
    const error = run.json().error as { fix: string; next: string[]; detail: { candidates: unknown[] } };
    expect(error.fix).toMatch(/LHR Heathrow, London \(GB\); LGW Gatwick/);
    expect(error.detail.candidates).toHaveLength(5);
    expect(error.next).toEqual(['farelock airports london']);
    expect((await runInMemory(['airports', 'london', '--json', 'iata'])).json()).toEqual({
      airports: ['LHR', 'LGW', 'STN', 'LTN', 'LCY'].map((iata) => ({ iata })),
    });
  });

  test('on a terminal asks which one', async () => {
    const run = await planned('LIS', 'london', { terminal: true, answers: ['LGW'] });
    expect(run.asked).toEqual(['london: which airport?']);
    expect(run.json().request).toMatchObject({ destination_iata: 'LGW' });
  });

  test('takes the code of a city as its airports: asks on a terminal, names them off one', async () => {
    const asked = await planned('LON', 'BER', { terminal: true, answers: ['LTN'] });
    expect(asked.asked).toEqual(['LON: which airport?']);
    expect(asked.json().request).toMatchObject({ origin_iata: 'LTN' });
    const off = await planned('LIS', 'nyc');
    expect(off.exitCode).toBe(2);
    const error = off.json().error as { message: string; fix: string; detail: { candidates: unknown[] } };
    expect(error.message).toBe('"NYC" matches 3 airports.');
    expect(error.fix).toMatch(/^Choose one of JFK .*; EWR Newark Liberty.*; LGA/);
    expect(error.detail.candidates).toHaveLength(3);
  });

  test('takes the code of a city with one airport for that, and says so', async () => {
    const run = await planned('ROM', 'BER');
    expect(run.json().request).toMatchObject({ origin_iata: 'FCO' });
    expect(run.stderr).toMatch(/^ROM is FCO: Fiumicino, Rome \(IT\)$/m);
  });

  test('names the airports of a city where none is known here', async () => {
    const run = await planned('LIS', 'MOW');
    expect(run.json().error).toMatchObject({
      message: 'MOW is the code of a city, Moscow, not of an airport.',
      fix: 'Choose one of SVO, DME, VKO.',
    });
  });

  test('nothing was asked for and nothing paid where a city code is not settled', async () => {
    await runInMemory(['search', 'PAR', 'BER', '--depart', '+30d', '--json'], { environment });
    const paid = await runInMemory(['payments', 'list', '--json'], { environment });
    expect(paid.json().payments).toEqual([]);
  });

  test('a code of an area is none of an airport, so that none is taken for another', () => {
    const airports = new Set(namedAirports().map(({ iata }) => iata));
    expect(METROPOLITAN_CODES.filter((code) => airports.has(code))).toEqual([]);
    for (const code of METROPOLITAN_CODES) {
      const { airports: members = [] } = metropolitanArea(code) ?? {};
      expect(members.every((one) => /^[A-Z]{3}$/.test(one))).toBe(true);
      expect(findAirports(code).map(({ airport }) => airport.iata)).toEqual(members.filter((one) => airports.has(one)));
    }
  });

  test('takes a city by its name in another language, and says so', async () => {
    const run = await planned('Lisboa', '東京', { terminal: true, answers: ['NRT'] });
    expect(run.stderr).toMatch(/Lisboa is LIS: Humberto Delgado, Lisbon \(PT\)/);
    expect(run.json().request).toMatchObject({ origin_iata: 'LIS', destination_iata: 'NRT' });
    expect((await planned('LIS', 'Москва')).json().error).toMatchObject({
      message: 'Москва is a city, Moscow, not an airport.',
      fix: 'Choose one of SVO, DME, VKO.',
    });
  });

  test('off a terminal pays for no guess, and has the command that was likely meant', async () => {
    const line = ['search', 'LIS', 'Berln', '--depart', '+30d', '--json'];
    const run = await runInMemory(line, { environment });
    expect(run.exitCode).toBe(2);
    expect(run.json().error).toMatchObject({
      message: 'Unknown airport "Berln".',
      fix: 'Did you mean BER Brandenburg, Berlin (DE)?',
      next: ['farelock search LIS BER --depart +30d --json'],
    });
    const paid = await runInMemory(['payments', 'list', '--json'], { environment });
    expect(paid.json().payments).toEqual([]);
  });

  test('on a terminal asks whether a guess is right', async () => {
    const right = await planned('LIS', 'Berln', { terminal: true, answers: [true] });
    expect(right.asked).toEqual(['Berln: did you mean BER, Brandenburg, Berlin (DE)?']);
    expect(right.json().request).toMatchObject({ destination_iata: 'BER' });
    expect((await planned('LIS', 'Berln', { terminal: true, answers: [false] })).exitCode).toBe(2);
  });

  test('asks which day is meant, and off a terminal has a command for each', async () => {
    const dated = ['search', 'LIS', 'BER', '--depart', '03/04', '--dry-run', '--json'];
    const asked = await runInMemory(dated, { environment, terminal: true, answers: ['2027-03-04'] });
    expect(asked.asked).toEqual(['03/04: which day?']);
    expect(asked.json().request).toMatchObject({ depart_date: '2027-03-04' });
    const off = await runInMemory(dated, { environment });
    expect(off.json().error).toMatchObject({
      fix: 'Write 2027-04-03 or 2027-03-04.',
      next: ['2027-04-03', '2027-03-04'].map((day) => `farelock search LIS BER --depart ${day} --dry-run --json`),
    });
  });

  test('says that a name is none', async () => {
    const run = await planned('LIS', 'atlantis city');
    expect([run.exitCode, (run.json().error as { message: string }).message]).toEqual([
      2,
      'Unknown airport "atlantis city".',
    ]);
  });
});

test('airports lists all of them, or those that a text may mean', async () => {
  expect((await runInMemory(['airports'])).stdout.split('\n').length).toBe(namedAirports().length + 1);
  const run = await runInMemory(['airports', 'sao', 'paulo'], { terminal: true, columns: 80 });
  expect(run.stdout).toMatch(/GRU .*São Paulo/);
  expect(run.stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
  expect((await runInMemory(['airports', 'nowhere at all'])).exitCode).toBe(3);
});
