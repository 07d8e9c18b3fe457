import { describe, expect, test } from 'vitest';
import type { Recipe } from '../../../../src/airlines/browser/recipes/index.ts';
import {
  dayNear,
  filled,
  minutesIn,
  readDateText,
  readMoneyText,
  timeOf,
} from '../../../../src/airlines/browser/recipes/values.ts';

type Site = Pick<Recipe['site'], 'numbers' | 'currency' | 'symbols' | 'months'>;

describe('a price', () => {
  const english: Site = { numbers: '1,234.50', currency: 'USD', symbols: { $: 'USD', C$: 'CAD', '€': 'EUR' } };
  const german: Site = { ...english, numbers: '1.234,50', currency: 'EUR' };
  test.each<[string, Site, string, string]>([
    ['$1,234.50', english, '1234.50', 'USD'],
    ['C$ 99', english, '99.00', 'CAD'],
    ['Total: 0.05', english, '0.05', 'USD'],
    ['GBP 12.00', english, '12.00', 'GBP'],
    ['1.234,50 €', german, '1234.50', 'EUR'],
    ['1.234.567,00', german, '1234567.00', 'EUR'],
    ['1 234,50 €', { ...german, numbers: '1 234,50' }, '1234.50', 'EUR'],
    ["1'234.50", { ...english, numbers: "1'234.50" }, '1234.50', 'USD'],
    ['1’234’567.5 CHF', { ...english, numbers: "1'234.50" }, '1234567.50', 'CHF'],
    ['$12.5', english, '12.50', 'USD'],
    ['₹1,23,456.78', { ...english, numbers: '1,23,456.78', symbols: { '₹': 'INR' } }, '123456.78', 'INR'],
    ['Rupees 45,678', { ...english, numbers: '1,23,456.78', symbols: { rupees: 'INR' } }, '45678.00', 'INR'],
    ['84.10 US Dollars', { ...english, currency: 'EUR', symbols: { 'US dollars': 'USD' } }, '84.10', 'USD'],
  ])('%s is read to the cent', (text, site, decimal, currency) => {
    expect(readMoneyText(text, site)).toEqual({ decimal, currency });
  });

  test.each<[string, string, Site]>([
    ['in another format', '1.234,50 €', english],
    ['in another format, without cents', '1.234', english],
    ['with a comma for cents', '12,50', english],
    ['that is two', 'from $10 to $20', english],
    ['with an old one beside it', '$30.00 $20.00', english],
    ['below nothing', '-$5.00', english],
    ['of one decimal and a sign of hundredths', '12.5%', english],
    ['in groups of threes where India has twos', '123,456.00', { ...english, numbers: '1,23,456.78' }],
    ['of three decimals', '12.500', english],
    ['in hundredths', '12%', english],
    ['without digits', 'free', english],
    ['in a currency that nobody listed', '£12.00', english],
    ['in two currencies', '12.00 € USD', english],
  ])('%s is none', (_why, text, site) => {
    expect(() => readMoneyText(text, site)).toThrow();
  });
});

describe('a date', () => {
  test.each([
    ['2026-12-05T06:40', 'YYYY-MM-DDTHH:mm', '2026-12-05', '06:40:00'],
    ['Sat 5 Dec 2026, 6:40 PM', 'ddd D MMM YYYY, h:mm A', '2026-12-05', '18:40:00'],
    ['05/12/26 12:05 AM', 'DD/MM/YY hh:mm A', '2026-12-05', '00:05:00'],
    ['06:40', 'HH:mm', '2026-12-31', '06:40:00'],
    // Without a year it is the one next to the day that was asked for.
    ['2 January 06:40', 'D MMMM HH:mm', '2027-01-02', '06:40:00'],
  ])('%s is read by its format', (text, format, day, time) => {
    const read = readDateText(text, format);
    expect([dayNear(read, '2026-12-31'), timeOf(read)]).toEqual([day, time]);
  });

  test.each([
    ['31/02/2026', 'DD/MM/YYYY'],
    ['12/31/2026', 'DD/MM/YYYY'],
    ['25:10', 'HH:mm'],
    ['5 Décembre 2026', 'D MMMM YYYY'],
    ['06:40+1', 'HH:mm'],
  ])('%s is none', (text, format) => {
    expect(() => readDateText(text, format)).toThrow();
  });
});

test('a duration is read to the minute, and a time of day or a bare number is none', () => {
  const said = ['1h30m', '1 h 30 min', '90 min', 'PT1H30M', '1:30', '01:30', '1 hr, 30 mins', '1 Std. 30 Min.', '1h30'];
  expect(said.map(minutesIn)).toEqual(said.map(() => 90));
  expect(minutesIn('2h')).toBe(120);
  for (const text of ['90', '1h75m', '1:3', '1:', '0 min', 'PT', '1d 2h', '-1h', '06:40 am'])
    expect(() => minutesIn(text), text).toThrow('is no duration like 1h30m');
});

test('what has no value is never left out of what is typed', () => {
  const values = { origin: 'LTN', depart_date: '2026-12-05', 'card.expiry': '2031-12', 'contact.email': '' };
  expect(filled('{origin:lower} on {depart_date:D MMM YY}, {card.expiry:MM/YY}', values)).toBe(
    'ltn on 5 Dec 26, 12/31',
  );
  expect(() => filled('{return_date}', values)).toThrow('there is no return_date here');
  expect(() => filled('{contact.email}', values)).toThrow('there is no contact.email here');
});
