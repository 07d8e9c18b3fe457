import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultOptions } from '../src/flights/base/ports.ts';
import { openapiDocument } from '../src/flights/openapi.ts';
import { codesOf, operationsOf, type ServedDocument } from './sim/fuzz/document.ts';
import { SPEC_ITEMS } from './spec-items.ts';
import { fileOf, missingCodeOf, readSpecPage, strangersIn, wrongTestsOf } from './spec-page.ts';
import { testNamed, testsIn } from './spec-titles.ts';

/** docs/spec-flights.md says for every line of the specification which test holds it. This holds the page. */

const ROOT = resolve(import.meta.dirname, '..');
const page = readSpecPage('docs/spec-flights.md');
const items = page.table('Id');
const statuses = page.table('Call');
const codes = page.table('Code');

const document = JSON.parse(JSON.stringify(await openapiDocument(defaultOptions))) as ServedDocument;

test('every item of the specification is a row, once, in its words', () => {
  const rows = items.map(([id, statement]) => [id, statement]);
  expect(rows).toEqual(Object.entries(SPEC_ITEMS).filter(([id]) => page.held(id)));
});

describe('every row', () => {
  const rows = [...items, ...statuses, ...codes];
  test('names tests that exist and would run', () => {
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.flatMap(wrongTestsOf)).toEqual([]);
  });

  test('of an item names code that exists', () => {
    expect(items.flatMap(missingCodeOf)).toEqual([]);
  });
});

test('every endpoint of the served description and every status that it documents is a row', () => {
  const documented = operationsOf(document).flatMap((one) =>
    Object.keys(one.responses).map((status) => `${one.name} ${status}`),
  );
  expect(statuses.map(([call, status]) => `${call?.replaceAll('`', '')} ${status}`)).toEqual(
    documented.filter(page.held),
  );
});

test('every code that the service may answer with is a row', () => {
  const answered = operationsOf(document).flatMap((one) => Object.values(one.responses).flatMap(codesOf));
  const rows = codes.map(([code]) => code?.replaceAll('`', ''));
  expect(new Set(rows).size).toBe(rows.length);
  // No operation has an unknown path.
  expect([...rows].sort()).toEqual([...new Set([...answered, 'not_found'])].filter(page.held).sort());
});

/** The codes that some answer of this status carries, of every call or of one. */
const codesUnder = (status: string, call?: string): string[] =>
  operationsOf(document)
    .filter(({ name }) => call === undefined || name === call)
    .flatMap(({ responses }) => (responses[status] ? codesOf(responses[status]) : []));

describe('a row is not held by a test that never names what it says:', () => {
  test('a status, or a code that is answered with it', () => {
    const refusals = statuses.filter(([, status = '']) => Number(status) >= 400);
    expect(refusals.length).toBeGreaterThan(100);
    const wrong = refusals.flatMap((row) => {
      const [call = '', status = ''] = row;
      return strangersIn(row, [status, ...codesUnder(status, call.replaceAll('`', ''))]);
    });
    expect(wrong).toEqual([]);
  });

  test('a code', () => {
    expect(codes.flatMap((row) => strangersIn(row, [(row[0] ?? '').replaceAll('`', '')]))).toEqual([]);
  });

  test('an error of the specification, by test and by place', () => {
    const errors = items.filter(([id = '']) => /^error-\d/.test(id));
    expect(errors.length).toBeGreaterThan(20);
    const wrong = errors.flatMap((row) => {
      const [, statement = '', places = ''] = row;
      const status = /^\d{3}/.exec(statement)?.[0] ?? '';
      const named = statement.match(/\b[a-z]+(_[a-z]+)+\b/g) ?? [];
      const words = named.length > 0 ? named : codesUnder(status);
      const elsewhere = places
        .replaceAll('`', '')
        .split(', ')
        .filter((place) => {
          const code = readFileSync(resolve(ROOT, place), 'utf8');
          return words.length > 0 && !words.some((word) => code.includes(word));
        });
      return [...strangersIn(row, [status, ...words]), ...elsewhere.map((place) => `${row[0]}: ${place}`)];
    });
    expect(wrong).toEqual([]);
  });
});

describe('the reading of test sources', () => {
  test('knows a test by its title, its describes, and what stands in an each; and that it is skipped', () => {
    const here = testsIn(import.meta.filename);
    expect(testNamed(here, 'every row › names tests that exist and would run')?.runs).toBe(true);
    expect(testNamed(here, 'names tests that exist and would run')?.runs).toBe(true);
    expect(testNamed(here, 'names tests that exist')).toBeUndefined();
    const errors = fileOf('test/flights/errors.test.ts');
    expect(testNamed(errors, '404 not_found: an unknown path')).toBeDefined();
    expect(testNamed(errors, '404 not_found: an unknown planet')).toBeUndefined();
    expect(testNamed(errors, 'GET /air/orders/{order_id} › 404 not_found')).toBeUndefined();
    const skipped = fileOf('test/store/postgres/reads.test.ts').tests.filter((one) => !one.runs);
    expect(skipped.length).toBeGreaterThan(0);
  });
});
