import { expect, test } from 'vitest';
import { createZones } from '../../../src/airlines/duffel/itinerary.ts';
import { readOffer } from '../../../src/airlines/duffel/offers.ts';
import { duffelIssues } from '../../../src/airlines/duffel/order-form.ts';
import { agesOf } from '../../../src/kernel/domain/travel-ages.ts';
import { BACK, goodOffer, segment, slice, TRAVELLER } from './samples.ts';

/** The last direction departs on 27 December 2026. */
function offerWith(change = {}) {
  const offer = readOffer({ ...goodOffer(), ...change }, { zones: createZones(), missing: () => null });
  if (!offer) throw new Error('no offer');
  return offer;
}
const issues = (passengers: readonly Partial<typeof TRAVELLER>[], change = {}) =>
  duffelIssues(
    passengers.map((passenger) => ({ ...TRAVELLER, ...passenger })),
    offerWith(change),
  ).map(({ path, code }) => `${path} ${code}`);

test.each(["Ana-María O'Neil", 'Ana’s', 'Žofie', 'Ðurđa', 'Ångström', 'A', 'Abcdefghij Klmnopqrs'])(
  '%s is a name that is taken',
  (name) => {
    expect(issues([{ given_name: name, family_name: name }])).toEqual([]);
  },
);

test.each(['Ærø', 'Œuvre', 'Þór', 'Guðrún', 'Ǻsa', 'Nguyễn', 'Abcdefghij Klmnopqrstu'])('%s is not', (name) => {
  expect(issues([{ given_name: name }])).toEqual(['passengers.0.given_name invalid_request']);
  expect(issues([{ family_name: name }])).toEqual(['passengers.0.family_name invalid_request']);
});

test('letters are counted as they are composed', () => {
  expect(issues([{ given_name: 'é'.normalize('NFD').repeat(20) }])).toEqual([]);
});

test('equal names are told apart by nobody', () => {
  const twin = { born_on: '1960-01-01' };
  expect(issues([{}, { ...twin, given_name: 'ADA' }])).toEqual(['passengers.1 duplicate_passenger']);
  expect(issues([{}, { ...twin, given_name: 'Adam' }])).toEqual([]);
});

test('an adult fare is for those who are 18 when the last direction departs, whenever its connection does', () => {
  const next = { ...BACK, id: 'seg_on', from: 'LIS', to: 'OPO', departing: '2026-12-28T09:00:00' };
  const overnight = segment({ ...next, arriving: '2026-12-28T10:00:00', duration: 'PT1H' });
  const [out] = goodOffer().slices as unknown[];
  for (const change of [{}, { slices: [out, slice([segment(BACK), overnight], 'PT26H')] }]) {
    expect(issues([{ born_on: '2008-12-27' }], change)).toEqual([]);
    expect(issues([{ born_on: '2008-12-28' }], change)).toEqual(['passengers.0.born_on invalid_request']);
    expect(agesOf({ ...offerWith(change), passengers: [] })?.on).toBe('2026-12-27');
  }
});

test('documents are asked for where the offer needs them', () => {
  const { passport_number: _, passport_expiry: __, ...without } = TRAVELLER;
  const needed = offerWith({ passenger_identity_documents_required: true });
  expect(duffelIssues([without], offerWith())).toEqual([]);
  expect(duffelIssues([without], needed).map(({ path, code }) => `${path} ${code}`)).toEqual([
    'passengers.0.passport_number travel_document_required',
    'passengers.0.passport_expiry travel_document_required',
  ]);
  expect(duffelIssues([TRAVELLER], needed)).toEqual([]);
});

test('no message repeats a name', () => {
  const messages = duffelIssues([{ ...TRAVELLER, given_name: 'Guðrún' }], offerWith());
  expect(JSON.stringify(messages)).not.toContain('Guðrún');
});
