import { describe, expect, test } from 'vitest';
import { isCountry } from '../../../src/kernel/domain/countries.ts';
import {
  bookablePassengers,
  checkPassengers,
  type PassengerRules,
  passportsTooOld,
} from '../../../src/kernel/domain/passengers.ts';

const rules: PassengerRules = { count: 1, departureDate: '2026-12-20', documentsRequired: false, today: '2026-11-21' };
const ada = {
  given_name: 'Ada',
  family_name: 'Lovelace',
  born_on: '1990-12-10',
  title: 'ms',
  gender: 'f',
  email: 'ada@example.com',
  phone_number: '+351912345678',
};
const paths = async (passengers: unknown[], changed: Partial<PassengerRules> = {}) =>
  (await checkPassengers(passengers, { ...rules, ...changed })).map((issue) => `${issue.path} ${issue.code}`);

describe('checkPassengers', () => {
  test('a complete passenger has no issues', async () => {
    expect(await checkPassengers([ada], rules)).toEqual([]);
  });

  test.each(["O'Brien", 'Núñez-Ibáñez', 'van der Berg', 'Łukasz', 'Nguyễn', 'Y', 'a'.repeat(40)])(
    'the name %s is taken',
    async (name) => {
      expect(await paths([{ ...ada, family_name: name }])).toEqual([]);
    },
  );

  test.each(['', ' ', 'Ада', '李', 'J0hn', 'a'.repeat(41), '-Ada', 'Ada ', 'A  B', 'Ada\u001b[31m', 'ⅤI2'])(
    'the name %j is refused',
    async (name) => {
      expect(await paths([{ ...ada, given_name: name }])).toEqual(['passengers.0.given_name invalid_request']);
    },
  );

  test('everything that is wrong is said at once, in the order of the fields', async () => {
    const wrong = {
      given_name: 7,
      family_name: '',
      born_on: '2026-02-30',
      title: 'Mr',
      gender: 'x',
      email: 'ada@',
      phone_number: '00351912345678',
      passport: 'X',
    };
    expect((await checkPassengers([wrong], rules)).map((issue) => issue.path)).toEqual(
      ['given_name', 'family_name', 'born_on', 'title', 'gender', 'email', 'phone_number', 'passport'].map(
        (field) => `passengers.0.${field}`,
      ),
    );
  });

  test('no issue repeats what was typed', async () => {
    const issues = await checkPassengers([{ ...ada, email: 'secret-typo@', phone_number: '+99912' }], rules);
    expect(JSON.stringify(issues)).not.toMatch(/secret|99912/);
  });

  test('a passenger who turns twelve on the day of departure may fly, the day after may not', async () => {
    expect(await paths([{ ...ada, born_on: '2014-12-20' }])).toEqual([]);
    expect(await paths([{ ...ada, born_on: '2014-12-21' }])).toEqual(['passengers.0.born_on invalid_request']);
  });

  test('without a known departure age is left to the service', async () => {
    expect(await paths([{ ...ada, born_on: '2016-01-01' }], { departureDate: null })).toEqual([]);
  });

  test('a birth date that is not past is refused', async () => {
    expect(await paths([{ ...ada, born_on: '2026-11-21' }])).toEqual(['passengers.0.born_on invalid_request']);
  });

  test('a phone number of the right form that no country has is refused', async () => {
    expect(await paths([{ ...ada, phone_number: '+351111' }])).toHaveLength(1);
    expect(await paths([{ ...ada, phone_number: '+999123456789' }])).toHaveLength(1);
  });

  test('two travellers with one passport are refused, however number and country are written', async () => {
    const bob = { ...ada, given_name: 'Bob', passport_number: 'AB123456', nationality: 'PT' };
    const eve = { ...ada, given_name: 'Eve', passport_number: 'ab123456', nationality: 'PRT' };
    const two = { count: 2 };
    expect(await paths([bob, eve], two)).toEqual(['passengers.1.passport_number duplicate_passenger']);
    expect(
      await paths(
        [
          { ...bob, nationality: null },
          { ...eve, nationality: undefined },
        ],
        two,
      ),
    ).toEqual(['passengers.1.passport_number duplicate_passenger']);
    expect(await paths([bob, { ...eve, nationality: 'ESP' }], two)).toEqual([]);
    expect(await paths([bob, { ...eve, passport_number: 'ab123457' }], two)).toEqual([]);
    expect(await paths([bob, { ...eve, passport_number: null }], two)).toEqual([]);
  });

  test('a passport that expires before the journey ends is named; one of that day is not', () => {
    const expiring = (passport_expiry?: string) => ({ ...ada, passport_expiry });
    const list = [expiring('2026-12-26'), expiring('2026-12-27'), expiring(), expiring('2027-01-01')];
    expect(passportsTooOld(list, '2026-12-27')).toEqual([{ passenger: 1, expiry: '2026-12-26' }]);
  });

  test('duplicates are found under case, accents and the kind of gap', async () => {
    const twin = { ...ada, given_name: 'ÁDA', family_name: 'lovelace' };
    expect(await paths([ada, twin], { count: 2 })).toEqual(['passengers.1 duplicate_passenger']);
    expect(await paths([ada, { ...ada, born_on: '1990-12-11' }], { count: 2 })).toEqual([]);
  });

  test('the number of passengers must be the one of the intent', async () => {
    expect(await paths([ada], { count: 2 })).toEqual(['passengers passenger_count_mismatch']);
  });

  test('documents are required for lowcost alone, and checked wherever given', async () => {
    expect(await paths([ada], { documentsRequired: true })).toEqual(
      ['nationality', 'passport_number', 'passport_expiry'].map(
        (field) => `passengers.0.${field} travel_document_required`,
      ),
    );
    const passport = { nationality: 'PRT', passport_number: 'C123456', passport_expiry: '2026-11-21' };
    expect(await paths([{ ...ada, ...passport }])).toEqual(['passengers.0.passport_expiry travel_document_expired']);
    expect(await paths([{ ...ada, ...passport, passport_expiry: '2031-01-01', nationality: 'XX' }])).toEqual([
      'passengers.0.nationality invalid_request',
    ]);
  });

  test('entries that are not objects are named', async () => {
    expect(await paths([null])).toEqual(['passengers.0 invalid_request']);
  });
});

test('country codes are ISO 3166-1 in both lengths', () => {
  expect(['PT', 'PRT', 'DE', 'DEU', 'ZW', 'SSD', 'XK', 'pt', 'EU', 'UK'].map(isCountry)).toEqual([
    true,
    true,
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a document that is null, where none is needed, is left out of what is sent; a wrong list is none', async () => {
  const list = [{ ...ada, nationality: null, passport_number: 'X1234567' }];
  const loose = { ...rules, documentsRequired: false };
  const { nationality: _none, ...sent } = list[0] ?? {};
  expect(bookablePassengers(list, await checkPassengers(list, loose))).toEqual([sent]);
  const wrong = [{ ...ada, email: 'nobody' }];
  expect(bookablePassengers(wrong, await checkPassengers(wrong, loose))).toBeNull();
});
