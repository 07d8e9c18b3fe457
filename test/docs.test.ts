import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { SCENARIO_ROUTES } from '../src/flights/providers/sandbox/scenarios.ts';

const ROOT = resolve(import.meta.dirname, '..');
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((page) => `docs/${page}`)].filter((page) =>
  page.endsWith('.md'),
);
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

test('every link between the pages leads somewhere', () => {
  for (const page of pages) {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      expect(() => readFileSync(join(ROOT, page, '..', target)), `${page} -> ${target}`).not.toThrow();
    }
  }
});

test('the table of scenario routes is the sandbox’s own', () => {
  const rows = SCENARIO_ROUTES.map(
    ({ origin, destination, scenario, what }) => `| ${origin} → ${destination} | \`${scenario}\` | ${what} |`,
  );
  for (const row of rows) expect(read('docs/sandbox.md')).toContain(row);
  expect([...read('docs/sandbox.md').matchAll(/^\| [A-Z]{3} → /gm)]).toHaveLength(rows.length);
});

test('no page names a path of one machine', () => {
  for (const page of pages) expect(read(page)).not.toMatch(/\/(home|root|Users|work)\//);
});
