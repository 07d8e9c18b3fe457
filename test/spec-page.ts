import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestFile, testNamed, testsIn } from './spec-titles.ts';

/** A page of `docs/` that says for every line of a specification where it is in the code and which tests hold it. */

export const ROOT = resolve(import.meta.dirname, '..');

export interface SpecPage {
  /** The rows of the tables whose header begins with a word, cell by cell. */
  table(first: string): string[][];
  /** Whether some test holds it: what none holds so far is said on the page, outside the tables. */
  held(name: string): boolean;
}

/** @param path of the page, from the project's root. */
export function readSpecPage(path: string): SpecPage {
  const page = readFileSync(join(ROOT, path), 'utf8');
  const later = [...(page.split('## Not yet')[1] ?? '').matchAll(/^- `([^`]+)`$/gm)].map((match) => match[1]);
  return {
    table(first) {
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
    },
    held: (name) => !later.includes(name),
  };
}

const files = new Map<string, TestFile>();
/** The tests of a file, read once. */
export const fileOf = (path: string): TestFile => {
  const known = files.get(path) ?? testsIn(join(ROOT, path));
  files.set(path, known);
  return known;
};

/** What is wrong with the tests that a row names in its last cell: one that does not exist, or would not run. */
export function wrongTestsOf(row: readonly string[]): string[] {
  return (row.at(-1) ?? '').split('<br>').flatMap((cell) => {
    const name = cell.trim();
    const [, path, title] = /^(test\/[\w/.-]+\.test\.ts) › (.+)$/.exec(name) ?? [];
    if (path === undefined || title === undefined) return [`${row[0]}: "${name}" is not a test's name`];
    const found = existsSync(join(ROOT, path)) ? testNamed(fileOf(path), title) : undefined;
    if (!found) return [`${row[0]}: ${name} does not exist`];
    return found.runs ? [] : [`${row[0]}: ${name} does not run`];
  });
}

/**
 * The tests of a row, in its last cell, that say nothing of any of these words: neither by name nor in what they do. A
 * test that never names a status or its codes does not fail when they change.
 */
export function strangersIn(row: readonly string[], words: readonly string[]): string[] {
  const says = new RegExp(`\\b(${words.join('|')})\\b`);
  return (row.at(-1) ?? '')
    .split('<br>')
    .map((name) => name.trim())
    .filter((name) => {
      const [path = '', title = ''] = name.split(/ › (.*)/);
      return !says.test(title) && !says.test(testNamed(fileOf(path), title)?.source ?? '');
    })
    .map((name) => `${row.slice(0, -1).join(' ')}: ${name}`);
}

/** What an item's row names in its third cell as its code, and is not there. */
export const missingCodeOf = ([id, , places]: readonly string[]): string[] =>
  (places ?? '')
    .split(', ')
    .filter((place) => !existsSync(join(ROOT, place.replaceAll('`', ''))))
    .map((place) => `${id}: ${place}`);
