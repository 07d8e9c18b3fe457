import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

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

test('no page names a path of one machine', () => {
  for (const page of pages) expect(read(page)).not.toMatch(/\/(home|root|Users|work)\//);
});
