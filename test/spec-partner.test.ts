import { describe, expect, test } from 'vitest';
import { missingCodeOf, readSpecPage, wrongTestsOf } from './spec-page.ts';
import { SPEC_PARTNER_ITEMS } from './spec-partner-items.ts';

/** docs/spec-partner.md says for every line of the partner service's specification which test holds it. This holds the page. */

const page = readSpecPage('docs/spec-partner.md');
const items = page.table('Id');

test('every item of the specification is a row, once, in its words', () => {
  const rows = items.map(([id, statement]) => [id, statement]);
  expect(rows).toEqual(Object.entries(SPEC_PARTNER_ITEMS).filter(([id]) => page.held(id)));
});

describe('every row', () => {
  test('names tests that exist and would run', () => {
    expect(items.flatMap(wrongTestsOf)).toEqual([]);
  });

  test('of an item names code that exists', () => {
    expect(items.flatMap(missingCodeOf)).toEqual([]);
  });
});
