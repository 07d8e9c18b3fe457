import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openapiDocument } from '../src/flights/openapi.ts';
import { codesOf, operationsOf, type ServedDocument } from './sim/fuzz/document.ts';
import { SPEC_ITEMS } from './spec-items.ts';
import { type TestFile, testNamed, testsIn } from './spec-titles.ts';

/** docs/spec-flights.md says for every line of the specification which test holds it. This holds the page. */

const ROOT = resolve(import.meta.dirname, '..');
const page = readFileSync(join(ROOT, 'docs/spec-flights.md'), 'utf8');

/** The rows of the tables whose header begins with a word. */
const tables = (first: string): string[][] => {
  const rows: string[][] = [];
  let inside = false;
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) inside = false;
    else {
      const cells = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
      if (cells[0] === first) inside = true;
      else if (inside && !/^-+$/.test(cells[0] ?? '')) rows.push(cells);
    }
  }
  return rows;
};
const items = tables('Id');
const statuses = tables('Call');
const codes = tables('Code');
/** What no test holds so far: said on the page, outside the tables. */
const later = [...(page.split('## Not yet')[1] ?? '').matchAll(/^- `([^`]+)`$/gm)].map((match) => match[1]);
const held = (name: string) => !later.includes(name);
const namedTests = (row: readonly string[]) => (row.at(-1) ?? '').split('<br>').map((name) => name.trim());

const files = new Map<string, TestFile>();
const fileOf = (path: string): TestFile => {
  const known = files.get(path) ?? testsIn(join(ROOT, path));
  files.set(path, known);
  return known;
};

const document = JSON.parse(JSON.stringify(openapiDocument())) as ServedDocument;

test('every item of the specification is a row, once, in its words', () => {
  const rows = items.map(([id, statement]) => [id, statement]);
  expect(rows).toEqual(Object.entries(SPEC_ITEMS).filter(([id]) => held(id)));
});

describe('every row', () => {
  const rows = [...items, ...statuses, ...codes];
  test('names tests that exist and would run', () => {
    expect(rows.length).toBeGreaterThan(100);
    for (const row of rows) {
      for (const name of namedTests(row)) {
        const [, path, title] = /^(test\/[\w/.-]+\.test\.ts) › (.+)$/.exec(name) ?? [];
        if (path === undefined || title === undefined)
          throw new Error(`${row[0]}: "${name}" is not a test's name`);
        const found = existsSync(join(ROOT, path)) ? testNamed(fileOf(path), title) : undefined;
        expect(found, `${row[0]}: ${name} does not exist`).toBeDefined();
        expect(found?.runs, `${row[0]}: ${name} does not run`).toBe(true);
      }
    }
  });

  test('of an item names code that exists', () => {
    for (const [id, , places] of items) {
      for (const place of (places ?? '').split(', ')) {
        expect(existsSync(join(ROOT, place.replaceAll('`', ''))), `${id}: ${place}`).toBe(true);
      }
    }
  });
});

test('every endpoint of the served description and every status that it documents is a row', () => {
  const documented = operationsOf(document).flatMap((one) =>
    Object.keys(one.responses).map((status) => `${one.name} ${status}`),
  );
  expect(statuses.map(([call, status]) => `${call?.replaceAll('`', '')} ${status}`)).toEqual(
    documented.filter(held),
  );
});

test('every code that the service may answer with is a row', () => {
  const answered = operationsOf(document).flatMap((one) => Object.values(one.responses).flatMap(codesOf));
  const rows = codes.map(([code]) => code?.replaceAll('`', ''));
  expect(new Set(rows).size).toBe(rows.length);
  // No operation has an unknown path.
  expect([...rows].sort()).toEqual([...new Set([...answered, 'not_found'])].filter(held).sort());
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
    const skipped = fileOf('test/e2e/deployments.test.ts').tests.filter((one) => !one.runs);
    expect(skipped.length).toBeGreaterThan(0);
  });
});
