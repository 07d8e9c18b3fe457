import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recipeSchema } from '../../src/airlines/browser/recipes/index.ts';

test('the table of readings in docs/carriers.md has every key that a recipe may read, and says which are needed', () => {
  const { search, fares, confirmation, manage } = recipeSchema.shape;
  const parts = {
    'search.out': search.shape.out.shape.read.shape,
    fares: fares.unwrap().shape.read.shape,
    confirmation: confirmation.shape.read.shape,
    manage: manage.unwrap().shape.read.shape,
  };
  const either = { arrives: 'or `duration`', duration: 'or `arrives`' } as Readonly<Record<string, string>>;
  const wanted = Object.entries(parts).flatMap(([part, shape]) =>
    Object.entries(shape).map(([key, reading]) => [
      part,
      key,
      either[key] ?? (reading.safeParse(undefined).success ? '' : 'yes'),
    ]),
  );
  const page = readFileSync('docs/carriers.md', 'utf8').split('\n## Readings\n')[1] ?? '';
  const rows = [...page.matchAll(/^\| `([\w.]+)` \| `(\w+)` \| (.*?) ?\| \S/gm)];
  expect(rows.map(([, ...row]) => row)).toEqual(wanted);
});
