import { expect, test } from 'vitest';
import { step } from '../../../src/airlines/browser/recipes/steps.ts';

const issuesOf = (value: unknown) => step.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

test('a step names only values that there are', () => {
  const fill = (value: string) => ({ do: 'fill', at: { label: 'From' }, value });
  expect(issuesOf(fill('{depart_date:DD/MM/YYYY}'))).toEqual([]);
  expect(issuesOf(fill('{departure}'))).toEqual(['has an unknown name: departure.']);
  expect(issuesOf(fill('{origin'))).toEqual(['has a brace that opens no {name}.']);
});

test('a mistake is found in steps within steps', () => {
  const nested = (inner: unknown) => ({
    do: 'when',
    seen: { role: 'dialog', name: 'Cookies' },
    steps: [{ do: 'passengers', steps: [inner] }],
  });
  expect(issuesOf(nested({ do: 'click', at: { role: 'button', name: 'OK' } }))).toEqual([]);
  expect(issuesOf(nested({ do: 'click', at: { role: 'knob', name: 'OK' } }))).not.toEqual([]);
});
