import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs')).map((page) => `docs/${page}`),
].filter((page) => page.endsWith('.md'));
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

test('every link between the pages leads somewhere', () => {
  for (const page of pages) {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      expect(existsSync(join(ROOT, page, '..', target)), `${page} -> ${target}`).toBe(true);
    }
  }
});

test('no page names a path of one machine', () => {
  for (const page of pages) expect(read(page)).not.toMatch(/\/(home|root|Users|work)\//);
});

test('docs/README.md lists every page', () => {
  const index = read('docs/README.md');
  const inDocs = readdirSync(join(ROOT, 'docs')).filter((page) => page.endsWith('.md') && page !== 'README.md');
  for (const page of inDocs) expect(index, page).toContain(`](${page})`);
});

test('every anchor that a page names is a heading of the other page', () => {
  const slugOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(' ', '-');
  for (const page of pages) {
    for (const [, target = '', anchor = ''] of read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)) {
      const other = target === '' ? page : join(page, '..', target);
      const headings = [...read(other).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
      expect(headings, `${page} -> ${target}#${anchor}`).toContain(anchor);
    }
  }
});
