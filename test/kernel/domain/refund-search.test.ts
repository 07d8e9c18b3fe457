import { expect, test } from 'vitest';
import { isFound, searchable } from '../../../src/kernel/domain/refund-search.ts';

const REQUEST = {
  request_id: 'ref_01m8enwpmy',
  intent_id: 'int_dgs7dvahvn',
  booking_reference: 'NZR8GJ',
  route: 'LHR-NRT',
  journey_date: '2026-12-07',
};

test.each([
  'nzr8',
  'INT_dgs7',
  'ref_01',
  'LHR → NRT',
  'lhr->nrt',
  'lhr nrt',
  'NRT',
  '2026-12',
  '7 Dec',
  'dec 2026',
  'ＮＺＲ８ＧＪ',
])('a request is found by “%s”', (typed) => expect(isFound(REQUEST, searchable(typed))).toBe(true));

test.each(['7 Dec', 'ec 2026', '27', 'LHR BER', 'NZR8GJX'])('a request is not found by “%s”', (typed) =>
  expect(isFound({ ...REQUEST, journey_date: '2026-12-17' }, searchable(typed))).toBe(false),
);
